/** What this plugin uses of OpenCode. */
export interface Host {
    client: {
        session: {
            get(request: {
                path: {
                    id: string;
                };
            }): Promise<{
                data?: {
                    parentID?: string;
                } | undefined;
                error?: unknown;
            }>;
            prompt(request: {
                path: {
                    id: string;
                };
                body: {
                    noReply: boolean;
                    parts: {
                        type: "text";
                        synthetic: boolean;
                        text: string;
                    }[];
                };
            }): Promise<unknown>;
        };
        app?: {
            log(request: {
                body: {
                    service: string;
                    level: "error";
                    message: string;
                };
            }): Promise<unknown>;
        };
    };
    directory: string;
    worktree?: string;
}
/** What can be set in `opencode.json`. */
export interface Options {
    /** The program. */
    command?: string;
}
interface Part {
    id: string;
    sessionID: string;
    messageID: string;
    type: string;
    text?: string;
    synthetic?: boolean;
}
/** The hooks that this plugin has. */
export interface Hooks {
    "tool.execute.before"(input: {
        tool: string;
        sessionID: string;
        callID: string;
    }, output: {
        args: unknown;
    }): Promise<void>;
    "tool.execute.after"(input: {
        tool: string;
        sessionID: string;
        callID: string;
        args?: unknown;
    }, output: {
        output: string;
    }): Promise<void>;
    "chat.message"(input: {
        sessionID: string;
        agent?: string;
    }, output: {
        message: {
            id: string;
            agent?: string;
        };
        parts: Part[];
    }): Promise<void>;
    "experimental.session.compacting"(input: {
        sessionID: string;
    }, output: {
        context: string[];
    }): Promise<void>;
    "experimental.chat.system.transform"(input: {
        sessionID?: string;
    }, output: {
        system: string[];
    }): Promise<void>;
    event(input: {
        event: {
            type: string;
            properties?: unknown;
        };
    }): Promise<void>;
}
/** The plugin. */
export declare const Abide: (host: Host, options?: Options) => Promise<Hooks>;
export {};

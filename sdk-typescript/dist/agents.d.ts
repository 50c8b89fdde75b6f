import { Pages } from "./pages.js";
import type { Agent, AgentChange, Capabilities as Listing, CapabilityDetail, NewAgent, NewAgentSession, Operations, Session } from "./schema.js";
import type { CallOptions, Wire } from "./wire.js";
/** Capabilities. */
export declare class Capabilities {
    #private;
    constructor(wire: Wire);
    /** Lists every capability that agents can be given, usable or not. */
    list(options?: CallOptions): Promise<Listing>;
    /** Shows a capability with its tools. */
    get(capability: string, options?: CallOptions): Promise<CapabilityDetail>;
}
/** An agent as somebody has seen it. */
export type SeenAgent = Agent & {
    /** Its version: given back with a change, it is made only if nobody else has changed the agent since. */
    etag: string | undefined;
};
/** Which agents to list. */
export type AgentFilter = Omit<NonNullable<Operations["GET /v1/agents"]["query"]>, "after">;
/** What a change takes. */
export type ChangeOptions = CallOptions & {
    /** The `etag` of the agent as it was seen; otherwise it is changed as it is. */
    etag?: string | undefined;
};
/** Agents. */
export declare class Agents {
    #private;
    constructor(wire: Wire);
    /** Lists agents in the order of creation. */
    list(filter?: AgentFilter, options?: CallOptions): Pages<Agent>;
    /** Makes an agent. It is sent once: when no answer comes, look at the list. */
    create(agent: NewAgent, options?: CallOptions): Promise<SeenAgent>;
    /** Shows an agent. */
    get(agent: string, options?: CallOptions): Promise<SeenAgent>;
    /** Changes what is named; with an `etag`, only if nobody else has changed the agent since, else the code is `changed`. */
    update(agent: string, change: AgentChange, options?: ChangeOptions): Promise<SeenAgent>;
    /** Archives an agent: it stays in the list, and is not changed any more. */
    archive(agent: string, options?: ChangeOptions): Promise<SeenAgent>;
    /** Shows an agent as Markdown: what it is in front, and its system prompt. */
    export(agent: string, options?: CallOptions): Promise<string>;
    /** Makes an agent from Markdown, as `export` writes it; what cannot be kept is refused. It is sent once: when no answer comes, look at the list. */
    import(document: string, options?: CallOptions): Promise<SeenAgent>;
    /** Lists the sessions of an agent in the order of creation. */
    sessions(agent: string, page?: {
        limit?: number;
    }, options?: CallOptions): Pages<Session>;
    /** Makes a session of an agent. It is sent once: when no answer comes, look at the list. */
    createSession(agent: string, session?: NewAgentSession, options?: CallOptions): Promise<Session>;
}

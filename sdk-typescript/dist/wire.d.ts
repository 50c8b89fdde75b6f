import type { Operations } from "./schema.js";
/** How to reach a server. */
export interface Options {
    /** Where it is, such as `http://127.0.0.1:7070`. */
    baseUrl: string | URL;
    /** A key of `abide key create`, or what returns one; on loopback, looking and starting need none. */
    key?: string | (() => string | Promise<string>);
    /** What sends requests; the `fetch` of the platform when nothing is said. */
    fetch?: typeof fetch;
    /** How long a call may take in all, in milliseconds; streams may take longer. */
    timeout?: number;
    /** How often a request is sent again that may be. */
    retries?: number;
}
/** What every call takes. */
export interface CallOptions {
    /** Ends the call; it then throws the reason of the signal. */
    signal?: AbortSignal;
    /** How long it may take in all, in milliseconds. */
    timeout?: number;
}
type Part<K extends keyof Operations, P extends string> = Operations[K] extends Record<P, infer T> ? T : undefined;
/** What is sent with an operation, as the server's document says. */
export type Sent<K extends keyof Operations> = (Part<K, "path"> extends undefined ? {
    path?: undefined;
} : {
    path: Part<K, "path">;
}) & (Part<K, "query"> extends undefined ? {
    query?: undefined;
} : {
    query?: Part<K, "query">;
}) & (Part<K, "body"> extends undefined ? {
    body?: undefined;
} : {
    body: Part<K, "body">;
}) & {
    headers?: Record<string, string>;
    /** Whether the same request, sent twice, does what it does once; a GET always does. */
    again?: boolean;
};
/** An answer that was read whole. */
export interface Answer<T> {
    value: T;
    headers: Headers;
}
/** Sends requests. */
export declare class Wire {
    #private;
    constructor(options: Options);
    /** Sends a request and reads its answer, again if that may be and could help. */
    call<K extends keyof Operations>(operation: K, sent: Sent<K>, options?: CallOptions): Promise<Answer<Operations[K]["answer"]>>;
    /** The same for an answer that is a text. */
    text<K extends keyof Operations>(operation: K, sent: Sent<K>, options?: CallOptions): Promise<Answer<string>>;
    /** The same for an answer of any kind. */
    bytes<K extends keyof Operations>(operation: K, sent: Sent<K>, options?: CallOptions): Promise<Answer<Uint8Array>>;
    /** Sends a request whose answer is read as it comes; only its beginning has to come in time. */
    open<K extends keyof Operations>(operation: K, sent: Sent<K>, options?: CallOptions): Promise<Stream>;
}
/** An answer that is read as it comes. */
export declare class Stream {
    #private;
    readonly status: number;
    constructor(response: Response, limit: Limit);
    /** Yields what comes; with `quiet`, it throws when nothing comes for so many milliseconds. */
    text(quiet?: number): AsyncGenerator<string, void, undefined>;
    /** Lets it go unread. */
    close(): Promise<void>;
}
/** How long a call may take, and who ends it. */
export declare class Limit {
    #private;
    constructor(given: AbortSignal | undefined, timeout: number);
    get signal(): AbortSignal;
    /** Gives it so much time from now on. */
    within(timeout: number): void;
    /** Gives it all the time that there is. */
    endless(): void;
    /** Ends what is still under way. */
    stop(): void;
    end(): void;
    /**
     * Waits for something, and no longer than the call may take. A `fetch` that was given the signal ends by it, too, but not everywhere: Node
     * forgets the signal of an answer that is read for long.
     */
    race<T>(promise: Promise<T>): Promise<T>;
    /** Returns why the call is over, if it is. */
    reason(): unknown;
    /** Waits; when the time is over, what is thrown is why there was something to wait for, if that is said. */
    wait(pause: number, because?: unknown): Promise<void>;
}
/** Returns how long to wait before an error is tried away, or nothing if that could do harm or no good. */
export declare function pause(error: unknown, again: boolean, tries: number): number | undefined;
/** Returns a name that nobody has given yet; `randomUUID` is missing on pages without TLS. */
export declare function once(): string;
export {};

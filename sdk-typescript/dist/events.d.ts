import type { Operations } from "./schema.js";
import { type Sent, type Wire } from "./wire.js";
/** What a stream takes. */
export interface StreamOptions {
    /** Ends the stream; it then throws the reason of the signal. */
    signal?: AbortSignal;
    /** The `seq` of the last event that is known. */
    after?: number;
    /** How often it is opened again, one after the other, without anything coming out of it. */
    reconnects?: number;
    /** How long the beginning of an answer may take, in milliseconds. */
    timeout?: number;
}
/** The same, for whoever has to know when somebody listens. */
export interface FollowOptions extends StreamOptions {
    /** Called each time when a connection is open: from then on, nothing is missed. */
    opened?: () => void;
}
/** A message of a stream. */
export interface Message {
    id: string | undefined;
    event: string;
    data: string;
}
/** Takes a text of server-sent events apart, however it was cut. */
export declare class Parser {
    #private;
    push(text: string): Generator<Message, void, undefined>;
}
/** Every operation that answers with server-sent events. */
export type Streamed = {
    [K in keyof Operations]: K extends `${string}/stream` ? K : never;
}[keyof Operations];
/**
 * Yields the messages of a stream until the server says that all is told. A connection that breaks off is opened again after the last
 * message that had an id, and no such message is given twice.
 */
export declare function follow<K extends Streamed>(wire: Wire, operation: K, sent: Sent<K>, options: FollowOptions): AsyncGenerator<Message, void, undefined>;

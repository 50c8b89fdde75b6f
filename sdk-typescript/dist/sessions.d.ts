import { type StreamOptions } from "./events.js";
import { Pages } from "./pages.js";
import type { CancelTurn, Event, Message, NewMessage, NewSession, Operations, Session, SessionDetail } from "./schema.js";
import { type Told } from "./told.js";
import { type CallOptions, type Wire } from "./wire.js";
/** Which sessions to list. */
export type SessionFilter = Omit<NonNullable<Operations["GET /v1/sessions"]["query"]>, "after">;
/** Something to say; a text alone will do. */
export type Say = string | (NewMessage & {
    /** What this message is called: the same key is one message within a week. Each call has one of its own when nothing is said. */
    idempotencyKey?: string;
});
/** What is told of a turn; in the end its message, whose `turn` says what came of it. */
export type Talk = Told | {
    type: "over";
    message: Message;
};
/** Returns whether the turn of a message is over. */
export declare function isTurnOver(message: Message): boolean;
/** Sessions. */
export declare class Sessions {
    #private;
    constructor(wire: Wire);
    /** Lists sessions in the order of creation. */
    list(filter?: SessionFilter, options?: CallOptions): Pages<Session>;
    /** Makes a session of an agent. It is sent once: when no answer comes, look at the list. */
    create(session: NewSession, options?: CallOptions): Promise<Session>;
    /** Shows a session, and whether something is under way in it. */
    get(session: string, options?: CallOptions): Promise<SessionDetail>;
    /** Calls a session something else; null takes its title away. */
    rename(session: string, title: string | null, options?: CallOptions): Promise<Session>;
    /** Removes a session with everything that was said in it and its files. It is sent once. */
    remove(session: string, options?: CallOptions): Promise<Session>;
    /** Says something and does not wait for the answer. When an answer of the server is lost, it is sent again under the same name: it is said once. */
    send(session: string, say: Say, options?: CallOptions): Promise<Message>;
    /** Lists what was said to a session, with what came of it; `after` is the `number` of the last one that is known. */
    messages(session: string, from?: {
        after?: number;
        limit?: number;
    }, options?: CallOptions): Pages<Message>;
    /** Shows a message and what came of it. */
    message(session: string, message: string, options?: CallOptions): Promise<Message>;
    /** Ends the turn that is under way; with `queued`, what waits is not told either. It is sent once: sent again, it would end the next turn. */
    cancel(session: string, what?: CancelTurn, options?: CallOptions): Promise<Message[]>;
    /** Lists the events that a session has so far. */
    events(session: string, from?: {
        after?: number;
        limit?: number;
    }, options?: CallOptions): Pages<Event>;
    /**
     * Yields the events of a session as they happen, each once, and between them what is said, word by word; connections that break off are
     * opened again. A session is never over: it ends when nobody listens any more. `after` the `events` of `get`, it tells what is new.
     */
    stream(session: string, options?: StreamOptions): AsyncGenerator<Told, void, undefined>;
    /** Says something, and waits until its turn is over, however it went: `turn` says how. With `timeout`, no longer than that. */
    ask(session: string, say: Say, options?: CallOptions): Promise<Message>;
    /** The same, told as it happens: what is yielded is of this turn alone, and begins with it. */
    talk(session: string, say: Say, options?: CallOptions): AsyncGenerator<Talk, void, undefined>;
    /** Waits until the turn of a message is over, however it went. With `timeout` it throws after so many milliseconds. */
    waitFor(session: string, message: string, options?: CallOptions): Promise<Message>;
}

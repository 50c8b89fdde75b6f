// Server-sent events: read as they come, and gone on with where a connection broke off.
import { AbideConnectionError, AbideError, AbideTimeoutError } from "./errors.js";
import type { Operations } from "./schema.js";
import { Limit, type Sent, type Wire, pause } from "./wire.js";

/** A server says every 15 seconds that it is still there; one that is quiet for longer than this is gone. */
const QUIET = 45_000;
/** How often a stream is opened again without anything coming out of it, when nothing is said. */
const RECONNECTS = 20;
/** The longest event that is read, in characters. */
const LONGEST = 32 << 20;

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
export class Parser {
  #line = "";
  #id: string | undefined;
  #event = "";
  #data: string[] = [];
  #size = 0;

  *push(text: string): Generator<Message, void, undefined> {
    this.#size += text.length;
    if (this.#size > LONGEST) throw new AbideError(`an event is longer than ${LONGEST} characters`);
    // A carriage return at the end could be half of a line's end.
    const lines = (this.#line + text).split(/\r\n|\n|\r(?!$)/);
    this.#line = lines.pop() ?? "";
    for (const line of lines) {
      if (line !== "") {
        this.#field(line);
        continue;
      }
      if (this.#data.length > 0) yield { id: this.#id, event: this.#event || "message", data: this.#data.join("\n") };
      this.#event = "";
      this.#data = [];
      this.#id = undefined;
      this.#size = this.#line.length;
    }
  }

  #field(line: string): void {
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "data") this.#data.push(value);
    else if (name === "event") this.#event = value;
    else if (name === "id" && !value.includes("\0")) this.#id = value;
  }
}

/** Every operation that answers with server-sent events. */
export type Streamed = { [K in keyof Operations]: K extends `${string}/stream` ? K : never }[keyof Operations];

/**
 * Yields the messages of a stream until the server says that all is told. A connection that breaks off is opened again after the last
 * message that had an id, and no such message is given twice.
 */
export async function* follow<K extends Streamed>(
  wire: Wire,
  operation: K,
  sent: Sent<K>,
  options: FollowOptions,
): AsyncGenerator<Message, void, undefined> {
  let last = options.after;
  for (let tries = 0; ; tries++) {
    let failed: unknown;
    try {
      const headers: Record<string, string> = { accept: "text/event-stream", ...sent.headers };
      if (last !== undefined && last > 0) headers["last-event-id"] = String(last);
      const answer = await wire.open(operation, { ...sent, headers }, options);
      if (answer.status === 204) {
        await answer.close();
        return;
      }
      options.opened?.();
      const parser = new Parser();
      for await (const text of answer.text(QUIET)) {
        for (const message of parser.push(text)) {
          const seq = message.id === undefined ? undefined : Number(message.id);
          if (seq !== undefined && last !== undefined && seq <= last) continue;
          tries = 0;
          yield message;
          // Only what was taken counts as told.
          if (seq !== undefined) last = seq;
          if (message.event === "end") return;
        }
      }
      failed = new AbideConnectionError("the stream broke off");
    } catch (error) {
      // A timeout is a connection that went quiet; the reason of the caller's own signal is the caller's.
      failed = error instanceof AbideTimeoutError ? new AbideConnectionError(error.message, { cause: error }) : error;
    }
    options.signal?.throwIfAborted();
    const wait = tries < (options.reconnects ?? RECONNECTS) ? pause(failed, true, tries) : undefined;
    if (wait === undefined) throw failed;
    const limit = new Limit(options.signal, Number.MAX_SAFE_INTEGER);
    try {
      await limit.wait(wait, failed);
    } finally {
      limit.end();
    }
  }
}

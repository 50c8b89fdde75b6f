// Sessions: agents that talk, what was said to them, and what they say.
import { AbideConnectionError } from "./errors.js";
import { type FollowOptions, type StreamOptions, follow } from "./events.js";
import { Pages } from "./pages.js";
import type { CancelTurn, Event, Message, NewMessage, NewSession, Operations, Session, SessionDetail } from "./schema.js";
import { Answers, type Told } from "./told.js";
import { type CallOptions, Limit, type Wire, once } from "./wire.js";

/** How long nothing may happen before it is looked whether a turn is over, in milliseconds. */
const LOOK = 5_000;

/** Which sessions to list. */
export type SessionFilter = Omit<NonNullable<Operations["GET /v1/sessions"]["query"]>, "after">;

/** Something to say; a text alone will do. */
export type Say =
  | string
  | (NewMessage & {
      /** What this message is called: the same key is one message within a week. Each call has one of its own when nothing is said. */
      idempotencyKey?: string;
    });

/** What is told of a turn; in the end its message, whose `turn` says what came of it. */
export type Talk = Told | { type: "over"; message: Message };

/** Returns whether the turn of a message is over. */
export function isTurnOver(message: Message): boolean {
  return message.turn.ended_at !== null;
}

/** Sessions. */
export class Sessions {
  readonly #wire: Wire;

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  /** Lists sessions in the order of creation. */
  list(filter: SessionFilter = {}, options?: CallOptions): Pages<Session> {
    return new Pages(async (after) => {
      const query = after === undefined ? filter : { ...filter, after };
      return (await this.#wire.call("GET /v1/sessions", { query }, options)).value;
    });
  }

  /** Makes a session of an agent. It is sent once: when no answer comes, look at the list. */
  async create(session: NewSession, options?: CallOptions): Promise<Session> {
    return (await this.#wire.call("POST /v1/sessions", { body: session }, options)).value;
  }

  /** Shows a session, and whether something is under way in it. */
  async get(session: string, options?: CallOptions): Promise<SessionDetail> {
    return (await this.#wire.call("GET /v1/sessions/{session}", { path: { session } }, options)).value;
  }

  /** Calls a session something else; null takes its title away. */
  async rename(session: string, title: string | null, options?: CallOptions): Promise<Session> {
    const sent = { path: { session }, body: { title }, again: true };
    return (await this.#wire.call("PATCH /v1/sessions/{session}", sent, options)).value;
  }

  /** Removes a session with everything that was said in it and its files. It is sent once. */
  async remove(session: string, options?: CallOptions): Promise<Session> {
    return (await this.#wire.call("DELETE /v1/sessions/{session}", { path: { session } }, options)).value;
  }

  /** Says something and does not wait for the answer. When an answer of the server is lost, it is sent again under the same name: it is said once. */
  async send(session: string, say: Say, options?: CallOptions): Promise<Message> {
    const { idempotencyKey = once(), ...body } = typeof say === "string" ? { text: say } : say;
    const sent = { path: { session }, body, headers: { "idempotency-key": idempotencyKey }, again: true };
    return (await this.#wire.call("POST /v1/sessions/{session}/messages", sent, options)).value;
  }

  /** Lists what was said to a session, with what came of it; `after` is the `number` of the last one that is known. */
  messages(session: string, from: { after?: number; limit?: number } = {}, options?: CallOptions): Pages<Message> {
    return new Pages(async (after) => {
      const query = after === undefined ? from : { ...from, after: Number(after) };
      return (await this.#wire.call("GET /v1/sessions/{session}/messages", { path: { session }, query }, options)).value;
    });
  }

  /** Shows a message and what came of it. */
  async message(session: string, message: string, options?: CallOptions): Promise<Message> {
    return (await this.#wire.call("GET /v1/sessions/{session}/messages/{message}", { path: { session, message } }, options)).value;
  }

  /** Ends the turn that is under way; with `queued`, what waits is not told either. It is sent once: sent again, it would end the next turn. */
  async cancel(session: string, what: CancelTurn = {}, options?: CallOptions): Promise<Message[]> {
    const sent = { path: { session }, body: what };
    return (await this.#wire.call("POST /v1/sessions/{session}/cancel", sent, options)).value.items;
  }

  /** Lists the events that a session has so far. */
  events(session: string, from: { after?: number; limit?: number } = {}, options?: CallOptions): Pages<Event> {
    return new Pages(async (after) => {
      const query = after === undefined ? from : { ...from, after: Number(after) };
      return (await this.#wire.call("GET /v1/sessions/{session}/events", { path: { session }, query }, options)).value;
    });
  }

  /**
   * Yields the events of a session as they happen, each once, and between them what is said, word by word; connections that break off are
   * opened again. A session is never over: it ends when nobody listens any more. `after` the `events` of `get`, it tells what is new.
   */
  stream(session: string, options: StreamOptions = {}): AsyncGenerator<Told, void, undefined> {
    return this.#told(session, options);
  }

  /** Says something, and waits until its turn is over, however it went: `turn` says how. With `timeout`, no longer than that. */
  async ask(session: string, say: Say, options: CallOptions = {}): Promise<Message> {
    for await (const told of this.talk(session, say, options)) if (told.type === "over") return told.message;
    throw new AbideConnectionError(`the events of session ${session} ended before the turn did`);
  }

  /** The same, told as it happens: what is yielded is of this turn alone, and begins with it. */
  async *talk(session: string, say: Say, options: CallOptions = {}): AsyncGenerator<Talk, void, undefined> {
    const limit = new Limit(options.signal, options.timeout ?? Number.MAX_SAFE_INTEGER);
    const call = { signal: limit.signal };
    let told: AsyncGenerator<Told, void, undefined> | undefined;
    try {
      const { events } = await this.get(session, call);
      // It is listened before anything is said, so that no word is missed.
      let opened = (): void => {};
      const listening = new Promise<void>((resolve) => (opened = resolve));
      told = this.#told(session, { ...call, after: events, opened });
      let next = told.next();
      next.catch(() => {});
      await Promise.race([listening, next]);
      const { id } = await this.send(session, say, call);
      for (let mine = false; ; next = told.next()) {
        const item = await next;
        if (item.done) throw new AbideConnectionError(`the events of session ${session} ended before the turn did`);
        const event = item.value.type === "event" ? item.value.event : undefined;
        if (event?.type === "message.told") mine = (event.data as { label?: string }).label === id;
        if (mine) yield item.value;
        if (mine && event?.type === "turn.ended") break;
      }
      yield { type: "over", message: await this.#noted(session, id, limit, Infinity) };
    } finally {
      limit.stop();
      await told?.return().catch(() => {});
    }
  }

  /** Waits until the turn of a message is over, however it went. With `timeout` it throws after so many milliseconds. */
  async waitFor(session: string, message: string, options: CallOptions = {}): Promise<Message> {
    const limit = new Limit(options.signal, options.timeout ?? Number.MAX_SAFE_INTEGER);
    const call = { signal: limit.signal };
    const { events } = await this.get(session, call).catch((error) => {
      limit.stop();
      throw error;
    });
    const told = this.#told(session, { ...call, after: events });
    try {
      let shown = await this.message(session, message, call);
      let next: ReturnType<typeof told.next> | undefined;
      while (!isTurnOver(shown)) {
        next ??= told.next();
        // Whoever stops waiting does not hear how it ends.
        next.catch(() => {});
        const item = await within(next, LOOK);
        if (item?.done) throw new AbideConnectionError(`the events of session ${session} ended before the turn did`);
        const ended = item?.value.type === "event" && item.value.event.type === "turn.ended";
        if (item === undefined || ended) shown = await this.#noted(session, message, limit, ended ? 5 : 1);
        if (item !== undefined) next = undefined;
      }
      return shown;
    } finally {
      limit.stop();
      await told.return().catch(() => {});
    }
  }

  /** Looks at a message until its turn is over, and no more often than said: that a turn is over is noted right after its last event. */
  async #noted(session: string, message: string, limit: Limit, tries: number): Promise<Message> {
    for (let pause = 20; ; pause = Math.min(1_000, 2 * pause)) {
      const shown = await this.message(session, message, { signal: limit.signal });
      if (isTurnOver(shown) || --tries <= 0) return shown;
      await limit.wait(pause);
    }
  }

  async *#told(session: string, options: FollowOptions): AsyncGenerator<Told, void, undefined> {
    const answers = new Answers();
    const messages = follow(this.#wire, "GET /v1/sessions/{session}/events/stream", { path: { session } }, options);
    for await (const message of messages) yield* answers.take(message);
  }
}

/** Waits for something, and returns nothing if it does not come in time. */
async function within<T>(promise: Promise<T>, time: number): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => (timer = setTimeout(() => resolve(undefined), time)));
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

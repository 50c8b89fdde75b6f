// Runs: listed, shown, followed, ended and gone on with.
import { AbideConnectionError, AbideTimeoutError } from "./errors.js";
import { type StreamOptions, follow } from "./events.js";
import { Pages } from "./pages.js";
import type { Event, Operations, Resume, Run, RunHead } from "./schema.js";
import type { CallOptions, Wire } from "./wire.js";

/** The statuses of a run that do not change any more. */
const OVER: readonly string[] = ["completed", "failed", "cancelled", "timed_out"];

/** Returns whether a run is over. */
export function isOver(run: { status: string }): boolean {
  return OVER.includes(run.status);
}

/** Which runs to list. */
export type RunFilter = Omit<NonNullable<Operations["GET /v1/runs"]["query"]>, "after">;

/** How to wait. */
export interface WaitOptions extends CallOptions {
  /** Statuses at which to stop waiting besides the final ones; `interrupted` when nothing is said. */
  until?: Run["status"][];
}

/** Which part of what steps wrote. */
export type LogOptions = CallOptions & NonNullable<Operations["GET /v1/runs/{run}/logs"]["query"]>;

/** Runs. */
export class Runs {
  readonly #wire: Wire;

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  /** Lists runs, the one that changed last first. */
  list(filter: RunFilter = {}, options?: CallOptions): Pages<RunHead> {
    return new Pages(async (after) => {
      const query = after === undefined ? filter : { ...filter, after };
      return (await this.#wire.call("GET /v1/runs", { query }, options)).value;
    });
  }

  /** Shows how a run stands, with the runs that it calls. */
  async get(run: string, options?: CallOptions): Promise<Run> {
    return (await this.#wire.call("GET /v1/runs/{run}", { path: { run } }, options)).value;
  }

  /** Lists the events that a run has so far. */
  events(run: string, from: { after?: number; limit?: number } = {}, options?: CallOptions): Pages<Event> {
    return new Pages(async (after) => {
      const query = after === undefined ? from : { ...from, after: Number(after) };
      return (await this.#wire.call("GET /v1/runs/{run}/events", { path: { run }, query }, options)).value;
    });
  }

  /** Yields the events of a run as they happen, each once, until the run is over; connections that break off are opened again. */
  async *stream(run: string, options: StreamOptions = {}): AsyncGenerator<Event, void, undefined> {
    for await (const message of follow(this.#wire, "GET /v1/runs/{run}/events/stream", { path: { run } }, options)) {
      if (message.event !== "end") yield JSON.parse(message.data) as Event;
    }
  }

  /** Yields what the steps of a run wrote, step by step; with `follow`, until the run is over. */
  async *logs(run: string, options: LogOptions = {}): AsyncGenerator<string, void, undefined> {
    const { signal, timeout, ...query } = options;
    const call: CallOptions = { ...(signal && { signal }), ...(timeout !== undefined && { timeout }) };
    const answer = await this.#wire.open("GET /v1/runs/{run}/logs", { path: { run }, query }, call);
    yield* answer.text();
  }

  /** Ends a run. It is sent once: when no answer comes, look at the run. */
  async cancel(run: string, reason?: string, options?: CallOptions): Promise<Run> {
    const body = reason === undefined ? {} : { reason };
    return (await this.#wire.call("POST /v1/runs/{run}/cancel", { path: { run }, body }, options)).value;
  }

  /** Drives an unfinished run on. It is sent once: when no answer comes, look at the run. */
  async resume(run: string, how: Resume = {}, options?: CallOptions): Promise<Run> {
    return (await this.#wire.call("POST /v1/runs/{run}/resume", { path: { run }, body: how }, options)).value;
  }

  /**
   * Waits until a run is over, and returns how it stands then, whether it went well or not. With `timeout` it throws after so many
   * milliseconds; without, it waits for as long as a human takes to answer.
   */
  async waitFor(run: string, options: WaitOptions = {}): Promise<Run> {
    const until: readonly string[] = [...OVER, ...(options.until ?? ["interrupted"])];
    const ending = new AbortController();
    const end = (): void => ending.abort(options.signal?.reason);
    const late = new AbideTimeoutError(`run ${run} is not over within ${options.timeout} ms`);
    const timer = options.timeout === undefined ? undefined : setTimeout(() => ending.abort(late), options.timeout);
    if (options.signal?.aborted) end();
    options.signal?.addEventListener("abort", end, { once: true });
    const signal = ending.signal;
    try {
      let shown = await this.get(run, { signal });
      if (until.includes(shown.status)) return shown;
      for await (const event of this.stream(run, { signal })) {
        // What a run waits for begins with one of these; everything else only brings it on.
        if (!["question.asked", "step.lost"].includes(event.type)) continue;
        shown = await this.get(run, { signal });
        if (until.includes(shown.status)) return shown;
      }
      shown = await this.get(run, { signal });
      if (!isOver(shown)) throw new AbideConnectionError(`the events of run ${run} ended before it was over`);
      return shown;
    } finally {
      clearTimeout(timer);
      options.signal?.removeEventListener("abort", end);
    }
  }
}

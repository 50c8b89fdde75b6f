import { type StreamOptions } from "./events.js";
import { Pages } from "./pages.js";
import type { Event, Operations, Resume, Run, RunHead } from "./schema.js";
import type { CallOptions, Wire } from "./wire.js";
/** Returns whether a run is over. */
export declare function isOver(run: {
    status: string;
}): boolean;
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
export declare class Runs {
    #private;
    constructor(wire: Wire);
    /** Lists runs, the one that changed last first. */
    list(filter?: RunFilter, options?: CallOptions): Pages<RunHead>;
    /** Shows how a run stands, with the runs that it calls. */
    get(run: string, options?: CallOptions): Promise<Run>;
    /** Lists the events that a run has so far. */
    events(run: string, from?: {
        after?: number;
        limit?: number;
    }, options?: CallOptions): Pages<Event>;
    /** Yields the events of a run as they happen, each once, until the run is over; connections that break off are opened again. */
    stream(run: string, options?: StreamOptions): AsyncGenerator<Event, void, undefined>;
    /** Yields what the steps of a run wrote, step by step; with `follow`, until the run is over. */
    logs(run: string, options?: LogOptions): AsyncGenerator<string, void, undefined>;
    /** Ends a run. It is sent once: when no answer comes, look at the run. */
    cancel(run: string, reason?: string, options?: CallOptions): Promise<Run>;
    /** Drives an unfinished run on. It is sent once: when no answer comes, look at the run. */
    resume(run: string, how?: Resume, options?: CallOptions): Promise<Run>;
    /**
     * Waits until a run is over, and returns how it stands then, whether it went well or not. With `timeout` it throws after so many
     * milliseconds; without, it waits for as long as a human takes to answer.
     */
    waitFor(run: string, options?: WaitOptions): Promise<Run>;
}

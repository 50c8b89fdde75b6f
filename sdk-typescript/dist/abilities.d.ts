import { type Runs, type WaitOptions } from "./runs.js";
import type { Abilities as Listing, Ability, Graph, Plan, Problems, Run, RunHead } from "./schema.js";
import { type CallOptions, type Wire } from "./wire.js";
/** An ability in the list. */
export type AbilityEntry = Listing["abilities"][number];
/** What to execute. */
export interface Execute {
    /** The name of the ability. */
    name: string;
    /** Its inputs by name. */
    inputs?: Record<string, unknown>;
    /** The text that templates see as `input`. */
    input?: string;
    /** What this start is called: the same key starts one run within a week. Each call has one of its own when nothing is said. */
    idempotencyKey?: string;
}
/** An ability that is being executed, or was. */
export type Execution<T> = T & {
    /** The id of the run. */
    executionId: string;
};
/** Abilities. */
export declare class Abilities {
    #private;
    constructor(wire: Wire, runs: Runs);
    /** Lists the abilities of the project, broken and shadowed ones too. */
    list(options?: CallOptions): Promise<AbilityEntry[]>;
    /** Shows everything about one ability. */
    get(name: string, options?: CallOptions): Promise<Ability>;
    /** Says everything that is wrong with an ability. */
    validate(name: string, options?: CallOptions): Promise<Problems>;
    /** Returns the steps of an ability as a graph. */
    graph(name: string, options?: CallOptions): Promise<Graph>;
    /** Shows what an execution would do, without doing any of it. */
    plan(what: Omit<Execute, "idempotencyKey">, options?: CallOptions): Promise<Plan>;
    /** Starts an ability and does not wait for it. When an answer is lost, it is asked again under the same name: it starts once. */
    execute(what: Execute, options?: CallOptions): Promise<Execution<RunHead>>;
    /** Shows how an execution stands. */
    status(executionId: string, options?: CallOptions): Promise<Execution<Run>>;
    /** Waits until an execution is over, and returns how it stands then, whether it went well or not. */
    waitFor(executionId: string, options?: WaitOptions): Promise<Execution<Run>>;
    /** Ends an execution. */
    cancel(executionId: string, reason?: string, options?: CallOptions): Promise<Execution<Run>>;
}

// Abilities: found, checked, planned and executed.
import { type Runs, type WaitOptions } from "./runs.js";
import type { Abilities as Listing, Ability, Graph, NewPlan, NewRun, Plan, Problems, Run, RunHead } from "./schema.js";
import { type CallOptions, type Wire, once } from "./wire.js";

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
export class Abilities {
  readonly #wire: Wire;
  readonly #runs: Runs;

  constructor(wire: Wire, runs: Runs) {
    this.#wire = wire;
    this.#runs = runs;
  }

  /** Lists the abilities of the project, broken and shadowed ones too. */
  async list(options?: CallOptions): Promise<AbilityEntry[]> {
    return (await this.#wire.call("GET /v1/abilities", {}, options)).value.abilities;
  }

  /** Shows everything about one ability. */
  async get(name: string, options?: CallOptions): Promise<Ability> {
    return (await this.#wire.call("GET /v1/abilities/{ability}", { path: { ability: name } }, options)).value;
  }

  /** Says everything that is wrong with an ability. */
  async validate(name: string, options?: CallOptions): Promise<Problems> {
    return (await this.#wire.call("GET /v1/abilities/{ability}/problems", { path: { ability: name } }, options)).value;
  }

  /** Returns the steps of an ability as a graph. */
  async graph(name: string, options?: CallOptions): Promise<Graph> {
    return (await this.#wire.call("GET /v1/abilities/{ability}/graph", { path: { ability: name } }, options)).value;
  }

  /** Shows what an execution would do, without doing any of it. */
  async plan(what: Omit<Execute, "idempotencyKey">, options?: CallOptions): Promise<Plan> {
    const { name, ...body } = what;
    const sent = { path: { ability: name }, body: body as NewPlan, again: true };
    return (await this.#wire.call("POST /v1/abilities/{ability}/plan", sent, options)).value;
  }

  /** Starts an ability and does not wait for it. When an answer is lost, it is asked again under the same name: it starts once. */
  async execute(what: Execute, options?: CallOptions): Promise<Execution<RunHead>> {
    const { name, idempotencyKey = once(), ...rest } = what;
    const sent = { body: { ability: name, ...rest } as NewRun, headers: { "idempotency-key": idempotencyKey }, again: true };
    return named((await this.#wire.call("POST /v1/runs", sent, options)).value);
  }

  /** Shows how an execution stands. */
  async status(executionId: string, options?: CallOptions): Promise<Execution<Run>> {
    return named(await this.#runs.get(executionId, options));
  }

  /** Waits until an execution is over, and returns how it stands then, whether it went well or not. */
  async waitFor(executionId: string, options?: WaitOptions): Promise<Execution<Run>> {
    return named(await this.#runs.waitFor(executionId, options));
  }

  /** Ends an execution. */
  async cancel(executionId: string, reason?: string, options?: CallOptions): Promise<Execution<Run>> {
    return named(await this.#runs.cancel(executionId, reason, options));
  }
}

function named<T extends { run: string }>(run: T): Execution<T> {
  return { ...run, executionId: run.run };
}

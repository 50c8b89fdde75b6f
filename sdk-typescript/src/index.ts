// abide over HTTP: what `abide serve` answers, for programs. Needs nothing but the platform's `fetch`.
import { Abilities } from "./abilities.js";
import { Agents, Capabilities } from "./agents.js";
import { Approvals, Keys } from "./people.js";
import { Runs } from "./runs.js";
import type { Version } from "./schema.js";
import { type CallOptions, type Options, Wire } from "./wire.js";

/** A server of abide. */
export class Abide {
  readonly abilities: Abilities;
  readonly runs: Runs;
  readonly approvals: Approvals;
  readonly capabilities: Capabilities;
  readonly agents: Agents;
  readonly keys: Keys;
  readonly #wire: Wire;

  constructor(options: Options) {
    this.#wire = new Wire(options);
    this.runs = new Runs(this.#wire);
    this.abilities = new Abilities(this.#wire, this.runs);
    this.approvals = new Approvals(this.#wire);
    this.capabilities = new Capabilities(this.#wire);
    this.agents = new Agents(this.#wire);
    this.keys = new Keys(this.#wire);
  }

  /** Says which version of abide answers. */
  async version(options?: CallOptions): Promise<Version> {
    return (await this.#wire.call("GET /v1/version", {}, options)).value;
  }
}

/** Makes a client of a server. */
export function createAbilitiesSDK(options: Options): Abide {
  return new Abide(options);
}

export type { AbilityEntry, Execute, Execution } from "./abilities.js";
export type { AgentFilter, ChangeOptions, SeenAgent } from "./agents.js";
export { AbideConnectionError, AbideError, AbideProblem, AbideTimeoutError } from "./errors.js";
export type { StreamOptions } from "./events.js";
export { type Page, Pages } from "./pages.js";
export { type LogOptions, type RunFilter, type WaitOptions, isOver } from "./runs.js";
export type * from "./schema.js";
export { AbideWebhookError, type FinishedRun, type VerifyOptions, type WebhookEvent, type WebhookHeaders, webhooks } from "./webhooks.js";
export type { CallOptions, Options } from "./wire.js";

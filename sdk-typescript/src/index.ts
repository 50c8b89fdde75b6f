// abide over HTTP: what `abide serve` answers, for programs. Needs nothing but the platform's `fetch`.
import { Abilities } from "./abilities.js";
import { Agents, Capabilities } from "./agents.js";
import { Files } from "./files.js";
import { Approvals, Audit, Keys } from "./people.js";
import { Runs } from "./runs.js";
import type { Health, Version } from "./schema.js";
import { Sessions } from "./sessions.js";
import { Models, Skills } from "./skills.js";
import { type CallOptions, type Options, Wire } from "./wire.js";

/** A server of abide. */
export class Abide {
  readonly abilities: Abilities;
  readonly runs: Runs;
  readonly approvals: Approvals;
  readonly capabilities: Capabilities;
  readonly agents: Agents;
  readonly sessions: Sessions;
  readonly files: Files;
  readonly skills: Skills;
  readonly models: Models;
  readonly keys: Keys;
  readonly audit: Audit;
  readonly #wire: Wire;

  constructor(options: Options) {
    this.#wire = new Wire(options);
    this.runs = new Runs(this.#wire);
    this.abilities = new Abilities(this.#wire, this.runs);
    this.approvals = new Approvals(this.#wire);
    this.capabilities = new Capabilities(this.#wire);
    this.agents = new Agents(this.#wire);
    this.sessions = new Sessions(this.#wire);
    this.files = new Files(this.#wire);
    this.skills = new Skills(this.#wire);
    this.models = new Models(this.#wire);
    this.keys = new Keys(this.#wire);
    this.audit = new Audit(this.#wire);
  }

  /** Says which version of abide answers. */
  async version(options?: CallOptions): Promise<Version> {
    return (await this.#wire.call("GET /v1/version", {}, options)).value;
  }

  /** Says that the server runs; it asks no store. */
  async health(options?: CallOptions): Promise<Health> {
    return (await this.#wire.call("GET /v1/health", {}, options)).value;
  }

  /** Says that the stores of the server answer; the code is `unavailable` if one does not, and it is asked once. */
  async ready(options?: CallOptions): Promise<Health> {
    return (await this.#wire.call("GET /v1/ready", { again: false }, options)).value;
  }

  /** Says what the server has done since it started, in the text format of Prometheus. */
  async metrics(options?: CallOptions): Promise<string> {
    return (await this.#wire.text("GET /v1/metrics", {}, options)).value;
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
export type { Content, DeleteOptions, SeenFile, WriteOptions } from "./files.js";
export { type Page, Pages } from "./pages.js";
export { type LogOptions, type RunFilter, type WaitOptions, isOver } from "./runs.js";
export type * from "./schema.js";
export { type Say, type SessionFilter, type Talk, isTurnOver } from "./sessions.js";
export type { Told } from "./told.js";
export { AbideWebhookError, type FinishedRun, type VerifyOptions, type WebhookEvent, type WebhookHeaders, webhooks } from "./webhooks.js";
export type { CallOptions, Options } from "./wire.js";

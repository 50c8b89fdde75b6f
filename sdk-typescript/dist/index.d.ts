import { Abilities } from "./abilities.js";
import { Agents, Capabilities } from "./agents.js";
import { Files } from "./files.js";
import { Approvals, Audit, Keys } from "./people.js";
import { Runs } from "./runs.js";
import type { Health, Version } from "./schema.js";
import { Sessions } from "./sessions.js";
import { Models, Skills } from "./skills.js";
import { type CallOptions, type Options } from "./wire.js";
/** A server of abide. */
export declare class Abide {
    #private;
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
    constructor(options: Options);
    /** Says which version of abide answers. */
    version(options?: CallOptions): Promise<Version>;
    /** Says that the server runs; it asks no store. */
    health(options?: CallOptions): Promise<Health>;
    /** Says that the stores of the server answer; the code is `unavailable` if one does not, and it is asked once. */
    ready(options?: CallOptions): Promise<Health>;
    /** Says what the server has done since it started, in the text format of Prometheus. */
    metrics(options?: CallOptions): Promise<string>;
}
/** Makes a client of a server. */
export declare function createAbilitiesSDK(options: Options): Abide;
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

import { Abilities } from "./abilities.js";
import { Agents, Capabilities } from "./agents.js";
import { Approvals, Keys } from "./people.js";
import { Runs } from "./runs.js";
import type { Version } from "./schema.js";
import { type CallOptions, type Options } from "./wire.js";
/** A server of abide. */
export declare class Abide {
    #private;
    readonly abilities: Abilities;
    readonly runs: Runs;
    readonly approvals: Approvals;
    readonly capabilities: Capabilities;
    readonly agents: Agents;
    readonly keys: Keys;
    constructor(options: Options);
    /** Says which version of abide answers. */
    version(options?: CallOptions): Promise<Version>;
}
/** Makes a client of a server. */
export declare function createAbilitiesSDK(options: Options): Abide;
export type { AbilityEntry, Execute, Execution } from "./abilities.js";
export type { AgentFilter, ChangeOptions, SeenAgent } from "./agents.js";
export { AbideConnectionError, AbideError, AbideProblem, AbideTimeoutError } from "./errors.js";
export type { StreamOptions } from "./events.js";
export { type Page, Pages } from "./pages.js";
export { type LogOptions, type RunFilter, type WaitOptions, isOver } from "./runs.js";
export type * from "./schema.js";
export { AbideWebhookError, type FinishedRun, type VerifyOptions, type WebhookEvent, type WebhookHeaders, webhooks } from "./webhooks.js";
export type { CallOptions, Options } from "./wire.js";

// abide over HTTP: what `abide serve` answers, for programs. Needs nothing but the platform's `fetch`.
import { Abilities } from "./abilities.js";
import { Agents, Capabilities } from "./agents.js";
import { Approvals, Keys } from "./people.js";
import { Runs } from "./runs.js";
import { Wire } from "./wire.js";
/** A server of abide. */
export class Abide {
    abilities;
    runs;
    approvals;
    capabilities;
    agents;
    keys;
    #wire;
    constructor(options) {
        this.#wire = new Wire(options);
        this.runs = new Runs(this.#wire);
        this.abilities = new Abilities(this.#wire, this.runs);
        this.approvals = new Approvals(this.#wire);
        this.capabilities = new Capabilities(this.#wire);
        this.agents = new Agents(this.#wire);
        this.keys = new Keys(this.#wire);
    }
    /** Says which version of abide answers. */
    async version(options) {
        return (await this.#wire.call("GET /v1/version", {}, options)).value;
    }
}
/** Makes a client of a server. */
export function createAbilitiesSDK(options) {
    return new Abide(options);
}
export { AbideConnectionError, AbideError, AbideProblem, AbideTimeoutError } from "./errors.js";
export { Pages } from "./pages.js";
export { isOver } from "./runs.js";
export { AbideWebhookError, webhooks } from "./webhooks.js";

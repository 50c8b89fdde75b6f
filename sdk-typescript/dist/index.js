// abide over HTTP: what `abide serve` answers, for programs. Needs nothing but the platform's `fetch`.
import { Abilities } from "./abilities.js";
import { Agents, Capabilities } from "./agents.js";
import { Files } from "./files.js";
import { Approvals, Audit, Keys } from "./people.js";
import { Runs } from "./runs.js";
import { Sessions } from "./sessions.js";
import { Models, Skills } from "./skills.js";
import { Wire } from "./wire.js";
/** A server of abide. */
export class Abide {
    abilities;
    runs;
    approvals;
    capabilities;
    agents;
    sessions;
    files;
    skills;
    models;
    keys;
    audit;
    #wire;
    constructor(options) {
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
    async version(options) {
        return (await this.#wire.call("GET /v1/version", {}, options)).value;
    }
    /** Says that the server runs; it asks no store. */
    async health(options) {
        return (await this.#wire.call("GET /v1/health", {}, options)).value;
    }
    /** Says that the stores of the server answer; the code is `unavailable` if one does not, and it is asked once. */
    async ready(options) {
        return (await this.#wire.call("GET /v1/ready", { again: false }, options)).value;
    }
    /** Says what the server has done since it started, in the text format of Prometheus. */
    async metrics(options) {
        return (await this.#wire.text("GET /v1/metrics", {}, options)).value;
    }
}
/** Makes a client of a server. */
export function createAbilitiesSDK(options) {
    return new Abide(options);
}
export { AbideConnectionError, AbideError, AbideProblem, AbideTimeoutError } from "./errors.js";
export { Pages } from "./pages.js";
export { isOver } from "./runs.js";
export { isTurnOver } from "./sessions.js";
export { AbideWebhookError, webhooks } from "./webhooks.js";

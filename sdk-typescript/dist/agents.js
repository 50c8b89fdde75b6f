// Agents and the capabilities that they can be given.
import { Pages } from "./pages.js";
/** Capabilities. */
export class Capabilities {
    #wire;
    constructor(wire) {
        this.#wire = wire;
    }
    /** Lists every capability that agents can be given, usable or not. */
    async list(options) {
        return (await this.#wire.call("GET /v1/capabilities", {}, options)).value;
    }
    /** Shows a capability with its tools. */
    async get(capability, options) {
        return (await this.#wire.call("GET /v1/capabilities/{capability}", { path: { capability } }, options)).value;
    }
}
/** Agents. */
export class Agents {
    #wire;
    constructor(wire) {
        this.#wire = wire;
    }
    /** Lists agents in the order of creation. */
    list(filter = {}, options) {
        return new Pages(async (after) => {
            const query = after === undefined ? filter : { ...filter, after };
            return (await this.#wire.call("GET /v1/agents", { query }, options)).value;
        });
    }
    /** Makes an agent. It is sent once: when no answer comes, look at the list. */
    async create(agent, options) {
        return seen(await this.#wire.call("POST /v1/agents", { body: agent }, options));
    }
    /** Shows an agent. */
    async get(agent, options) {
        return seen(await this.#wire.call("GET /v1/agents/{agent}", { path: { agent } }, options));
    }
    /** Changes what is named; with an `etag`, only if nobody else has changed the agent since, else the code is `changed`. */
    async update(agent, change, options = {}) {
        const sent = { path: { agent }, body: change, headers: match(options) };
        return seen(await this.#wire.call("PATCH /v1/agents/{agent}", sent, options));
    }
    /** Archives an agent: it stays in the list, and is not changed any more. */
    async archive(agent, options = {}) {
        const sent = { path: { agent }, body: {}, headers: match(options) };
        return seen(await this.#wire.call("POST /v1/agents/{agent}/archive", sent, options));
    }
    /** Shows an agent as Markdown: what it is in front, and its system prompt. */
    async export(agent, options) {
        return (await this.#wire.text("GET /v1/agents/{agent}/export", { path: { agent } }, options)).value;
    }
    /** Makes an agent from Markdown, as `export` writes it; what cannot be kept is refused. It is sent once: when no answer comes, look at the list. */
    async import(document, options) {
        return seen(await this.#wire.call("POST /v1/agents/import", { body: document }, options));
    }
    /** Lists the sessions of an agent in the order of creation. */
    sessions(agent, page = {}, options) {
        return new Pages(async (after) => {
            const query = after === undefined ? page : { ...page, after };
            return (await this.#wire.call("GET /v1/agents/{agent}/sessions", { path: { agent }, query }, options)).value;
        });
    }
    /** Makes a session of an agent. It is sent once: when no answer comes, look at the list. */
    async createSession(agent, session = {}, options) {
        return (await this.#wire.call("POST /v1/agents/{agent}/sessions", { path: { agent }, body: session }, options)).value;
    }
}
function match(options) {
    return options.etag === undefined ? {} : { "if-match": options.etag };
}
function seen(answer) {
    return { ...answer.value, etag: answer.headers.get("etag") ?? undefined };
}

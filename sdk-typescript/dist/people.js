// What humans decide: approvals, and the keys that say who they are.
import { Pages } from "./pages.js";
/** What humans are asked. */
export class Approvals {
    #wire;
    constructor(wire) {
        this.#wire = wire;
    }
    /** Lists what humans are asked, over all runs. */
    list(page = {}, options) {
        return new Pages(async (after) => {
            const query = after === undefined ? page : { ...page, after };
            return (await this.#wire.call("GET /v1/approvals", { query }, options)).value;
        });
    }
    /** Answers in the name of the key. It is sent once: when no answer comes, look at the run. */
    async answer(run, answer, options) {
        return (await this.#wire.call("POST /v1/approvals/{run}", { path: { run }, body: answer }, options)).value;
    }
}
/** Keys of the server; all of it needs the scope `admin`. */
export class Keys {
    #wire;
    constructor(wire) {
        this.#wire = wire;
    }
    /** Lists keys in the order of creation, revoked ones too. */
    list(page = {}, options) {
        return new Pages(async (after) => {
            const query = after === undefined ? page : { ...page, after };
            return (await this.#wire.call("GET /v1/keys", { query }, options)).value;
        });
    }
    /** Makes a key; `key` of the answer is shown this once. */
    async create(key, options) {
        return (await this.#wire.call("POST /v1/keys", { body: key }, options)).value;
    }
    /** Revokes a key: from then on it opens nothing. */
    async revoke(id, options) {
        return (await this.#wire.call("DELETE /v1/keys/{key}", { path: { key: id }, again: true }, options)).value;
    }
}

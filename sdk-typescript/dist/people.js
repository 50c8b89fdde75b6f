// What humans decide: approvals, the keys that say who they are, and what was changed by whom.
import { Pages } from "./pages.js";
/** What humans are asked. */
export class Approvals {
    #wire;
    constructor(wire) {
        this.#wire = wire;
    }
    /** Lists what humans are asked: by runs, and about the calls of agents that talk in sessions (of the kind `tool`). */
    list(page = {}, options) {
        return new Pages(async (after) => {
            const query = after === undefined ? page : { ...page, after };
            return (await this.#wire.call("GET /v1/approvals", { query }, options)).value;
        });
    }
    /** Answers what has that `id`, in the name of the key. It is sent once: when no answer comes, look at the run or the session. */
    async answer(id, answer, options) {
        return (await this.#wire.call("POST /v1/approvals/{run}", { path: { run: id }, body: answer }, options)).value;
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
/** What was changed over the API and by `abide key`, each row chained to the one before it; it needs the scope `admin`. */
export class Audit {
    #wire;
    constructor(wire) {
        this.#wire = wire;
    }
    /** Lists changes, the oldest first; `after` is the position of the last one that is known. */
    list(from = {}, options) {
        return new Pages(async (after) => {
            const query = after === undefined ? from : { ...from, after: Number(after) };
            return (await this.#wire.call("GET /v1/audit", { query }, options)).value;
        });
    }
}

// What humans decide: approvals, the keys that say who they are, and what was changed by whom.
import { Pages } from "./pages.js";
import type { Answered, Approval, Change, Key, MadeKey, NewAnswer, NewKey } from "./schema.js";
import type { CallOptions, Wire } from "./wire.js";

/** What humans are asked. */
export class Approvals {
  readonly #wire: Wire;

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  /** Lists what humans are asked: by runs, and about the calls of agents that talk in sessions (of the kind `tool`). */
  list(page: { limit?: number } = {}, options?: CallOptions): Pages<Approval> {
    return new Pages(async (after) => {
      const query = after === undefined ? page : { ...page, after };
      return (await this.#wire.call("GET /v1/approvals", { query }, options)).value;
    });
  }

  /** Answers what has that `id`, in the name of the key. It is sent once: when no answer comes, look at the run or the session. */
  async answer(id: string, answer: NewAnswer, options?: CallOptions): Promise<Answered> {
    return (await this.#wire.call("POST /v1/approvals/{run}", { path: { run: id }, body: answer }, options)).value;
  }
}

/** Keys of the server; all of it needs the scope `admin`. */
export class Keys {
  readonly #wire: Wire;

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  /** Lists keys in the order of creation, revoked ones too. */
  list(page: { limit?: number } = {}, options?: CallOptions): Pages<Key> {
    return new Pages(async (after) => {
      const query = after === undefined ? page : { ...page, after };
      return (await this.#wire.call("GET /v1/keys", { query }, options)).value;
    });
  }

  /** Makes a key; `key` of the answer is shown this once. */
  async create(key: NewKey, options?: CallOptions): Promise<MadeKey> {
    return (await this.#wire.call("POST /v1/keys", { body: key }, options)).value;
  }

  /** Revokes a key: from then on it opens nothing. */
  async revoke(id: string, options?: CallOptions): Promise<Key> {
    return (await this.#wire.call("DELETE /v1/keys/{key}", { path: { key: id }, again: true }, options)).value;
  }
}

/** What was changed over the API and by `abide key`, each row chained to the one before it; it needs the scope `admin`. */
export class Audit {
  readonly #wire: Wire;

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  /** Lists changes, the oldest first; `after` is the position of the last one that is known. */
  list(from: { after?: number; limit?: number } = {}, options?: CallOptions): Pages<Change> {
    return new Pages(async (after) => {
      const query = after === undefined ? from : { ...from, after: Number(after) };
      return (await this.#wire.call("GET /v1/audit", { query }, options)).value;
    });
  }
}

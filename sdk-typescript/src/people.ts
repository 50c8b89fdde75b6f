// What humans decide: approvals, and the keys that say who they are.
import { Pages } from "./pages.js";
import type { Answered, Approval, Key, MadeKey, NewAnswer, NewKey } from "./schema.js";
import type { CallOptions, Wire } from "./wire.js";

/** What humans are asked. */
export class Approvals {
  readonly #wire: Wire;

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  /** Lists what humans are asked, over all runs. */
  list(page: { limit?: number } = {}, options?: CallOptions): Pages<Approval> {
    return new Pages(async (after) => {
      const query = after === undefined ? page : { ...page, after };
      return (await this.#wire.call("GET /v1/approvals", { query }, options)).value;
    });
  }

  /** Answers in the name of the key. It is sent once: when no answer comes, look at the run. */
  async answer(run: string, answer: NewAnswer, options?: CallOptions): Promise<Answered> {
    return (await this.#wire.call("POST /v1/approvals/{run}", { path: { run }, body: answer }, options)).value;
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

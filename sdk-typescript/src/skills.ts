// What agents know, and what they think with: skills and models.
import type { Models as Listing, Skill, Skills as SkillListing } from "./schema.js";
import type { CallOptions, Wire } from "./wire.js";

/** Skills. */
export class Skills {
  readonly #wire: Wire;

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  /** Lists the skills of every client, those that cannot be used too, with the reason. */
  async list(options?: CallOptions): Promise<SkillListing["skills"]> {
    return (await this.#wire.call("GET /v1/skills", {}, options)).value.skills;
  }

  /** Shows a skill: whether it can be used, what it requires, whether it is trusted, and what it says. */
  async get(skill: string, options?: CallOptions): Promise<Skill> {
    return (await this.#wire.call("GET /v1/skills/{skill}", { path: { skill } }, options)).value;
  }
}

/** Models. */
export class Models {
  readonly #wire: Wire;

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  /** Lists models and who serves them, each usable or with what is missing. */
  async list(options?: CallOptions): Promise<Listing> {
    return (await this.#wire.call("GET /v1/models", {}, options)).value;
  }
}

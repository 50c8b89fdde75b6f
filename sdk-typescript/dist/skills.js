/** Skills. */
export class Skills {
    #wire;
    constructor(wire) {
        this.#wire = wire;
    }
    /** Lists the skills of every client, those that cannot be used too, with the reason. */
    async list(options) {
        return (await this.#wire.call("GET /v1/skills", {}, options)).value.skills;
    }
    /** Shows a skill: whether it can be used, what it requires, whether it is trusted, and what it says. */
    async get(skill, options) {
        return (await this.#wire.call("GET /v1/skills/{skill}", { path: { skill } }, options)).value;
    }
}
/** Models. */
export class Models {
    #wire;
    constructor(wire) {
        this.#wire = wire;
    }
    /** Lists models and who serves them, each usable or with what is missing. */
    async list(options) {
        return (await this.#wire.call("GET /v1/models", {}, options)).value;
    }
}

import { once } from "./wire.js";
/** Abilities. */
export class Abilities {
    #wire;
    #runs;
    constructor(wire, runs) {
        this.#wire = wire;
        this.#runs = runs;
    }
    /** Lists the abilities of the project, broken and shadowed ones too. */
    async list(options) {
        return (await this.#wire.call("GET /v1/abilities", {}, options)).value.abilities;
    }
    /** Shows everything about one ability. */
    async get(name, options) {
        return (await this.#wire.call("GET /v1/abilities/{ability}", { path: { ability: name } }, options)).value;
    }
    /** Says everything that is wrong with an ability. */
    async validate(name, options) {
        return (await this.#wire.call("GET /v1/abilities/{ability}/problems", { path: { ability: name } }, options)).value;
    }
    /** Returns the steps of an ability as a graph. */
    async graph(name, options) {
        return (await this.#wire.call("GET /v1/abilities/{ability}/graph", { path: { ability: name } }, options)).value;
    }
    /** Shows what an execution would do, without doing any of it. */
    async plan(what, options) {
        const { name, ...body } = what;
        const sent = { path: { ability: name }, body: body, again: true };
        return (await this.#wire.call("POST /v1/abilities/{ability}/plan", sent, options)).value;
    }
    /** Starts an ability and does not wait for it. When an answer is lost, it is asked again under the same name: it starts once. */
    async execute(what, options) {
        const { name, idempotencyKey = once(), ...rest } = what;
        const sent = { body: { ability: name, ...rest }, headers: { "idempotency-key": idempotencyKey }, again: true };
        return named((await this.#wire.call("POST /v1/runs", sent, options)).value);
    }
    /** Shows how an execution stands. */
    async status(executionId, options) {
        return named(await this.#runs.get(executionId, options));
    }
    /** Waits until an execution is over, and returns how it stands then, whether it went well or not. */
    async waitFor(executionId, options) {
        return named(await this.#runs.waitFor(executionId, options));
    }
    /** Ends an execution. */
    async cancel(executionId, reason, options) {
        return named(await this.#runs.cancel(executionId, reason, options));
    }
}
function named(run) {
    return { ...run, executionId: run.run };
}

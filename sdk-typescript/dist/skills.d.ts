import type { Models as Listing, Skill, Skills as SkillListing } from "./schema.js";
import type { CallOptions, Wire } from "./wire.js";
/** Skills. */
export declare class Skills {
    #private;
    constructor(wire: Wire);
    /** Lists the skills of every client, those that cannot be used too, with the reason. */
    list(options?: CallOptions): Promise<SkillListing["skills"]>;
    /** Shows a skill: whether it can be used, what it requires, whether it is trusted, and what it says. */
    get(skill: string, options?: CallOptions): Promise<Skill>;
}
/** Models. */
export declare class Models {
    #private;
    constructor(wire: Wire);
    /** Lists models and who serves them, each usable or with what is missing. */
    list(options?: CallOptions): Promise<Listing>;
}

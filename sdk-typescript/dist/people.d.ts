import { Pages } from "./pages.js";
import type { Answered, Approval, Key, MadeKey, NewAnswer, NewKey } from "./schema.js";
import type { CallOptions, Wire } from "./wire.js";
/** What humans are asked. */
export declare class Approvals {
    #private;
    constructor(wire: Wire);
    /** Lists what humans are asked, over all runs. */
    list(page?: {
        limit?: number;
    }, options?: CallOptions): Pages<Approval>;
    /** Answers in the name of the key. It is sent once: when no answer comes, look at the run. */
    answer(run: string, answer: NewAnswer, options?: CallOptions): Promise<Answered>;
}
/** Keys of the server; all of it needs the scope `admin`. */
export declare class Keys {
    #private;
    constructor(wire: Wire);
    /** Lists keys in the order of creation, revoked ones too. */
    list(page?: {
        limit?: number;
    }, options?: CallOptions): Pages<Key>;
    /** Makes a key; `key` of the answer is shown this once. */
    create(key: NewKey, options?: CallOptions): Promise<MadeKey>;
    /** Revokes a key: from then on it opens nothing. */
    revoke(id: string, options?: CallOptions): Promise<Key>;
}

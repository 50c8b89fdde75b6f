import { Pages } from "./pages.js";
import type { Answered, Approval, Change, Key, MadeKey, NewAnswer, NewKey } from "./schema.js";
import type { CallOptions, Wire } from "./wire.js";
/** What humans are asked. */
export declare class Approvals {
    #private;
    constructor(wire: Wire);
    /** Lists what humans are asked: by runs, and about the calls of agents that talk in sessions (of the kind `tool`). */
    list(page?: {
        limit?: number;
    }, options?: CallOptions): Pages<Approval>;
    /** Answers what has that `id`, in the name of the key. It is sent once: when no answer comes, look at the run or the session. */
    answer(id: string, answer: NewAnswer, options?: CallOptions): Promise<Answered>;
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
/** What was changed over the API and by `abide key`, each row chained to the one before it; it needs the scope `admin`. */
export declare class Audit {
    #private;
    constructor(wire: Wire);
    /** Lists changes, the oldest first; `after` is the position of the last one that is known. */
    list(from?: {
        after?: number;
        limit?: number;
    }, options?: CallOptions): Pages<Change>;
}

import type { Problem } from "./schema.js";
/** What every error of this package is. */
export declare class AbideError extends Error {
    name: string;
}
/** The server said no, as `application/problem+json`. */
export declare class AbideProblem extends AbideError {
    name: string;
    /** What kind of no; it never changes its meaning. A server that is newer may know more of them. */
    readonly code: Problem["code"] | (string & {});
    /** The status of the answer. */
    readonly status: number;
    /** What is wrong, for people. */
    readonly detail: string;
    /** What to do about it, for people. */
    readonly help: string | undefined;
    /** All that the server said, with facts such as `scope` or `capability`. */
    readonly problem: Problem;
    constructor(problem: Problem);
}
/** No server answered, or what answered is not abide. Whether something was done is not known. */
export declare class AbideConnectionError extends AbideError {
    name: string;
}
/** There was no answer in time. Whether something was done is not known. */
export declare class AbideTimeoutError extends AbideError {
    name: string;
}

/** What every error of this package is. */
export class AbideError extends Error {
    name = "AbideError";
}
/** The server said no, as `application/problem+json`. */
export class AbideProblem extends AbideError {
    name = "AbideProblem";
    /** What kind of no; it never changes its meaning. A server that is newer may know more of them. */
    code;
    /** The status of the answer. */
    status;
    /** What is wrong, for people. */
    detail;
    /** What to do about it, for people. */
    help;
    /** All that the server said, with facts such as `scope` or `capability`. */
    problem;
    constructor(problem) {
        super(problem.help === undefined ? problem.detail : `${problem.detail} (${problem.help})`);
        this.code = problem.code;
        this.status = problem.status;
        this.detail = problem.detail;
        this.help = problem.help;
        this.problem = problem;
    }
}
/** No server answered, or what answered is not abide. Whether something was done is not known. */
export class AbideConnectionError extends AbideError {
    name = "AbideConnectionError";
}
/** There was no answer in time. Whether something was done is not known. */
export class AbideTimeoutError extends AbideError {
    name = "AbideTimeoutError";
}

// Why a call did not do what it was asked for. Programs branch on the class, and of a refusal on its `code`.
import type { Problem } from "./schema.js";

/** What every error of this package is. */
export class AbideError extends Error {
  override name = "AbideError";
}

/** The server said no, as `application/problem+json`. */
export class AbideProblem extends AbideError {
  override name = "AbideProblem";
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

  constructor(problem: Problem) {
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
  override name = "AbideConnectionError";
}

/** There was no answer in time. Whether something was done is not known. */
export class AbideTimeoutError extends AbideError {
  override name = "AbideTimeoutError";
}

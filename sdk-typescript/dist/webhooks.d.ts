import { AbideError } from "./errors.js";
import type { Approval } from "./schema.js";
/** What was not told by the server, or not just now. */
export declare class AbideWebhookError extends AbideError {
    name: string;
}
/** What is said about a run that is over. */
export interface FinishedRun {
    run: string;
    ability: string;
    status: "completed" | "failed" | "cancelled" | "timed_out";
    /** Who started it. */
    by: string;
    error: string | null;
    rerun_of: string | null;
    /** Milliseconds since 1970. */
    created_at: number;
    /** Milliseconds since 1970. */
    finished_at: number;
}
/** What a webhook is told. */
export type WebhookEvent = {
    /** What it is called: take each id once. */
    id: string;
    /** When it happened, in milliseconds since 1970. */
    at: number;
    /** Whether texts in it were cut. */
    cut?: boolean;
} & ({
    type: "approval.requested";
    data: Approval;
} | {
    type: "run.finished";
    data: FinishedRun;
});
/** How a webhook is verified. */
export interface VerifyOptions {
    /** How old or how far ahead it may be, in seconds; 300 if not said. */
    tolerance?: number;
    /** What time it is, in milliseconds since 1970. */
    now?: number;
}
/** The headers of a request: those of `fetch`, or of Node's `http`. */
export type WebhookHeaders = {
    get(name: string): string | null;
} | Record<string, string | string[] | undefined>;
/** Verifies what webhooks are told. */
export declare const webhooks: {
    /** Returns what was told; throws an `AbideWebhookError` if the server did not write it, or not just now. `body` is as it came. */
    verify(secret: string, headers: WebhookHeaders, body: string | Uint8Array, options?: VerifyOptions): Promise<WebhookEvent>;
};

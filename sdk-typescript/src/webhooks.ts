// What a server tells webhooks: whether it wrote it, and whether it is new. Needs nothing but the platform's `crypto`.
import { AbideError } from "./errors.js";
import type { Approval } from "./schema.js";

/** What was not told by the server, or not just now. */
export class AbideWebhookError extends AbideError {
  override name = "AbideWebhookError";
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
} & ({ type: "approval.requested"; data: Approval } | { type: "run.finished"; data: FinishedRun });

/** How a webhook is verified. */
export interface VerifyOptions {
  /** How old or how far ahead it may be, in seconds; 300 if not said. */
  tolerance?: number;
  /** What time it is, in milliseconds since 1970. */
  now?: number;
}

/** The headers of a request: those of `fetch`, or of Node's `http`. */
export type WebhookHeaders = { get(name: string): string | null } | Record<string, string | string[] | undefined>;

const PREFIX = "whsec_";

/** Verifies what webhooks are told. */
export const webhooks = {
  /** Returns what was told; throws an `AbideWebhookError` if the server did not write it, or not just now. `body` is as it came. */
  async verify(secret: string, headers: WebhookHeaders, body: string | Uint8Array, options?: VerifyOptions): Promise<WebhookEvent> {
    const id = header(headers, "webhook-id");
    const timestamp = header(headers, "webhook-timestamp");
    const signatures = header(headers, "webhook-signature").split(" ");
    const age = Math.abs((options?.now ?? Date.now()) / 1000 - Number(timestamp));
    if (!/^\d+$/.test(timestamp) || !(age <= (options?.tolerance ?? 300))) {
      throw new AbideWebhookError("it was not sent just now");
    }
    const encoder = new TextEncoder();
    const bytes = typeof body === "string" ? encoder.encode(body) : body;
    const begin = encoder.encode(`${id}.${timestamp}.`);
    const signed = new Uint8Array(begin.length + bytes.length);
    signed.set(begin);
    signed.set(bytes, begin.length);
    const key = await crypto.subtle.importKey("raw", secretBytes(secret), { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
    for (const signature of signatures) {
      const given = signature.startsWith("v1,") ? decoded(signature.slice(3)) : undefined;
      if (given !== undefined && (await crypto.subtle.verify("HMAC", key, given, signed))) {
        return { ...JSON.parse(new TextDecoder().decode(bytes)), id };
      }
    }
    throw new AbideWebhookError("its signature is not that of the secret");
  },
};

function header(headers: WebhookHeaders, name: string): string {
  const value = typeof headers.get === "function" ? headers.get(name) : (headers as Record<string, string | string[] | undefined>)[name];
  if (typeof value !== "string" || value === "") {
    throw new AbideWebhookError(`it has no ${name}`);
  }
  return value;
}

function secretBytes(secret: string): Uint8Array<ArrayBuffer> {
  const bytes = secret.startsWith(PREFIX) ? decoded(secret.slice(PREFIX.length).trim()) : undefined;
  if (bytes === undefined || bytes.length === 0) {
    throw new AbideWebhookError("the secret is not `whsec_` and Base64");
  }
  return bytes;
}

function decoded(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  } catch {
    return undefined;
  }
}

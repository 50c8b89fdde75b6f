// The files of sessions: byte for byte, and changed only as they were seen.
import { AbideError } from "./errors.js";
import type { Deleted, File, Folder, Matches } from "./schema.js";
import type { Answer, CallOptions, Wire } from "./wire.js";

/** A file or a folder as somebody has seen it. */
export type SeenFile = File & {
  /** Its version: given back with `write`, it is written only if nobody else has changed it since. */
  etag: string | undefined;
};

/** What is in a file, as somebody has seen it. */
export interface Content {
  bytes: Uint8Array;
  /** Its version. */
  etag: string | undefined;
}

/** How a file is written. */
export type WriteOptions = CallOptions & {
  /** The `etag` of the file as it was seen; if somebody else was quicker, the code is `changed`. */
  etag?: string | undefined;
  /** Only if nothing is there, else the code is `changed`. */
  create?: boolean;
  /** It may not be changed from then on. */
  readonly?: boolean;
};

/** How a file or a folder is deleted. */
export type DeleteOptions = CallOptions & {
  /** Whether a folder goes with all that is in it. */
  recursive?: boolean;
  /** The `etag` of a file as it was seen; if somebody else was quicker, the code is `changed`. */
  etag?: string | undefined;
};

/** The files of sessions. */
export class Files {
  readonly #wire: Wire;

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  /** Reads a file, byte for byte. */
  async read(session: string, path: string, options?: CallOptions): Promise<Content> {
    const sent = { path: { session }, query: { path } };
    const answer = await this.#wire.bytes("GET /v1/sessions/{session}/fs", sent, options);
    if (!(answer.headers.get("content-type") ?? "").startsWith("application/octet-stream")) throw new AbideError(`${path} is a folder`);
    return { bytes: answer.value, etag: tag(answer) };
  }

  /** Writes a file and the folders above it. It is sent once: when no answer comes, look at the file. */
  async write(session: string, path: string, content: Uint8Array | string, options: WriteOptions = {}): Promise<SeenFile> {
    const { etag, create, readonly, ...call } = options;
    const headers: Record<string, string> = { ...(etag !== undefined && { "if-match": etag }), ...(create && { "if-none-match": "*" }) };
    const body = typeof content === "string" ? new TextEncoder().encode(content) : content;
    const query = { path, ...(readonly !== undefined && { readonly }) };
    return seen(await this.#wire.call("PUT /v1/sessions/{session}/fs", { path: { session }, query, body, headers }, call));
  }

  /** Lists what is in a folder; the root if none is named. */
  async list(session: string, path = "/", options?: CallOptions): Promise<Folder> {
    const sent = { path: { session }, query: { path, format: "json" } };
    const { value } = await this.#wire.call("GET /v1/sessions/{session}/fs", sent, options);
    if (!("entries" in value)) throw new AbideError(`${path} is a file`);
    return value;
  }

  /** Says what is known about a file or a folder. */
  async stat(session: string, path: string, options?: CallOptions): Promise<SeenFile> {
    return seen(await this.#wire.call("GET /v1/sessions/{session}/fs/stat", { path: { session }, query: { path } }, options));
  }

  /** Moves a file, or a folder with all that is in it, to where nothing is. It is sent once. */
  async move(session: string, from: string, to: string, options?: CallOptions): Promise<SeenFile> {
    return seen(await this.#wire.call("POST /v1/sessions/{session}/fs/move", { path: { session }, body: { from, to } }, options));
  }

  /** Copies a file, or a folder with all that is in it, to where nothing is. It is sent once. */
  async copy(session: string, from: string, to: string, options?: CallOptions): Promise<SeenFile> {
    return seen(await this.#wire.call("POST /v1/sessions/{session}/fs/copy", { path: { session }, body: { from, to } }, options));
  }

  /** Searches files for a regular expression; `only` such as `*.txt` says which. */
  async grep(session: string, pattern: string, only?: string, options?: CallOptions): Promise<Matches> {
    const query = only === undefined ? { pattern } : { pattern, path_pattern: only };
    return (await this.#wire.call("GET /v1/sessions/{session}/fs/grep", { path: { session }, query }, options)).value;
  }

  /** Deletes a file, or a folder: with `recursive`, all that is in it. It is sent once. */
  async delete(session: string, path: string, options: DeleteOptions = {}): Promise<Deleted> {
    const { recursive, etag, ...call } = options;
    const headers: Record<string, string> = { ...(etag !== undefined && { "if-match": etag }) };
    const query = { path, ...(recursive !== undefined && { recursive }) };
    return (await this.#wire.call("DELETE /v1/sessions/{session}/fs", { path: { session }, query, headers }, call)).value;
  }
}

function tag(answer: Answer<unknown>): string | undefined {
  return answer.headers.get("etag") ?? undefined;
}

function seen(answer: Answer<File>): SeenFile {
  return { ...answer.value, etag: tag(answer) };
}

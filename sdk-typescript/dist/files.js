// The files of sessions: byte for byte, and changed only as they were seen.
import { AbideError } from "./errors.js";
/** The files of sessions. */
export class Files {
    #wire;
    constructor(wire) {
        this.#wire = wire;
    }
    /** Reads a file, byte for byte. */
    async read(session, path, options) {
        const sent = { path: { session }, query: { path } };
        const answer = await this.#wire.bytes("GET /v1/sessions/{session}/fs", sent, options);
        if (!(answer.headers.get("content-type") ?? "").startsWith("application/octet-stream"))
            throw new AbideError(`${path} is a folder`);
        return { bytes: answer.value, etag: tag(answer) };
    }
    /** Writes a file and the folders above it. It is sent once: when no answer comes, look at the file. */
    async write(session, path, content, options = {}) {
        const { etag, create, readonly, ...call } = options;
        const headers = { ...(etag !== undefined && { "if-match": etag }), ...(create && { "if-none-match": "*" }) };
        const body = typeof content === "string" ? new TextEncoder().encode(content) : content;
        const query = { path, ...(readonly !== undefined && { readonly }) };
        return seen(await this.#wire.call("PUT /v1/sessions/{session}/fs", { path: { session }, query, body, headers }, call));
    }
    /** Lists what is in a folder; the root if none is named. */
    async list(session, path = "/", options) {
        const sent = { path: { session }, query: { path, format: "json" } };
        const { value } = await this.#wire.call("GET /v1/sessions/{session}/fs", sent, options);
        if (!("entries" in value))
            throw new AbideError(`${path} is a file`);
        return value;
    }
    /** Says what is known about a file or a folder. */
    async stat(session, path, options) {
        return seen(await this.#wire.call("GET /v1/sessions/{session}/fs/stat", { path: { session }, query: { path } }, options));
    }
    /** Moves a file, or a folder with all that is in it, to where nothing is. It is sent once. */
    async move(session, from, to, options) {
        return seen(await this.#wire.call("POST /v1/sessions/{session}/fs/move", { path: { session }, body: { from, to } }, options));
    }
    /** Copies a file, or a folder with all that is in it, to where nothing is. It is sent once. */
    async copy(session, from, to, options) {
        return seen(await this.#wire.call("POST /v1/sessions/{session}/fs/copy", { path: { session }, body: { from, to } }, options));
    }
    /** Searches files for a regular expression; `only` such as `*.txt` says which. */
    async grep(session, pattern, only, options) {
        const query = only === undefined ? { pattern } : { pattern, path_pattern: only };
        return (await this.#wire.call("GET /v1/sessions/{session}/fs/grep", { path: { session }, query }, options)).value;
    }
    /** Deletes a file, or a folder: with `recursive`, all that is in it. It is sent once. */
    async delete(session, path, options = {}) {
        const { recursive, etag, ...call } = options;
        const headers = { ...(etag !== undefined && { "if-match": etag }) };
        const query = { path, ...(recursive !== undefined && { recursive }) };
        return (await this.#wire.call("DELETE /v1/sessions/{session}/fs", { path: { session }, query, headers }, call)).value;
    }
}
function tag(answer) {
    return answer.headers.get("etag") ?? undefined;
}
function seen(answer) {
    return { ...answer.value, etag: tag(answer) };
}

// One request to the server and its answer: the key, the time it may take, and when it is sent again.
import { AbideConnectionError, AbideError, AbideProblem, AbideTimeoutError } from "./errors.js";
/** How long a call may take in all when nothing is said, in milliseconds. */
const TIMEOUT = 30_000;
/** How often a request is sent again when nothing is said. */
const RETRIES = 3;
/** The longest wait before a request is sent again, in milliseconds. */
const LONGEST_WAIT = 10_000;
/** The longest answer that is read whole, in bytes. */
const LONGEST = 64 << 20;
/** Sends requests. */
export class Wire {
    #base;
    #key;
    #fetch;
    #timeout;
    #retries;
    constructor(options) {
        const base = new URL(options.baseUrl);
        if (base.protocol !== "http:" && base.protocol !== "https:")
            throw new TypeError("baseUrl must be http or https");
        if (base.username !== "" || base.password !== "")
            throw new TypeError("a key is given as `key`, and not in baseUrl");
        this.#base = base.origin + base.pathname.replace(/\/+$/, "");
        this.#key = options.key;
        // A browser's fetch wants to be called on its window.
        this.#fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
        this.#timeout = options.timeout ?? TIMEOUT;
        this.#retries = options.retries ?? RETRIES;
    }
    /** Sends a request and reads its answer, again if that may be and could help. */
    async call(operation, sent, options = {}) {
        const answer = await this.text(operation, sent, options);
        return { value: read(answer.value), headers: answer.headers };
    }
    /** The same for an answer that is a text. */
    async text(operation, sent, options = {}) {
        const answer = await this.bytes(operation, sent, options);
        return { value: new TextDecoder().decode(answer.value), headers: answer.headers };
    }
    /** The same for an answer of any kind. */
    async bytes(operation, sent, options = {}) {
        const limit = new Limit(options.signal, options.timeout ?? this.#timeout);
        try {
            for (let tries = 0;; tries++) {
                try {
                    const response = await this.#send(operation, sent, limit);
                    return { value: await whole(response, limit), headers: response.headers };
                }
                catch (error) {
                    const wait = tries < this.#retries ? pause(error, mayAgain(operation, sent), tries) : undefined;
                    if (wait === undefined)
                        throw error;
                    await limit.wait(wait, error);
                }
            }
        }
        finally {
            limit.end();
        }
    }
    /** Sends a request whose answer is read as it comes; only its beginning has to come in time. */
    async open(operation, sent, options = {}) {
        const limit = new Limit(options.signal, options.timeout ?? this.#timeout);
        try {
            const response = await this.#send(operation, sent, limit);
            limit.endless();
            return new Stream(response, limit);
        }
        catch (error) {
            limit.end();
            throw error;
        }
    }
    async #send(operation, sent, limit) {
        const at = this.#base + address(operation, sent.path, sent.query);
        const headers = { accept: "application/json, text/event-stream, */*;q=0.5", ...sent.headers };
        const key = typeof this.#key === "function" ? await limit.race(Promise.resolve(this.#key())) : this.#key;
        if (key !== undefined)
            headers["authorization"] = `Bearer ${key.trim()}`;
        const init = { method: method(operation), headers, signal: limit.signal, redirect: "error", cache: "no-store" };
        if (sent.body !== undefined)
            [headers["content-type"], init.body] = written(sent.body);
        let response;
        try {
            response = await limit.race(this.#fetch(at, init));
        }
        catch (error) {
            throw limit.reason() ?? new AbideConnectionError(`no answer from ${this.#base}: ${told(error)}`, { cause: error });
        }
        if (!response.ok)
            throw await refusal(response, limit);
        return response;
    }
}
/** An answer that is read as it comes. */
export class Stream {
    status;
    #response;
    #limit;
    constructor(response, limit) {
        this.#response = response;
        this.#limit = limit;
        this.status = response.status;
    }
    /** Yields what comes; with `quiet`, it throws when nothing comes for so many milliseconds. */
    async *text(quiet) {
        const reader = this.#response.body?.getReader();
        const decoder = new TextDecoder();
        try {
            for (;;) {
                if (quiet !== undefined)
                    this.#limit.within(quiet);
                const part = await (reader && next(reader, this.#limit));
                // However long the listener takes with it is not the server's silence.
                if (quiet !== undefined)
                    this.#limit.endless();
                if (part === undefined || part.done)
                    break;
                yield decoder.decode(part.value, { stream: true });
            }
            const rest = decoder.decode();
            if (rest !== "")
                yield rest;
        }
        finally {
            this.#limit.end();
            // Whoever stops listening lets the connection go; that it is gone already is no trouble.
            await reader?.cancel().catch(() => { });
        }
    }
    /** Lets it go unread. */
    async close() {
        this.#limit.end();
        await this.#response.body?.cancel().catch(() => { });
    }
}
/** How long a call may take, and who ends it. */
export class Limit {
    #abort = new AbortController();
    #given;
    #onAbort = () => this.#abort.abort(this.#given?.reason);
    #timer;
    constructor(given, timeout) {
        this.#given = given;
        if (given?.aborted)
            this.#onAbort();
        else
            given?.addEventListener("abort", this.#onAbort, { once: true });
        this.within(timeout);
    }
    get signal() {
        return this.#abort.signal;
    }
    /** Gives it so much time from now on. */
    within(timeout) {
        clearTimeout(this.#timer);
        // A timer holds no more than 31 bits; what is longer is as good as without end.
        if (timeout >= 2 ** 31)
            return;
        this.#timer = setTimeout(() => this.#abort.abort(new AbideTimeoutError(`nothing within ${timeout} ms`)), timeout);
    }
    /** Gives it all the time that there is. */
    endless() {
        clearTimeout(this.#timer);
    }
    /** Ends what is still under way. */
    stop() {
        this.end();
        this.#abort.abort();
    }
    end() {
        clearTimeout(this.#timer);
        this.#given?.removeEventListener("abort", this.#onAbort);
    }
    /**
     * Waits for something, and no longer than the call may take. A `fetch` that was given the signal ends by it, too, but not everywhere: Node
     * forgets the signal of an answer that is read for long.
     */
    race(promise) {
        return new Promise((resolve, reject) => {
            const end = () => reject(this.reason());
            this.signal.addEventListener("abort", end, { once: true });
            promise.then(resolve, reject).finally(() => this.signal.removeEventListener("abort", end));
            if (this.signal.aborted)
                end();
        });
    }
    /** Returns why the call is over, if it is. */
    reason() {
        return this.#abort.signal.aborted ? this.#abort.signal.reason : undefined;
    }
    /** Waits; when the time is over, what is thrown is why there was something to wait for, if that is said. */
    async wait(pause, because) {
        await new Promise((resolve) => {
            const done = () => {
                clearTimeout(timer);
                this.signal.removeEventListener("abort", done);
                resolve();
            };
            const timer = setTimeout(done, pause);
            this.signal.addEventListener("abort", done, { once: true });
            if (this.signal.aborted)
                done();
        });
        const reason = this.reason();
        if (reason !== undefined)
            throw reason instanceof AbideTimeoutError ? (because ?? reason) : reason;
    }
}
function method(operation) {
    return operation.slice(0, operation.indexOf(" "));
}
function mayAgain(operation, sent) {
    return sent.again ?? method(operation) === "GET";
}
/** Returns how long to wait before an error is tried away, or nothing if that could do harm or no good. */
export function pause(error, again, tries) {
    const grown = Math.min(LONGEST_WAIT, 200 * 2 ** tries) * (0.5 + Math.random() / 2);
    if (error instanceof AbideProblem) {
        const asked = RETRY_AFTER.get(error);
        // Nothing was done for a caller who was too quick, whatever it was.
        if (error.status === 429)
            return Math.min(LONGEST_WAIT, asked ?? grown);
        return again && [408, 502, 503, 504].includes(error.status) ? Math.min(LONGEST_WAIT, asked ?? grown) : undefined;
    }
    return again && error instanceof AbideConnectionError ? grown : undefined;
}
/** What a refusal said about when to come again, in milliseconds. */
const RETRY_AFTER = new WeakMap();
function address(operation, path, query) {
    const parts = (path ?? {});
    const at = operation.slice(operation.indexOf(" ") + 1).replace(/\{(\w+)\}/g, (_, name) => {
        const value = parts[name];
        // `.` and `..` would be taken for parts of the address, in every spelling.
        if (typeof value !== "string" || value === "" || value === "." || value === "..")
            throw new TypeError(`${name} is not a name: ${value}`);
        return encodeURIComponent(value);
    });
    const asked = new URLSearchParams();
    for (const [name, value] of Object.entries(query ?? {}))
        if (value !== undefined && value !== null)
            asked.set(name, String(value));
    const text = asked.toString();
    return text === "" ? at : `${at}?${text}`;
}
async function refusal(response, limit) {
    const kind = response.headers.get("content-type") ?? "";
    const text = new TextDecoder().decode(await whole(response, limit));
    if (!kind.startsWith("application/problem+json")) {
        return other(response.status, `what answered is not abide: status ${response.status}`);
    }
    const problem = new AbideProblem(read(text));
    const after = Number(response.headers.get("retry-after") ?? Number.NaN);
    if (Number.isFinite(after) && after >= 0)
        RETRY_AFTER.set(problem, after * 1000);
    return problem;
}
/** What a proxy says in front of a server that is gone is the same as no answer. */
function other(status, text) {
    return status >= 502 && status <= 504 ? new AbideConnectionError(text) : new AbideError(text);
}
/** Returns what kind of body it is, and the body: bytes are a file, a text is Markdown, everything else is JSON. */
function written(body) {
    if (body instanceof Uint8Array)
        return ["application/octet-stream", body];
    if (typeof body === "string")
        return ["text/markdown", body];
    return ["application/json", JSON.stringify(body)];
}
async function whole(response, limit) {
    const reader = response.body?.getReader();
    const parts = [];
    let size = 0;
    for (;;) {
        const part = await (reader && next(reader, limit));
        if (part === undefined || part.done)
            return joined(parts, size);
        size += part.value.byteLength;
        if (size > LONGEST) {
            await reader?.cancel().catch(() => { });
            throw new AbideError(`the answer is longer than ${LONGEST} bytes`);
        }
        parts.push(part.value);
    }
}
function joined(parts, size) {
    const all = new Uint8Array(size);
    let at = 0;
    for (const part of parts) {
        all.set(part, at);
        at += part.byteLength;
    }
    return all;
}
/** Reads the next part of an answer, in time. */
async function next(reader, limit) {
    try {
        return await limit.race(reader.read());
    }
    catch (error) {
        // Nobody reads on.
        void reader.cancel().catch(() => { });
        throw limit.reason() ?? new AbideConnectionError(`the answer broke off: ${told(error)}`, { cause: error });
    }
}
function read(text) {
    try {
        return JSON.parse(text);
    }
    catch {
        throw new AbideError("what answered is not abide: the answer is no JSON");
    }
}
/** Returns a name that nobody has given yet; `randomUUID` is missing on pages without TLS. */
export function once() {
    return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
function told(error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return cause instanceof Error ? cause.message || cause.name : String(cause);
}

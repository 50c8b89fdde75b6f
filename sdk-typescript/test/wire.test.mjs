// What no real server does on demand: answers that are slow, cut, wrong or too many.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Parser } from "../dist/events.js";
import { Abide, AbideConnectionError, AbideError, AbideProblem, AbideTimeoutError, Pages } from "../dist/index.js";

const problem = (status, code, headers = {}) =>
  new Response(JSON.stringify({ type: "", title: "", status, code, detail: code }), {
    status,
    headers: { "content-type": "application/problem+json", ...headers },
  });
const json = (value, status = 200) => new Response(JSON.stringify(value), { status, headers: { "content-type": "application/json" } });

/** A client whose requests are answered by functions, one after the other; the last one answers the rest. */
function scripted(answers, options = {}) {
  const asked = [];
  const fetch = async (url, init) => {
    asked.push({ url, ...init });
    return answers[Math.min(asked.length, answers.length) - 1](init);
  };
  return { asked, abide: new Abide({ baseUrl: "http://abide.test/at/", fetch, ...options }) };
}

const lost = () => {
  throw new TypeError("fetch failed", { cause: new Error("connection reset") });
};

test("what a platform needs is a fetch: address, key and body are sent as the server reads them", async () => {
  const { asked, abide } = scripted([() => json({ run: "r", status: "running" }, 201)], { key: " abide_a_b\n" });
  await abide.abilities.execute({ name: "a/b", inputs: { x: 1 } });
  await abide.abilities.get("a/b c?");
  assert.equal(asked[0].url, "http://abide.test/at/v1/runs");
  assert.equal(asked[1].url, "http://abide.test/at/v1/abilities/a%2Fb%20c%3F");
  assert.equal(asked[0].headers.authorization, "Bearer abide_a_b");
  assert.equal(asked[0].headers["content-type"], "application/json");
  assert.match(asked[0].headers["idempotency-key"], /^[0-9a-f]{32}$/);
  assert.deepEqual(JSON.parse(asked[0].body), { ability: "a/b", inputs: { x: 1 } });
  assert.equal(asked[0].redirect, "error", "a key goes to no other server");
});

test("a name cannot lead to another address, and a server is named without a password", async () => {
  const { asked, abide } = scripted([() => json({})]);
  for (const name of ["", ".", ".."]) await assert.rejects(abide.abilities.get(name), TypeError);
  assert.equal(asked.length, 0);
  for (const baseUrl of ["file:///etc", "http://user:key@host", "nothing"]) assert.throws(() => new Abide({ baseUrl }), TypeError);
});

test("what can be asked again is asked again, with the same name, and no more often than said", async () => {
  const { asked, abide } = scripted([lost, () => problem(503, "unavailable"), () => json({ run: "r" }, 201)]);
  await abide.abilities.execute({ name: "a" });
  assert.equal(new Set(asked.map((each) => each.headers["idempotency-key"])).size, 1);
  assert.equal(asked.length, 3);
  const never = scripted([lost], { retries: 2 });
  await assert.rejects(never.abide.abilities.list(), (error) => error instanceof AbideConnectionError && /connection reset/.test(error.message));
  assert.equal(never.asked.length, 3);
});

test("an answer or a change is not sent twice, unless nothing was done", async () => {
  const cut = scripted([lost]);
  await assert.rejects(cut.abide.approvals.answer("r", { answer: "approved" }), AbideConnectionError);
  await assert.rejects(cut.abide.agents.update("a", {}), AbideConnectionError);
  await assert.rejects(cut.abide.keys.create({ name: "x", scopes: ["read"] }), AbideConnectionError);
  assert.equal(cut.asked.length, 3);
  const busy = scripted([() => problem(429, "too_many", { "retry-after": "0" }), () => json({ run: "r" })]);
  await busy.abide.approvals.answer("r", { answer: "approved" });
  assert.equal(busy.asked.length, 2);
  const failed = scripted([() => problem(500, "internal")]);
  await assert.rejects(failed.abide.abilities.list(), { code: "internal" });
  assert.equal(failed.asked.length, 1, "a server that failed fails again");
});

test("a call takes no longer than it may, whatever hangs", async () => {
  const hang = (init) => new Promise((_, reject) => init.signal.addEventListener("abort", () => reject(init.signal.reason)));
  const started = Date.now();
  await assert.rejects(scripted([hang], { timeout: 50 }).abide.abilities.list(), AbideTimeoutError);
  await assert.rejects(scripted([lost], { timeout: 50, retries: 100 }).abide.abilities.list(), AbideConnectionError);
  const reason = new Error("enough");
  const abort = new AbortController();
  setTimeout(() => abort.abort(reason), 20);
  await assert.rejects(scripted([hang]).abide.abilities.list({ signal: abort.signal }), (error) => error === reason);
  // An answer whose signal is forgotten, as Node does after a while, is left all the same.
  const endless = () => new Response(new ReadableStream({ start: (it) => it.enqueue(new TextEncoder().encode("[")) }), { status: 200 });
  await assert.rejects(scripted([endless], { timeout: 50 }).abide.abilities.list(), AbideTimeoutError);
  const follow = async (abide, signal) => {
    for await (const _ of abide.runs.stream("r", { signal })) assert.fail();
  };
  await assert.rejects(follow(scripted([endless]).abide, AbortSignal.timeout(50)), { name: "TimeoutError" });
  await assert.rejects(scripted([() => json({})], { key: () => new Promise(() => {}), timeout: 50 }).abide.abilities.list(), AbideTimeoutError);
  assert.ok(Date.now() - started < 5_000);
});

test("what is not abide is said to be none", async () => {
  const page = () => new Response("<html>", { status: 200 });
  await assert.rejects(scripted([page]).abide.abilities.list(), (error) => error instanceof AbideError && /not abide/.test(error.message));
  const gone = () => new Response("bad gateway", { status: 502 });
  await assert.rejects(scripted([gone], { retries: 0 }).abide.abilities.list(), AbideConnectionError);
  const missing = () => new Response("no", { status: 404 });
  await assert.rejects(scripted([missing]).abide.abilities.list(), (error) => !(error instanceof AbideProblem) && /status 404/.test(error.message));
});

const events = (...parts) => () =>
  new Response(new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(new TextEncoder().encode(part));
      controller.close();
    },
  }), { status: 200, headers: { "content-type": "text/event-stream" } });

test("a stream goes on after the last event that it has, and gives none twice", async () => {
  const one = 'id: 1\nevent: a\ndata: {"seq":1}\n\n';
  const two = 'id: 2\nevent: b\ndata: {"seq":2}\n\n';
  const { asked, abide } = scripted([
    events(one, "id: 2\nda"),
    lost,
    events(one, ": still here\n\n", two, 'event: end\ndata: {"status":"completed"}\n\n'),
  ]);
  const told = [];
  for await (const event of abide.runs.stream("r")) told.push(event.seq);
  assert.deepEqual(told, [1, 2]);
  assert.deepEqual(asked.map((each) => each.headers["last-event-id"]), [undefined, "1", "1"]);
});

test("a stream that never says anything is given up, and one that may not be read at once", async () => {
  const silent = scripted([events()]);
  const read = async (abide) => {
    for await (const _ of abide.runs.stream("r", { reconnects: 2 })) assert.fail();
  };
  await assert.rejects(read(silent.abide), AbideConnectionError);
  assert.equal(silent.asked.length, 3);
  const closed = scripted([() => problem(401, "wrong_key")]);
  await assert.rejects(read(closed.abide), { code: "wrong_key" });
  assert.equal(closed.asked.length, 1);
});

test("events are the same however they are cut", () => {
  const text = 'id: 7\r\nevent: step.started\r\ndata: {"a":\r\ndata: 1}\r\n\r\n: comment\n\nretry: 5\ndata:x\n\nevent: no data\n\n';
  const expected = [
    { id: "7", event: "step.started", data: '{"a":\n1}' },
    { id: undefined, event: "message", data: "x" },
  ];
  for (let size = 1; size <= text.length; size++) {
    const parser = new Parser();
    const found = [];
    for (let at = 0; at < text.length; at += size) found.push(...parser.push(text.slice(at, at + size)));
    assert.deepEqual(found, expected, `in parts of ${size}`);
  }
  assert.throws(() => {
    const parser = new Parser();
    for (let count = 0; count < 40; count++) [...parser.push("x".repeat(1 << 20))];
  }, /longer than/);
});

test("a page that is empty may have a next one, and one that leads to itself ends", async () => {
  const pages = { start: { items: [], next: "a" }, a: { items: [1], next: "b" }, b: { items: [2], next: "b" } };
  assert.deepEqual(await new Pages(async (after) => pages[after ?? "start"]).all(), [1, 2]);
});

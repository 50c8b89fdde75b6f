// The client against a real `abide serve`.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Abide, AbideConnectionError, AbideProblem, AbideTimeoutError, createAbilitiesSDK } from "../dist/index.js";
import { RELEASE, proxy, stage } from "./stage.mjs";

const SLOW = "description: Takes its time\nsteps:\n  - id: write\n    run: for i in 1 2 3 4 5 6; do echo line $i; sleep 0.2; done\n  - id: rest\n    run: sleep 0.2\n    needs: [write]\n  - id: more\n    run: sleep 0.2\n    needs: [rest]\n";
const QUICK = "description: Is done at once\nsteps:\n  - id: only\n    run: echo done\n";
const BROKEN = "description: Fails\nsteps:\n  - id: only\n    run: exit 3\n";
let server;
let abide; // without a key
let human; // may approve
let admin;

before(async () => {
  server = await stage({ "team/release": RELEASE, slow: SLOW, quick: QUICK, broken: BROKEN }, ["--rate", "0"]);
  abide = new Abide({ baseUrl: server.url });
  human = new Abide({ baseUrl: `${server.url}/`, key: server.key("ada", "run,approve") });
  const key = server.key("root", "admin");
  admin = new Abide({ baseUrl: server.url, key: async () => key });
});
after(() => server?.end());

const release = (client = abide, more = {}) => client.abilities.execute({ name: "team/release", inputs: { version: "v1" }, ...more });

test("an ability is listed, shown, checked and planned", async () => {
  const listed = await abide.abilities.list();
  assert.deepEqual(listed.map((each) => [each.name, each.status]).sort(), [
    ["broken", "usable"], ["quick", "usable"], ["slow", "usable"], ["team/release", "usable"],
  ]);
  const shown = await abide.abilities.get("team/release");
  assert.equal(shown.definition.description, "Releases a version");
  assert.deepEqual((await abide.abilities.validate("team/release")).files[0].problems ?? [], []);
  assert.equal((await abide.abilities.graph("team/release")).steps.length, 3);
  const plan = await abide.abilities.plan({ name: "team/release", inputs: { version: "v1" } });
  assert.equal(plan.ability, "team/release");
  assert.equal((await abide.version()).name, "abide");
});

test("an execution is started, waits for a human with another key, and is waited for", async () => {
  const sdk = createAbilitiesSDK({ baseUrl: server.url });
  const result = await release(sdk);
  assert.equal(result.executionId, result.run);
  const asked = await sdk.abilities.waitFor(result.executionId, { until: ["waiting"], timeout: 20_000 });
  assert.equal(asked.status, "waiting");
  assert.equal((await sdk.abilities.status(result.executionId)).questions[0].prompt, "Ship it?");
  const mine = (await human.approvals.list().all()).filter((each) => each.run === result.run);
  assert.deepEqual(mine.map((each) => [each.kind, each.step, each.started_by]), [["approval", "ask", "loopback"]]);
  const refused = await sdk.approvals.answer(result.run, { step: "ask", answer: "approved" }).catch((error) => error);
  assert.ok(refused instanceof AbideProblem);
  assert.deepEqual([refused.code, refused.status, refused.problem.scope], ["no_scope", 403, "approve"]);
  const waiting = sdk.abilities.waitFor(result.executionId, { timeout: 20_000 });
  const answered = await human.approvals.answer(result.run, { step: "ask", answer: "approved", comment: "good" });
  assert.equal(answered.by, "ada");
  const final = await waiting;
  assert.deepEqual([final.status, final.executionId], ["completed", result.executionId]);
  assert.equal((await sdk.abilities.waitFor(result.executionId)).status, "completed", "one that is over is not waited for");
});

test("one that fails is over, too", async () => {
  const { executionId } = await abide.abilities.execute({ name: "broken" });
  assert.equal((await abide.abilities.waitFor(executionId, { timeout: 20_000 })).status, "failed");
});

test("whoever waits may stop waiting", async () => {
  const { executionId } = await release();
  const late = await abide.abilities.waitFor(executionId, { timeout: 300 }).catch((error) => error);
  assert.ok(late instanceof AbideTimeoutError, String(late));
  const reason = new Error("enough");
  const ended = await abide.abilities.waitFor(executionId, { signal: AbortSignal.timeout(100) }).catch((error) => error);
  assert.equal(ended.name, "TimeoutError");
  await assert.rejects(abide.runs.get(executionId, { signal: AbortSignal.abort(reason) }), (error) => error === reason);
  await assert.rejects(abide.abilities.cancel(executionId), { code: "not_yours", status: 403 });
  const cancelled = await human.abilities.cancel(executionId, "no time");
  assert.ok(["running", "waiting", "cancelled"].includes(cancelled.status));
  assert.equal((await abide.abilities.waitFor(executionId, { timeout: 20_000 })).status, "cancelled");
});

test("problems have their code, their detail and what helps", async () => {
  await assert.rejects(abide.abilities.get("nothing"), { name: "AbideProblem", code: "not_found", status: 404 });
  await assert.rejects(abide.abilities.execute({ name: "team/release", inputs: { version: "x" } }), { code: "invalid", status: 422 });
  await assert.rejects(abide.keys.list().all(), (error) => error.code === "no_scope" && error.help.includes("abide key create"));
  const wrong = new Abide({ baseUrl: server.url, key: "abide_x_y" });
  await assert.rejects(wrong.abilities.list(), { code: "wrong_key", status: 401 });
  const nobody = new Abide({ baseUrl: "http://127.0.0.1:9", retries: 0 });
  await assert.rejects(nobody.abilities.list(), (error) => error instanceof AbideConnectionError);
});

test("events are listed page by page, and streamed each once although the connection breaks off", async () => {
  const cutting = await proxy(server.url, (count) => (count < 4 ? 500 : undefined));
  try {
    const through = new Abide({ baseUrl: cutting.url });
    const { run } = await abide.abilities.execute({ name: "slow" });
    const told = [];
    for await (const event of through.runs.stream(run, { signal: AbortSignal.timeout(30_000) })) told.push(event);
    const listed = await abide.runs.events(run, { limit: 2 }).all();
    assert.deepEqual(told, listed);
    assert.deepEqual(told.map((event) => event.seq), told.map((_, index) => index + 1));
    assert.ok(cutting.connections() >= 3, `it broke off: ${cutting.connections()}`);
    assert.deepEqual((await abide.runs.events(run, { limit: 2 }).page()).items.length, 2);
    const rest = [];
    for await (const event of abide.runs.stream(run, { after: 2 })) rest.push(event.seq);
    assert.deepEqual(rest, listed.slice(2).map((event) => event.seq));
    for await (const _ of abide.runs.stream(run, { after: listed.length })) assert.fail("all is told");
  } finally {
    await cutting.end();
  }
});

test("a stream outlives its server", async () => {
  const { run } = await release();
  await abide.runs.waitFor(run, { until: ["waiting"], timeout: 20_000 });
  const told = (async () => {
    const types = [];
    for await (const event of abide.runs.stream(run, { signal: AbortSignal.timeout(30_000) })) types.push(event.type);
    return types;
  })();
  await server.stop("SIGKILL");
  await server.restart();
  await human.approvals.answer(run, { step: "ask", answer: "approved" });
  const types = await told;
  assert.equal(types.at(-1), "run.finished");
  assert.equal(types.filter((type) => type === "question.answered").length, 1);
});

test("an answer that is lost does not start a second run", async () => {
  const losing = await proxy(server.url, (count) => count <= 2);
  try {
    const before = (await abide.runs.list({ ability: "quick" }).all()).length;
    const { run } = await new Abide({ baseUrl: losing.url }).abilities.execute({ name: "quick" });
    assert.equal(losing.connections(), 3);
    const runs = await abide.runs.list({ ability: "quick" }).all();
    assert.deepEqual([runs.length, runs[0].run], [before + 1, run]);
  } finally {
    await losing.end();
  }
});

test("what could be done twice is sent once", async () => {
  const losing = await proxy(server.url, () => true);
  try {
    const { run } = await release();
    const client = new Abide({ baseUrl: losing.url, key: server.key("bea", "run,approve") });
    await assert.rejects(client.runs.cancel(run), AbideConnectionError);
    assert.equal(losing.connections(), 1);
    assert.equal((await abide.runs.waitFor(run, { timeout: 20_000 })).status, "cancelled", "it was done all the same");
  } finally {
    await losing.end();
  }
});

test("a start can be given a name of its own", async () => {
  const first = await abide.abilities.execute({ name: "quick", idempotencyKey: "once" });
  const second = await abide.abilities.execute({ name: "quick", idempotencyKey: "once" });
  assert.equal(first.run, second.run);
  await assert.rejects(release(abide, { idempotencyKey: "once" }), { code: "reused" });
});

test("lists are read page by page and can be left early", async () => {
  for (let index = 0; index < 5; index++) await abide.abilities.execute({ name: "quick" });
  const seen = new Set();
  for await (const run of abide.runs.list({ limit: 2, ability: "quick" })) seen.add(run.run);
  assert.ok(seen.size >= 5);
  for await (const run of abide.runs.list({ limit: 1 })) {
    assert.ok(run.run);
    break;
  }
  const page = await abide.runs.list({ limit: 1 }).page();
  assert.equal(page.items.length, 1);
  assert.notDeepEqual((await abide.runs.list({ limit: 1 }).page(page.next)).items, page.items);
});

test("logs are told as they are written", async () => {
  const { run } = await abide.abilities.execute({ name: "slow" });
  let [text, parts] = ["", 0];
  for await (const part of abide.runs.logs(run, { follow: true })) [text, parts] = [text + part, parts + 1];
  assert.equal(text, "line 1\nline 2\nline 3\nline 4\nline 5\nline 6\n");
  assert.ok(parts > 1, "not all at the end");
  let only = "";
  for await (const part of abide.runs.logs(run, { step: "write", channel: "stderr" })) only += part;
  assert.equal(only, "");
  await assert.rejects(abide.runs.logs(run, { step: "nothing" }).next(), { code: "not_found" });
});

test("agents are made, and changed only as they were seen", async () => {
  const { items, total } = await abide.capabilities.list();
  assert.equal(items.length, total);
  assert.equal((await abide.capabilities.get(items[0].id)).id, items[0].id);
  const made = await admin.agents.create({ name: "Ada", system_prompt: "You are Ada.", capabilities: [] });
  const seen = await admin.agents.get(made.id);
  assert.ok(seen.etag);
  const changed = await admin.agents.update(made.id, { name: "Bea" }, { etag: seen.etag });
  assert.notEqual(changed.etag, seen.etag);
  await assert.rejects(admin.agents.update(made.id, { name: "Cyd" }, { etag: seen.etag }), { code: "changed", status: 412 });
  const files = (file_bytes) => [{ id: "session_file_system", configuration: { file_bytes } }, "noop"];
  const limited = await admin.agents.update(made.id, { capabilities: files(5) });
  assert.deepEqual(limited.capabilities, ["session_file_system", "noop"]);
  assert.deepEqual(limited.configuration, { session_file_system: { file_bytes: 5 } });
  const none = await admin.agents.update(made.id, { capabilities: files(0) }).catch((error) => error);
  assert.deepEqual([none.code, none.problem.capability], ["capability", "session_file_system"]);
  const unknown = await admin.agents.create({ name: "X", capabilities: ["nothing"] }).catch((error) => error);
  assert.deepEqual([unknown.code, unknown.problem.capability], ["capability", "nothing"]);
  assert.equal((await admin.agents.archive(made.id)).status, "archived");
  assert.deepEqual((await admin.agents.list({ status: "archived" }).all()).map((each) => each.name), ["Bea"]);
});

test("keys are made and revoked", async () => {
  const made = await admin.keys.create({ name: "ci", scopes: ["read"] });
  const ci = new Abide({ baseUrl: server.url, key: made.key });
  await ci.version();
  assert.ok((await admin.keys.revoke(made.id)).revoked_at);
  await assert.rejects(ci.version(), { code: "wrong_key" });
  assert.ok((await admin.keys.list({ limit: 1 }).all()).some((key) => key.id === made.id));
});

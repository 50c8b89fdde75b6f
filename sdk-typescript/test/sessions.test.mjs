// Sessions against a real `abide serve` and a model that says what a script says.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Abide, AbideError, AbideTimeoutError, isTurnOver } from "../dist/index.js";
import { DEPLOY, proxy, stage } from "./stage.mjs";

const LONG = "Once upon a time there was a plan — and it had steps, which were done one after the other, each with its evidence: über alles.";
const slow = (text, time = "40ms") => ({ text, fault: { slow: time } });

/** Does something with a server whose model says these turns, and with a session of an agent. */
async function talking(turns, what, more = {}) {
  const { capabilities = ["session_file_system"], ...rest } = more;
  const server = await stage({}, ["--rate", "0"], { turns, ...rest });
  try {
    const admin = new Abide({ baseUrl: server.url, key: server.key("root", "admin") });
    const agent = await admin.agents.create({ name: "Ada", system_prompt: "You are Ada.", capabilities });
    const abide = new Abide({ baseUrl: server.url });
    const session = (await abide.sessions.create({ agent: agent.id, title: "a talk" })).id;
    await what({ server, admin, abide, agent, session });
  } finally {
    await server.end();
  }
}

/** Listens until something is told, and returns all that was. */
async function heard(told, enough) {
  const all = [];
  for await (const each of told) {
    all.push(each);
    if (await enough(each)) break;
  }
  return all;
}

const text = (told) => told.filter((each) => each.type === "delta").map((each) => each.text).join("");
const events = (told) => told.filter((each) => each.type === "event").map((each) => each.event);
const ended = (each) => each.type === "event" && each.event.type === "turn.ended";

test("sessions are made, listed, called something and removed", async () => {
  await talking([], async ({ abide, agent, session }) => {
    const other = await abide.agents.createSession(agent.id);
    assert.equal(other.title, null);
    assert.deepEqual((await abide.sessions.list({ limit: 1 }).all()).map((each) => each.id), [session, other.id]);
    assert.deepEqual((await abide.agents.sessions(agent.id).all()).map((each) => each.id), [session, other.id]);
    assert.equal((await abide.sessions.list({ agent: "nobody" }).all()).length, 0);
    assert.equal((await abide.sessions.rename(session, "else")).title, "else");
    const shown = await abide.sessions.get(session);
    assert.deepEqual([shown.title, shown.status, shown.turn, shown.open, shown.events], ["else", "idle", null, 0, 0]);
    await abide.sessions.remove(session);
    await assert.rejects(abide.sessions.get(session), { code: "not_found" });
    await assert.rejects(heard(abide.sessions.stream(session), () => true), { code: "not_found" });
    await assert.rejects(abide.sessions.ask(session, "anybody?"), { code: "not_found" });
  });
});

test("an agent is asked, and its words are told as they come, of this turn alone", async () => {
  await talking(["one", slow(LONG), "three"], async ({ abide, session }) => {
    const first = await abide.sessions.ask(session, "first");
    assert.deepEqual([first.turn.status, first.turn.answer, first.text], ["finished", "one", "first"]);
    const told = await heard(abide.sessions.talk(session, { text: "second" }), () => false);
    assert.equal(text(told), LONG);
    assert.ok(told.filter((each) => each.type === "delta").length > 5, "as they come");
    assert.deepEqual(events(told).map((event) => event.type), ["message.told", "model.asked", "model.answered", "turn.ended"]);
    const over = told.at(-1);
    assert.deepEqual([over.type, over.message.turn.answer, over.message.number], ["over", LONG, 2]);
    await abide.sessions.ask(session, "third");
    const said = await abide.sessions.messages(session, { limit: 2 }).all();
    assert.deepEqual(said.map((each) => [each.number, each.text, each.turn.answer]), [[1, "first", "one"], [2, "second", LONG], [3, "third", "three"]]);
    assert.deepEqual((await abide.sessions.messages(session, { after: 1, limit: 1 }).all()).map((each) => each.number), [2, 3]);
    const all = await abide.sessions.events(session, { limit: 3 }).all();
    assert.deepEqual(all.map((event) => event.seq), all.map((_, index) => index + 1));
    assert.equal((await abide.sessions.get(session)).events, all.length);
    // Whoever comes late is told every answer as a whole, once.
    let turns = 0;
    const late = await heard(abide.sessions.stream(session), (each) => ended(each) && ++turns === 3);
    assert.equal(text(late), `one${LONG}three`);
    assert.deepEqual(events(late), all);
  });
});

test("a stream that is cut goes on, and neither an event nor a word is lost or doubled", async () => {
  await talking([slow(LONG), slow(LONG)], async ({ server, abide, session }) => {
    const between = await proxy(server.url, () => undefined);
    try {
      const through = new Abide({ baseUrl: between.url });
      let cuts = 0;
      const cut = (each) => {
        if (each.type === "delta" && cuts < 2) [cuts] = [cuts + 1, between.drop()];
        return ended(each);
      };
      const stream = heard(through.sessions.stream(session, { signal: AbortSignal.timeout(30_000) }), cut);
      const said = await abide.sessions.send(session, "go on");
      const told = await stream;
      assert.equal(text(told), LONG);
      assert.ok(!told.some((each) => each.type === "again"));
      assert.deepEqual(events(told), await abide.sessions.events(session).all());
      assert.ok(cuts >= 1 && between.connections() >= 2, `it was cut: ${cuts}, ${between.connections()}`);
      assert.equal((await abide.sessions.waitFor(session, said.id)).turn.answer, LONG);
      cuts = 0;
      const talk = await heard(through.sessions.talk(session, "once more", { timeout: 30_000 }), (each) => void cut(each));
      assert.equal(text(talk), LONG);
      assert.equal(talk.at(-1).message.turn.answer, LONG);
    } finally {
      await between.end();
    }
  });
});

test("whoever listens from the middle of an answer on is told all of it", async () => {
  await talking([slow(LONG)], async ({ abide, session }) => {
    const first = abide.sessions.stream(session);
    const sent = await abide.sessions.send(session, "tell");
    await heard(first, (each) => each.type === "delta");
    const { events: known, turn } = await abide.sessions.get(session);
    assert.equal(turn, sent.id);
    const told = await heard(abide.sessions.stream(session, { after: known }), ended);
    assert.equal(text(told), LONG);
    assert.deepEqual(events(told).map((event) => event.seq), [known + 1, known + 2]);
  });
});

test("a talk outlives its server, and what was begun again is said to be", async () => {
  await talking([slow(LONG, "100ms"), "Something else."], async ({ server, abide, session }) => {
    let killed;
    const told = await heard(abide.sessions.talk(session, "tell", { timeout: 60_000 }), (each) => {
      if (each.type === "delta") killed ??= server.stop("SIGKILL").then(() => server.restart());
    });
    await killed;
    const again = told.findIndex((each) => each.type === "again");
    assert.ok(again > 0, "it was begun again");
    assert.equal(text(told.slice(0, again)), told[again].text);
    assert.equal(text(told.slice(again)), "Something else.");
    assert.equal(told.at(-1).message.turn.answer, "Something else.");
    assert.equal(events(told).filter((event) => event.type === "turn.ended").length, 1);
  });
});

test("a message whose answer is lost is one message", async () => {
  await talking(["heard", "heard"], async ({ server, abide, session }) => {
    const losing = await proxy(server.url, (count) => count <= 2);
    try {
      const sent = await new Abide({ baseUrl: losing.url }).sessions.send(session, "hello");
      assert.equal(losing.connections(), 3);
      assert.equal((await abide.sessions.waitFor(session, sent.id, { timeout: 20_000 })).turn.answer, "heard");
      assert.deepEqual((await abide.sessions.messages(session).all()).map((each) => each.id), [sent.id]);
    } finally {
      await losing.end();
    }
    const named = { text: "again", idempotencyKey: "question-1" };
    const [one, two] = [await abide.sessions.send(session, named), await abide.sessions.send(session, named)];
    assert.equal(one.id, two.id);
    await assert.rejects(abide.sessions.send(session, { ...named, text: "else" }), { code: "reused" });
  });
});

test("a message in the middle of a turn waits, interrupts or is refused", async () => {
  await talking([slow(LONG, "500ms"), "now", "queued", slow(LONG, "500ms")], async ({ abide, session }) => {
    const told = abide.sessions.stream(session);
    const first = await abide.sessions.send(session, "first");
    await heard(told, (each) => each.type === "delta");
    const queued = await abide.sessions.send(session, "queued");
    await assert.rejects(abide.sessions.send(session, { text: "no", when_busy: "refuse" }), { code: "refused", status: 409 });
    const now = await abide.sessions.ask(session, { text: "now", when_busy: "interrupt" }, { timeout: 20_000 });
    assert.equal(now.turn.answer, "now");
    assert.equal((await abide.sessions.waitFor(session, queued.id, { timeout: 20_000 })).turn.answer, "queued");
    assert.equal((await abide.sessions.message(session, first.id)).turn.status, "cancelled");
    const { events: known } = await abide.sessions.get(session);
    const long = await abide.sessions.send(session, "long");
    await heard(abide.sessions.stream(session, { after: known }), (each) => each.type === "delta");
    await assert.rejects(abide.sessions.waitFor(session, long.id, { timeout: 300 }), AbideTimeoutError);
    const reason = new Error("enough");
    const abort = new AbortController();
    const waiting = abide.sessions.waitFor(session, long.id, { signal: abort.signal });
    abort.abort(reason);
    await assert.rejects(waiting, (error) => error === reason);
    const rest = await abide.sessions.send(session, "rest");
    const cancelled = await abide.sessions.cancel(session, { queued: true });
    assert.deepEqual(cancelled.map((each) => each.id).sort(), [long.id, rest.id].sort());
    for (const { id } of cancelled) {
      const over = await abide.sessions.waitFor(session, id, { timeout: 20_000 });
      assert.deepEqual([over.turn.status, isTurnOver(over)], ["cancelled", true]);
    }
  });
});

test("a call that needs a human's yes is answered with another key", async () => {
  const call = { call: { tool: "deploy", arguments: { version: "v1" } } };
  const more = { capabilities: ["ship"], files: { ".abide/capabilities/ship.yaml": DEPLOY }, trusted: ["ship"] };
  await talking([call, "it is deployed", call, "it is not"], async ({ server, abide, session }) => {
    const ada = new Abide({ baseUrl: server.url, key: server.key("ada", "read,approve") });
    const decide = async (answer) => {
      const told = await heard(abide.sessions.talk(session, "deploy it", { timeout: 30_000 }), async (each) => {
        if (each.type !== "event" || each.event.type !== "tool.decided" || each.event.data.decision !== "asked") return;
        let asked = [];
        while (asked.length === 0) asked = (await ada.approvals.list().all()).filter((one) => one.session === session);
        const [one] = asked;
        assert.deepEqual([one.kind, one.tool, one.arguments, one.run], ["tool", "deploy", { version: "v1" }, null]);
        await assert.rejects(abide.approvals.answer(one.id, { answer }), { code: "no_scope" });
        const answered = await ada.approvals.answer(one.id, { answer, comment: "by hand" });
        assert.deepEqual([answered.by, answered.status], ["ada", answer]);
      });
      return { told, answer: told.at(-1).message.turn.answer };
    };
    const yes = await decide("approved");
    assert.equal(yes.answer, "it is deployed");
    const confirmed = events(yes.told).find((event) => event.data.decision === "confirmed");
    assert.equal(confirmed.data.by, "ada");
    assert.match(JSON.stringify(events(yes.told)), /deployed v1/);
    const no = await decide("rejected");
    assert.equal(no.answer, "it is not");
    assert.equal(events(no.told).find((event) => event.data.decision === "denied").data.decision, "denied");
    assert.doesNotMatch(JSON.stringify(events(no.told)), /deployed v1/);
  }, more);
});

test("files of a session are read and written byte for byte, and changed only as they were seen", async () => {
  const turns = [{ call: { tool: "write_file", arguments: { path: "/note.txt", content: "by the agent" } } }, "written"];
  await talking(turns, async ({ abide, session }) => {
    const bytes = Uint8Array.from({ length: 1 << 20 }, (_, index) => index % 256);
    const made = await abide.files.write(session, "/data/raw.bin", bytes, { create: true });
    assert.deepEqual([made.path, made.size_bytes], ["/data/raw.bin", bytes.length]);
    await assert.rejects(abide.files.write(session, "/data/raw.bin", "x", { create: true }), { code: "changed", status: 412 });
    const read = await abide.files.read(session, "/data/raw.bin");
    assert.ok(Buffer.from(bytes).equals(read.bytes));
    assert.equal(read.etag, made.etag);
    assert.equal((await abide.files.stat(session, "/data/raw.bin")).etag, made.etag);
    const changed = await abide.files.write(session, "/data/raw.bin", "\ufeffüber\nzwei", { etag: read.etag });
    assert.notEqual(changed.etag, made.etag);
    await assert.rejects(abide.files.write(session, "/data/raw.bin", "late", { etag: made.etag }), { code: "changed" });
    assert.equal(new TextDecoder("utf-8", { ignoreBOM: true }).decode((await abide.files.read(session, "/data/raw.bin")).bytes), "\ufeffüber\nzwei");
    await abide.files.copy(session, "/data/raw.bin", "/copy.txt");
    await abide.files.move(session, "/copy.txt", "/moved.txt");
    await abide.sessions.ask(session, "write a note");
    assert.equal(new TextDecoder().decode((await abide.files.read(session, "/note.txt")).bytes), "by the agent");
    const root = await abide.files.list(session);
    assert.deepEqual(root.entries.map((each) => each.name).sort(), ["data", "moved.txt", "note.txt"]);
    assert.deepEqual((await abide.files.list(session, "/data")).entries.map((each) => each.path), ["/data/raw.bin"]);
    assert.equal((await abide.files.grep(session, "^zw")).match_count, 2);
    assert.equal((await abide.files.grep(session, "^zw", "*.txt")).match_count, 1);
    await assert.rejects(abide.files.read(session, "/data"), (error) => error instanceof AbideError && /is a folder/.test(error.message));
    await assert.rejects(abide.files.list(session, "/note.txt"), (error) => error instanceof AbideError && /is a file/.test(error.message));
    await abide.files.write(session, "/fixed.txt", "fixed", { readonly: true });
    await assert.rejects(abide.files.write(session, "/fixed.txt", "other"), { code: "refused" });
    const moved = await abide.files.stat(session, "/moved.txt");
    await abide.files.write(session, "/moved.txt", "by somebody else");
    await assert.rejects(abide.files.delete(session, "/moved.txt", { etag: moved.etag }), { code: "changed" });
    const seen = await abide.files.stat(session, "/moved.txt");
    assert.equal((await abide.files.delete(session, "/moved.txt", { etag: seen.etag })).deleted, 1);
    await assert.rejects(abide.files.delete(session, "/data"), { code: "refused" });
    assert.equal((await abide.files.delete(session, "/data", { recursive: true })).deleted, 2);
    await assert.rejects(abide.files.stat(session, "/data"), { code: "not_found" });
  });
});

test("skills, models, what was changed, and agents as Markdown", async () => {
  const skill = "---\nname: greet\ndescription: Greets.\n---\nGreet warmly.\n";
  await talking([], async ({ abide, admin, agent }) => {
    assert.deepEqual((await abide.skills.list()).map((each) => [each.name, each.state]), [["greet", "available"]]);
    assert.match((await abide.skills.get("greet")).body, /Greet warmly/);
    const models = await abide.models.list();
    assert.deepEqual([models.default, models.models[0].usable], ["anthropic/scripted", true]);
    const document = await abide.agents.export(agent.id);
    assert.match(document, /name: Ada[^]*You are Ada\./);
    const copy = await admin.agents.import(document.replace("name: Ada", "name: Bea"));
    assert.deepEqual([copy.name, copy.system_prompt, copy.capabilities], ["Bea", agent.system_prompt, agent.capabilities]);
    await assert.rejects(admin.agents.import("---\nname: X\ntools: [bash]\n---\nhi\n"), (error) => error.status === 422 && error.problem.problems.length > 0);
    const changes = await admin.audit.list({ limit: 1 }).all();
    assert.ok(changes.length >= 3);
    assert.deepEqual((await admin.audit.list({ after: 1 }).all()).map((each) => each.seq), changes.slice(1).map((each) => each.seq));
    assert.equal((await abide.health()).status, "ok");
    assert.equal((await abide.ready()).status, "ok");
    assert.match(await abide.metrics(), /^# (HELP|TYPE) abide_/m);
  }, { files: { ".abide/skills/greet/SKILL.md": skill } });
});

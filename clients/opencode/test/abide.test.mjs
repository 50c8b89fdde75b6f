// The plugin against a program that answers like `abide hook`, and against programs that do not.
import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { Abide } from "../dist/abide.js";

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url)));
const PARENTS = { root: undefined, child: "root", grandchild: "child" };
let folder;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "abide-opencode-"));
  process.env.XDG_STATE_HOME = folder;
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Writes a program that keeps what it is asked in `asked`, and then does `body`. */
function program(body, says = `abide ${version}`) {
  const path = join(folder, "program");
  const text = `#!/bin/sh\nif [ "$1" = --version ]; then echo '${says}'; exit 0; fi\n{ cat; echo; } >>'${folder}/asked'\necho "$@" >>'${folder}/words'\n${body}\n`;
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}

function asked() {
  if (!existsSync(join(folder, "asked"))) return [];
  return readFileSync(join(folder, "asked"), "utf8").trim().split("\n").map((line) => JSON.parse(line));
}

/** Loads the plugin; `prompts` has what it sends to sessions, `lines` what it tells a person. */
async function load(command) {
  const prompts = [];
  const lines = [];
  const client = {
    session: {
      get: async ({ path }) => (path.id in PARENTS ? { data: { parentID: PARENTS[path.id] } } : { error: "unknown" }),
      prompt: async (request) => void prompts.push(request),
    },
    app: { log: async ({ body }) => void lines.push(body.message) },
  };
  const hooks = await Abide({ client, directory: folder, worktree: "/" }, { command });
  return { hooks, prompts, lines };
}

const call = (hooks, sessionID = "root", args = { command: "ls" }) =>
  hooks["tool.execute.before"]({ tool: "bash", sessionID, callID: "c1" }, { args });
const stop = (hooks, sessionID = "root", id = "prt_1", reason = "stop") =>
  hooks.event({ event: { type: "message.part.updated", properties: { part: { type: "step-finish", reason, id, sessionID } } } });

test("a tool is allowed by exit code 0, and what it is given is not changed", async () => {
  const { hooks } = await load(program("exit 0"));
  const output = { args: { ability: "deploy" } };
  await hooks["tool.execute.before"]({ tool: "abide_ability_run", sessionID: "root", callID: "c1" }, output);
  assert.deepEqual(output, { args: { ability: "deploy" } });
  const [request] = asked();
  assert.deepEqual(request, {
    hook_event_name: "PreToolUse", cwd: folder, client: "opencode", plugin_version: version, session_id: "root",
    tool_name: "abide_ability_run", tool_input: { ability: "deploy" }, tool_use_id: "c1",
  });
  assert.equal(readFileSync(join(folder, "words"), "utf8"), "hook opencode PreToolUse\n");
});

test("a tool is denied by exit code 2, with the reason", async () => {
  const { hooks } = await load(program("echo 'only the tests may run now' >&2; exit 2"));
  await assert.rejects(call(hooks), { message: "only the tests may run now" });
});

for (const permissionDecision of ["deny", "ask", "defer"]) {
  test(`a tool is denied by the decision \`${permissionDecision}\``, async () => {
    const deny = { hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision, permissionDecisionReason: "not now" } };
    const { hooks } = await load(program(`echo '${JSON.stringify(deny)}'`));
    await assert.rejects(call(hooks), { message: "not now" });
  });
}

for (const [what, body, expected] of [
  ["crashes", "kill -9 $$", /its hook failed/],
  ["fails", "echo oops >&2; exit 1", /its hook failed \(oops\), so this is denied; run: abide doctor/],
  ["denies without a word", "exit 2", /abide denies this/],
  ["answers no JSON", "echo yes", /not JSON/],
  ["answers half a JSON", "printf '{\"hookSpecificOutput\":'", /not JSON/],
  ["answers without an end", "yes", /too long/],
]) {
  test(`a tool is denied by a hook that ${what}`, async () => {
    const { hooks } = await load(program(body));
    await assert.rejects(call(hooks), { message: expected });
  });
}

test("a tool is denied when abide is missing, and a person is told once", async () => {
  const { hooks, lines } = await load(join(folder, "nothing"));
  await assert.rejects(call(hooks), { message: /nothing is not there, so this is denied; install abide/ });
  assert.equal(lines.length, 1);
});

test("a tool is denied when abide is of another version, or something else", async () => {
  for (const [says, expected] of [["abide 7.0.0", /the plugin is .* and .* is 7\.0\.0/], ["hello", /is not abide/]]) {
    const { hooks, lines } = await load(program("exit 0", says));
    await assert.rejects(call(hooks), { message: expected });
    assert.equal(lines.length, 1);
    assert.deepEqual(asked(), []);
  }
});

test("a patch release fits", async () => {
  const [major, minor] = version.split(".");
  const { hooks } = await load(program("exit 0", `abide ${major}.${minor}.99`));
  await call(hooks);
});

test("a hook that hangs is ended and denies", { timeout: 30_000 }, async () => {
  const { hooks } = await load(program("sleep 60"));
  const start = Date.now();
  await assert.rejects(call(hooks), { message: /no answer within 10 s/ });
  assert.ok(Date.now() - start < 15_000);
});

test("child sessions act for the session that a person opened", async () => {
  const { hooks } = await load(program("exit 0"));
  await call(hooks, "grandchild");
  const [{ session_id, agent_id }] = asked();
  assert.deepEqual({ session_id, agent_id }, { session_id: "root", agent_id: "grandchild" });
});

test("a session that nobody knows is denied", async () => {
  const { hooks } = await load(program("exit 0"));
  await assert.rejects(call(hooks, "stranger"), { message: /does not say whose session stranger is/ });
});

test("what abide tells of a prompt is put before it, as a part that the host accepts", async () => {
  const context = { hookSpecificOutput: { hookEventName: "UserPromptSubmit", additionalContext: "step 1 of 3" } };
  const { hooks } = await load(program(`echo '${JSON.stringify(context)}'`));
  const output = { message: { id: "msg_1", agent: "build" }, parts: [{ type: "text", text: "deploy" }, { type: "text", text: "told before", synthetic: true }] };
  await hooks["chat.message"]({ sessionID: "root" }, output);
  const [{ id, ...part }, ...rest] = output.parts;
  assert.match(id, /^prt_[0-9a-z]{20,}$/);
  assert.deepEqual(part, { sessionID: "root", messageID: "msg_1", type: "text", synthetic: true, text: "step 1 of 3" });
  assert.equal(rest.length, 2);
  assert.equal(asked()[0].prompt, "deploy");
  assert.equal(asked()[0].agent_type, "build");
});

test("what abide says to the agent itself is not asked about", async () => {
  const { hooks } = await load(program("exit 2"));
  await hooks["chat.message"]({ sessionID: "root" }, { message: { id: "m" }, parts: [{ type: "text", text: "x", synthetic: true }] });
  assert.deepEqual(asked(), []);
});

test("a prompt goes through when abide fails, because tools do not", async () => {
  const { hooks, lines } = await load(program("exit 1"));
  const output = { message: { id: "m" }, parts: [{ type: "text", text: "hello" }] };
  await hooks["chat.message"]({ sessionID: "root" }, output);
  assert.equal(output.parts.length, 1);
  assert.equal(lines.length, 1);
});

test("a stop is asked about before anything else can happen, once, and refused with what is left", async () => {
  const { hooks, prompts } = await load(program("echo 'two steps are left' >&2; exit 2"));
  const event = stop(hooks);
  // The answer is there although nothing was awaited yet.
  assert.equal(asked()[0].hook_event_name, "Stop");
  assert.equal(prompts.length, 1);
  await event;
  await stop(hooks);
  await stop(hooks, "root", "prt_2");
  await stop(hooks, "root", "prt_3", "tool-calls");
  assert.deepEqual(asked().map((request) => request.stop_hook_active), [false, true]);
  assert.deepEqual(prompts[0], {
    path: { id: "root" },
    body: { noReply: true, parts: [{ type: "text", synthetic: true, text: "two steps are left" }] },
  });
});

test("the stop of a child session is a sub-agent's", async () => {
  const { hooks, prompts } = await load(program("exit 0"));
  await hooks["chat.message"]({ sessionID: "child" }, { message: { id: "m" }, parts: [] });
  await stop(hooks, "child");
  const [{ hook_event_name, session_id, agent_id }] = asked();
  assert.deepEqual([hook_event_name, session_id, agent_id], ["SubagentStop", "root", "child"]);
  assert.deepEqual(prompts, []);
});

test("a stop goes through when abide fails", async () => {
  const { hooks, prompts, lines } = await load(program("exit 1"));
  await stop(hooks);
  assert.deepEqual([prompts.length, lines.length], [0, 1]);
});

test("the active step survives a compaction", async () => {
  const context = { hookSpecificOutput: { hookEventName: "PreCompact", additionalContext: "step 2" } };
  const { hooks } = await load(program(`echo '${JSON.stringify(context)}'`));
  const output = { context: ["theirs"] };
  await hooks["experimental.session.compacting"]({ sessionID: "root" }, output);
  assert.deepEqual(output.context, ["theirs", "step 2"]);
});

test("a session that was condensed in a run is told the step at every turn, until there is no run", async () => {
  const context = { hookSpecificOutput: { hookEventName: "SessionStart", additionalContext: "step 2" } };
  const { hooks } = await load(program(`[ -e '${folder}/over' ] || echo '${JSON.stringify(context)}'`));
  const system = async (sessionID) => {
    const output = { system: ["theirs"] };
    await hooks["experimental.chat.system.transform"]({ sessionID }, output);
    return output.system;
  };
  assert.deepEqual(await system("root"), ["theirs"]);
  assert.equal(asked().length, 0, "nobody is asked about a conversation that is whole");
  await hooks["experimental.session.compacting"]({ sessionID: "root" }, { context: [] });
  assert.deepEqual(await system("root"), ["theirs", "step 2"]);
  assert.deepEqual(await system("root"), ["theirs", "step 2"]);
  assert.deepEqual(await system("child"), ["theirs"]);
  assert.equal(asked()[1].source, "compact");
  writeFileSync(join(folder, "over"), "");
  assert.deepEqual(await system("root"), ["theirs"]);
  const before = asked().length;
  assert.deepEqual(await system("root"), ["theirs"]);
  assert.equal(asked().length, before);
});

test("what abide tells after a tool is added to what the tool said", async () => {
  const context = { hookSpecificOutput: { hookEventName: "PostToolUse", additionalContext: "now submit" } };
  const { hooks } = await load(program(`echo '${JSON.stringify(context)}'`));
  const output = { output: "done" };
  await hooks["tool.execute.after"]({ tool: "bash", sessionID: "root", callID: "c1", args: {} }, output);
  assert.equal(output.output, "done\n\nnow submit");
  assert.equal(asked()[0].tool_response, "done");
});

test("a sign says that the plugin is loaded", async () => {
  const command = program("exit 0");
  await load(command);
  const [name] = readdirSync(join(folder, "abide/opencode"));
  const sign = JSON.parse(readFileSync(join(folder, "abide/opencode", name)));
  assert.deepEqual([sign.version, sign.program, sign.project, sign.process], [version, command, folder, process.pid]);
});

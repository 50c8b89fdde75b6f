// abide for OpenCode: asks `abide hook opencode` what the agent may do, and denies when there is no answer.
// Written in TypeScript in clients/opencode; `abide install opencode` puts the path of the program into the next line.
const INSTALLED: string | null = null;
const VERSION = "0.1.0";

import { spawn, spawnSync } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/** How long an answer may take, in milliseconds; `abide hook` ends itself long before. */
const LIMIT = 10_000;
/** How much of an answer is read. */
const LONGEST = 1 << 20;
/** How deep sessions may be nested, and how many are remembered. */
const DEEPEST = 32;
const MOST = 10_000;

/** What this plugin uses of OpenCode. */
export interface Host {
  client: {
    session: {
      get(request: { path: { id: string } }): Promise<{ data?: { parentID?: string } | undefined; error?: unknown }>;
      prompt(request: {
        path: { id: string };
        body: { noReply: boolean; parts: { type: "text"; synthetic: boolean; text: string }[] };
      }): Promise<unknown>;
    };
    app?: { log(request: { body: { service: string; level: "error"; message: string } }): Promise<unknown> };
  };
  directory: string;
  worktree?: string;
}

/** What can be set in `opencode.json`. */
export interface Options {
  /** The program. */
  command?: string;
}

interface Part {
  id: string;
  sessionID: string;
  messageID: string;
  type: string;
  text?: string;
  synthetic?: boolean;
}

/** The hooks that this plugin has. */
export interface Hooks {
  "tool.execute.before"(
    input: { tool: string; sessionID: string; callID: string },
    output: { args: unknown },
  ): Promise<void>;
  "tool.execute.after"(
    input: { tool: string; sessionID: string; callID: string; args?: unknown },
    output: { output: string },
  ): Promise<void>;
  "chat.message"(
    input: { sessionID: string; agent?: string },
    output: { message: { id: string; agent?: string }; parts: Part[] },
  ): Promise<void>;
  "experimental.session.compacting"(input: { sessionID: string }, output: { context: string[] }): Promise<void>;
  "experimental.chat.system.transform"(input: { sessionID?: string }, output: { system: string[] }): Promise<void>;
  event(input: { event: { type: string; properties?: unknown } }): Promise<void>;
}

/** What abide says. */
interface Answer {
  /** Why not. */
  deny?: string;
  /** What the model is told. */
  context?: string;
  /** Why there is no answer. */
  failed?: string;
}

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Who asks: a session, and which of its agents. */
interface Who {
  session_id: string;
  agent_id?: string;
  agent_type?: string;
}

/** The plugin. */
export const Abide = async (host: Host, options?: Options): Promise<Hooks> => {
  const program = INSTALLED ?? options?.command ?? process.env["ABIDE_COMMAND"] ?? "abide";
  const parents = new Map<string, string | null>();
  const agents = new Map<string, string>();
  const finished = new Set<string>();
  const refused = new Set<string>();
  const condensed = new Set<string>();

  /** Tells a person one line: in OpenCode's log, and where no screen is drawn also on standard error. */
  const say = (message: string): void => {
    void host.client.app?.log({ body: { service: "abide", level: "error", message } })?.catch(() => {});
    if (!process.stdout.isTTY) console.error(message);
  };

  const request = (event: string, who: Who, body: object): string =>
    JSON.stringify({
      hook_event_name: event,
      cwd: host.directory,
      client: "opencode",
      plugin_version: VERSION,
      ...who,
      ...body,
    });

  const ask = async (event: string, who: Who, body: object): Promise<Answer> => {
    try {
      return answer(await run(program, ["hook", "opencode", event], request(event, who, body), host.directory));
    } catch (error) {
      return { failed: reason(program, error) };
    }
  };

  /** Asks and holds everything up: OpenCode ends a turn in the meantime otherwise. */
  const askNow = (event: string, who: Who, body: object): Answer => {
    const ended = spawnSync(program, ["hook", "opencode", event], {
      cwd: host.directory,
      input: request(event, who, body),
      encoding: "utf8",
      timeout: LIMIT,
      killSignal: "SIGKILL",
      maxBuffer: LONGEST,
    });
    if (ended.error) return { failed: reason(program, ended.error) };
    return answer({ code: ended.status, stdout: ended.stdout, stderr: ended.stderr });
  };

  const parent = async (id: string): Promise<string | null> => {
    const known = parents.get(id);
    if (known !== undefined) return known;
    const found = await within(host.client.session.get({ path: { id } }));
    if (!found.data) throw new Error(`abide: OpenCode does not say whose session ${id} is, so this is denied`);
    remember(parents, id, found.data.parentID ?? null);
    return found.data.parentID ?? null;
  };

  /** A child session acts for the session that a person opened. */
  const who = async (id: string): Promise<Who> => {
    let root = id;
    for (let depth = 0; ; depth++) {
      const next = await parent(root);
      if (next === null) break;
      if (depth >= DEEPEST) throw new Error("abide: sessions are nested too deeply, so this is denied");
      root = next;
    }
    return named(id, root);
  };

  const named = (id: string, root: string): Who => {
    const agent = agents.get(id);
    return { session_id: root, ...(root === id ? {} : { agent_id: id }), ...(agent ? { agent_type: agent } : {}) };
  };

  /** The same without waiting; every session sent a message before it can end a turn, so its parents are known. */
  const whoNow = (id: string): Who => {
    let root = id;
    for (let depth = 0; depth < DEEPEST; depth++) root = parents.get(root) ?? root;
    return named(id, root);
  };

  const misfit = fits(program, host.directory);
  void misfit.then((line) => line && say(line));
  beat(host, program, say);

  return {
    "tool.execute.before": async (input, output) => {
      const line = await misfit;
      if (line) throw new Error(line);
      const told = await ask("PreToolUse", await who(input.sessionID), {
        tool_name: input.tool,
        tool_input: output.args,
        tool_use_id: input.callID,
      });
      const denied = told.deny ?? told.failed;
      if (denied !== undefined) throw new Error(denied);
    },

    "tool.execute.after": async (input, output) => {
      try {
        const told = await ask("PostToolUse", await who(input.sessionID), {
          tool_name: input.tool,
          tool_input: input.args,
          tool_use_id: input.callID,
          tool_response: String(output.output ?? "").slice(0, LONGEST / 4),
        });
        if (told.failed) say(told.failed);
        const note = told.deny ?? told.context;
        // The tool has run: what abide says of it can only be told.
        if (note && typeof output.output === "string") output.output += `\n\n${note}`;
      } catch (error) {
        say(String(error));
      }
    },

    "chat.message": async (input, output) => {
      const agent = output.message.agent ?? input.agent;
      if (agent) remember(agents, input.sessionID, agent);
      const asker = await who(input.sessionID);
      const written = output.parts.filter((part) => part.type === "text" && !part.synthetic);
      if (written.length === 0) return;
      refused.delete(input.sessionID);
      const prompt = written.map((part) => part.text ?? "").join("\n");
      const told = await ask("UserPromptSubmit", asker, { prompt });
      // A prompt by itself does nothing, and every tool is asked about.
      if (told.failed) say(told.failed);
      if (told.deny !== undefined) throw new Error(told.deny);
      if (told.context) {
        output.parts.unshift({
          id: `prt_0000abide${randomUUID().replaceAll("-", "").slice(0, 14)}`,
          sessionID: input.sessionID,
          messageID: output.message.id,
          type: "text",
          synthetic: true,
          text: told.context,
        });
      }
    },

    "experimental.session.compacting": async (input, output) => {
      try {
        const told = await ask("PreCompact", await who(input.sessionID), {});
        if (told.failed) say(told.failed);
        if (!told.context) return;
        output.context.push(told.context);
        if (condensed.size >= MOST) condensed.clear();
        condensed.add(input.sessionID);
      } catch (error) {
        say(String(error));
      }
    },

    // What a summary makes of the step is the model's; so a session that was condensed in a run is told the step itself.
    "experimental.chat.system.transform": async (input, output) => {
      const id = input.sessionID;
      if (id === undefined || !condensed.has(id)) return;
      try {
        const told = await ask("SessionStart", await who(id), { source: "compact" });
        if (told.failed) say(told.failed);
        else if (told.context) output.system.push(told.context);
        else condensed.delete(id);
      } catch (error) {
        say(String(error));
      }
    },

    event: async ({ event }) => {
      const part = ending(event);
      if (!part || finished.has(part.id)) return;
      if (finished.size >= MOST) finished.clear();
      finished.add(part.id);
      // Nothing may be awaited before the answer is there.
      const asker = whoNow(part.sessionID);
      const told = askNow(asker.agent_id ? "SubagentStop" : "Stop", asker, {
        stop_hook_active: refused.has(part.sessionID),
      });
      // Nothing runs after a stop, so an abide that is broken does not hold the agent for ever.
      if (told.failed) say(told.failed);
      const text = told.deny ?? told.context;
      if (!text) return;
      refused.add(part.sessionID);
      try {
        await host.client.session.prompt({
          path: { id: part.sessionID },
          body: { noReply: true, parts: [{ type: "text", synthetic: true, text }] },
        });
      } catch (error) {
        say(`abide: could not tell the agent to go on: ${String(error)}`);
      }
    },
  };
};

/** Returns the part that ends a turn, if an event is about one. */
function ending(event: { type: string; properties?: unknown }): { id: string; sessionID: string } | undefined {
  if (event.type !== "message.part.updated") return undefined;
  const part = (event.properties as { part?: { type?: string; reason?: string; id: string; sessionID: string } })?.part;
  return part?.type === "step-finish" && part.reason === "stop" ? part : undefined;
}

/** Understands how `abide hook` ended: 2 denies, 0 allows and may tell something, all else is no answer. */
function answer(ended: Ended): Answer {
  if (ended.code === 2) return { deny: ended.stderr.trim() || "abide denies this" };
  if (ended.code !== 0) {
    const line = ended.stderr.trim().split("\n")[0] || `exit code ${ended.code ?? "unknown"}`;
    return { failed: `abide: its hook failed (${line}), so this is denied; run: abide doctor` };
  }
  if (ended.stdout.trim() === "") return {};
  let told: { decision?: unknown; reason?: unknown; hookSpecificOutput?: Record<string, unknown> };
  try {
    told = JSON.parse(ended.stdout);
  } catch {
    return { failed: "abide: its hook answered something that is not JSON, so this is denied; run: abide doctor" };
  }
  const more = told?.hookSpecificOutput;
  const context = more?.["additionalContext"];
  const result: Answer = typeof context === "string" && context !== "" ? { context } : {};
  if (told?.decision === "block") result.deny = text(told.reason);
  const decision = more?.["permissionDecision"];
  // Nobody can be asked here, so only silence and a plain yes let something through.
  if (decision !== undefined && decision !== "allow") result.deny = text(more?.["permissionDecisionReason"]);
  return result;
}

function text(value: unknown): string {
  return typeof value === "string" && value !== "" ? value : "abide denies this";
}

/** Runs a program to its end, within bounds. */
function run(program: string, words: string[], input: string, folder: string): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, { cwd: folder, stdio: ["pipe", "pipe", "pipe"] });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    let size = 0;
    const stop = (error: Error): void => {
      clearTimeout(timer);
      child.kill("SIGKILL");
      // What it started may live on and hold the pipes.
      child.stdout.destroy();
      child.stderr.destroy();
      reject(error);
    };
    const timer = setTimeout(() => stop(new Error(`no answer within ${LIMIT / 1000} s`)), LIMIT);
    const keep = (list: Buffer[]) => (bytes: Buffer): void => {
      size += bytes.length;
      if (size > LONGEST) stop(new Error("the answer is too long"));
      else list.push(bytes);
    };
    child.stdout.on("data", keep(out));
    child.stderr.on("data", keep(err));
    // It may end before it has read everything.
    child.stdin.on("error", () => {});
    child.on("error", stop);
    child.on("close", (code) => {
      clearTimeout(timer);
      resolve({ code, stdout: Buffer.concat(out).toString("utf8"), stderr: Buffer.concat(err).toString("utf8") });
    });
    child.stdin.end(input);
  });
}

/** Waits for the host, but not for ever. */
function within<T>(promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("abide: OpenCode does not answer, so this is denied")), LIMIT);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Says in one line why there is no answer. */
function reason(program: string, error: unknown): string {
  const missing = (error as { code?: string })?.code === "ENOENT";
  const what = missing ? `${program} is not there` : `${program}: ${error instanceof Error ? error.message : error}`;
  return `abide: ${what}, so this is denied; install abide, then run: abide install opencode`;
}

/** Returns why the program and this plugin do not fit, in one line; nothing if they do. */
async function fits(program: string, folder: string): Promise<string | undefined> {
  try {
    const { code, stdout } = await run(program, ["--version"], "", folder);
    const found = /^abide (\d+)\.(\d+)\.\S+\s*$/.exec(stdout);
    if (code !== 0 || !found) return `abide: ${program} is not abide, so everything is denied; run: abide install opencode`;
    const [major, minor] = VERSION.split(".");
    // Before 1.0, a minor version may change anything.
    if (found[1] === major && (major !== "0" || found[2] === minor)) return undefined;
    return `abide: the plugin is ${VERSION} and ${program} is ${stdout.trim().slice(6)}, so everything is denied; run: abide install opencode`;
  } catch (error) {
    return reason(program, error);
  }
}

/** Leaves a sign that the plugin was loaded: OpenCode says nothing when it could not load one. */
function beat(host: Host, program: string, say: (line: string) => void): void {
  const state = process.env["XDG_STATE_HOME"];
  const folder = join(state && isAbsolute(state) ? state : join(homedir(), ".local", "state"), "abide", "opencode");
  const project = host.worktree && host.worktree !== "/" ? host.worktree : host.directory;
  const name = createHash("sha256").update(project).digest("hex").slice(0, 32);
  const sign = { version: VERSION, program, project, process: process.pid, loaded: new Date().toISOString() };
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(sign)}\n`);
  } catch (error) {
    say(`abide: could not leave a sign in ${folder} that the plugin is loaded: ${String(error)}`);
  }
}

/** Remembers within bounds. */
function remember<V>(map: Map<string, V>, key: string, value: V): void {
  if (map.size >= MOST) map.clear();
  map.set(key, value);
}

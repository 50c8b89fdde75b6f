// A project with a real `abide serve`, and a proxy in front of it that loses answers.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const repository = fileURLToPath(new URL("../..", import.meta.url));

/** The program: `$ABIDE_COMMAND`, else what cargo built. */
export const program = process.env.ABIDE_COMMAND ?? resolve(repository, process.env.CARGO_TARGET_DIR ?? "target", "debug", "abide");

export const RELEASE = `description: Releases a version
inputs:
  version: { type: string, required: true, pattern: '^v\\d+$' }
steps:
  - id: build
    run: echo built {{inputs.version}}
  - id: ask
    type: approval
    prompt: Ship it?
    needs: [build]
  - id: ship
    run: echo shipped
    needs: [ask]
`;

/** A capability whose tool a human has to agree to. */
export const DEPLOY = `description: Deploys
tools:
  - name: deploy
    description: Deploy a version
    arguments: { type: object, properties: { version: { type: string } }, required: [version] }
    command: [echo, "deployed {{arguments.version}}"]
`;

/** Starts what says on a line where it listens, and returns it with its address. */
function listening(name, words, options, stream, pattern) {
  const child = spawn(program, words, { ...options, stdio: ["ignore", stream === "stdout" ? "pipe" : "ignore", stream === "stderr" ? "pipe" : "ignore"] });
  let said = "";
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child[stream].on("data", (text) => {
      said += text;
      const found = pattern.exec(said);
      if (found) resolve([child, found[0]]);
    });
    child.on("exit", (code) => reject(new Error(`${name} ended with ${code}: ${said}`)));
  });
}

/** Ends a program that was started here. */
async function stopped(child, signal = "SIGTERM") {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.on("exit", resolve));
  child.kill(signal);
  await ended;
}

/**
 * Starts a server for the abilities, by name; `end` leaves nothing behind. With `turns`, agents talk with a model that says just these, and
 * `files` are written into the project, of which the capabilities `trusted` may run.
 */
export async function stage(abilities = { release: RELEASE }, words = [], { turns, files = {}, trusted = [] } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "abide-sdk-"));
  const env = { ...process.env, HOME: join(folder, "home"), XDG_CONFIG_HOME: "", XDG_STATE_HOME: "", XDG_DATA_HOME: "", ABIDE_KEY: "" };
  mkdirSync(env.HOME);
  for (const [name, text] of Object.entries(abilities)) {
    const path = join(folder, "project", ".abide", "abilities", `${name}.yaml`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  const cwd = join(folder, "project");
  mkdirSync(cwd, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), text);
  }
  let model;
  if (turns !== undefined) {
    const script = join(folder, "script.yaml");
    writeFileSync(script, JSON.stringify(turns));
    const [child, address] = await listening("abide model mock", ["model", "mock", script], { cwd, env }, "stdout", /http:\S+(?=\n)/);
    model = child;
    Object.assign(env, { ANTHROPIC_BASE_URL: address, ANTHROPIC_API_KEY: "scripted", ABIDE_MODEL: "anthropic/scripted" });
  }
  const abide = (...given) => {
    const ended = spawnSync(program, given, { cwd, env, encoding: "utf8", timeout: 60_000 });
    if (ended.status !== 0) throw new Error(`abide ${given.join(" ")}: ${ended.error ?? ended.stderr}`);
    return ended.stdout;
  };
  for (const capability of trusted) abide("capability", "trust", capability, "--yes");
  let server;
  const start = async (bind = "127.0.0.1:0") => {
    const given = ["serve", "--bind", bind, "--grace", "1", ...words];
    const [child, address] = await listening("abide serve", given, { cwd, env }, "stderr", /http:\/\/\S+?(?=;)/);
    server = child;
    return address;
  };
  const stop = (signal) => stopped(server, signal);
  const url = await start();
  return {
    url,
    abide,
    /** Makes a key, and returns the text that opens the server. */
    key: (name, scopes) => abide("key", "create", name, "--scope", scopes).trim(),
    stop,
    /** Starts it again where it was. */
    restart: () => start(new URL(url).host),
    async end() {
      await stop();
      if (model) await stopped(model);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A proxy on loopback; `cut(count)` decides for each connection whether its answer is lost, given how many there were. */
export async function proxy(url, cut) {
  const open = new Set();
  let count = 0;
  const server = net.createServer((client) => {
    const loses = cut(++count);
    const behind = net.connect(Number(new URL(url).port), "127.0.0.1");
    for (const socket of [client, behind]) {
      open.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => open.delete(socket));
    }
    client.pipe(behind);
    behind.on("data", (bytes) => {
      if (loses === true) return void client.destroy();
      client.write(bytes);
      if (typeof loses === "number" && behind.bytesRead >= loses) client.destroy();
    });
    behind.on("close", () => client.destroy());
    client.on("close", () => behind.destroy());
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    connections: () => count,
    drop: () => open.forEach((socket) => socket.destroy()),
    end: () => new Promise((resolve) => (open.forEach((socket) => socket.destroy()), server.close(resolve))),
  };
}

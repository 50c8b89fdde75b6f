// The examples, as their page says.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Abide } from "../dist/index.js";
import { DEPLOY, program, stage } from "./stage.mjs";

const example = (name) => fileURLToPath(new URL(`../../examples/sdk-typescript/${name}`, import.meta.url));

const languages = {
  TypeScript: (name) => [process.execPath, example(`${name}.mjs`)],
  // `cargo build --package abide-sdk --examples` makes them, beside abide.
  Rust: (name) => [join(dirname(program), "examples", name)],
};

for (const [language, named] of Object.entries(languages)) {
  const [command, ...words] = named("release");
  test(`the example in ${language} releases a version, and only somebody else approves it`, async () => {
    const server = await stage({ release: readFileSync(example(".abide/abilities/release.yaml"), "utf8") });
    try {
      const env = { ...process.env, ABIDE_SERVER: server.url, CI_KEY: server.key("ci", "run"), ADA_KEY: server.key("ada", "approve") };
      const ended = spawnSync(command, [...words, "v2.0.0"], { env, encoding: "utf8", timeout: 60_000 });
      assert.equal(ended.status, 0, `${ended.error ?? ""}${ended.stderr}`);
      const lines = ended.stdout.trim().split("\n");
      assert.deepEqual(lines.slice(-2), ["shipped v2.0.0", "completed"]);
      for (const line of ["ci may not approve: no_scope", "ada is asked: Ship v2.0.0?", "run.created ", "step.succeeded ship", "run.finished "]) {
        assert.ok(ended.stdout.split("\n").includes(line), `${line} is missing in\n${ended.stdout}`);
      }
    } finally {
      await server.end();
    }
  });
}

for (const [language, named] of Object.entries(languages)) {
  const [command, ...words] = named("chat");
  test(`the chat in ${language} prints every word once, and only somebody else agrees to a call`, async () => {
    const turns = [
      { text: "I am Ada, and this is said word by word.", fault: { slow: "20ms" } },
      { text: "I deploy it now.", call: { tool: "deploy", arguments: { version: "v1" } } },
      { text: "It is deployed: v1.", fault: { slow: "20ms" } },
    ];
    const server = await stage({}, [], { turns, files: { ".abide/capabilities/ship.yaml": DEPLOY }, trusted: ["ship"] });
    try {
      const admin = new Abide({ baseUrl: server.url, key: server.key("root", "admin") });
      const agent = await admin.agents.create({ name: "Ada", capabilities: ["ship"] });
      const env = { ...process.env, ABIDE_SERVER: server.url, CI_KEY: server.key("ci", "run"), ADA_KEY: server.key("ada", "approve") };
      const ended = spawnSync(command, [...words, agent.id, "Who are you?", "Deploy v1"], { env, encoding: "utf8", timeout: 60_000 });
      assert.equal(ended.status, 0, `${ended.error ?? ""}${ended.stderr}`);
      assert.deepEqual(ended.stdout.trim().split("\n"), [
        "> Who are you?",
        turns[0].text,
        "(finished)",
        "> Deploy v1",
        turns[1].text,
        '(ada is asked: deploy {"version":"v1"})',
        turns[2].text,
        "(finished)",
      ]);
    } finally {
      await server.end();
    }
  });
}

// The example, as its page says.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { program, stage } from "./stage.mjs";

const example = (name) => fileURLToPath(new URL(`../../examples/sdk-typescript/${name}`, import.meta.url));

const programs = {
  TypeScript: [process.execPath, example("release.mjs")],
  // `cargo build --package abide-sdk --example release` makes it, beside abide.
  Rust: [join(dirname(program), "examples", "release")],
};

for (const [language, [command, ...words]] of Object.entries(programs)) {
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

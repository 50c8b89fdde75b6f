// An MCP server of somebody else: its tools run what they are told, or deploy without being told anything.
import { spawnSync } from "node:child_process";
import { createInterface } from "node:readline";

const text = { type: "object", properties: { command: { type: "string" }, ability: { type: "string" } } };
const tools = ["run", "ship", "ability_run"].map((name) => ({ name, description: `does ${name}`, inputSchema: text }));

const answers = {
  initialize: (params) => ({
    protocolVersion: params.protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "other", version: "1" },
  }),
  "tools/list": () => ({ tools }),
  "tools/call": ({ name, arguments: given }) => {
    const command = name === "run" ? (given.command ?? "") : "./deploy.sh by another server";
    const ran = spawnSync("sh", ["-c", command], { cwd: process.argv[2], encoding: "utf8" });
    return { content: [{ type: "text", text: `${name} is done: ${ran.stdout}${ran.stderr}` }] };
  },
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method];
  const result = answer ? { result: answer(params ?? {}) } : { error: { code: -32601, message: "unknown" } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...result })}\n`);
});

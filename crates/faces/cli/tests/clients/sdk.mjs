// A client made with an official TypeScript SDK. It runs one ability from beginning to end and prints what it saw as JSON.
//
// node sdk.mjs FOLDER-OF-THE-SDKS 1|2 '{"command":…,"args":…,"cwd":…,"env":…}' or '{"url":…,"key":…}'
//
// SDK 1 begins with a handshake; SDK 2 first tries the version of the protocol that has none.

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, generation, where] = process.argv.slice(2);
const load = (file) => import(pathToFileURL(join(folder, "node_modules/@modelcontextprotocol", file)));

async function first() {
  const { Client } = await load("sdk/dist/esm/client/index.js");
  const { StdioClientTransport } = await load("sdk/dist/esm/client/stdio.js");
  const { StreamableHTTPClientTransport } = await load("sdk/dist/esm/client/streamableHttp.js");
  const { ElicitRequestSchema } = await load("sdk/dist/esm/types.js");
  const make = (about, options) => new Client(about, options);
  const call = (client, params, options) => client.callTool(params, undefined, options);
  return { make, call, StdioClientTransport, StreamableHTTPClientTransport, elicit: ElicitRequestSchema };
}

async function second() {
  const { Client, StreamableHTTPClientTransport } = await load("client/dist/index.mjs");
  const { StdioClientTransport } = await load("client/dist/stdio.mjs");
  const make = (about, options) => new Client(about, { ...options, versionNegotiation: { mode: "auto" } });
  const call = (client, params, options) => client.callTool(params, options);
  return { make, call, StdioClientTransport, StreamableHTTPClientTransport, elicit: "elicitation/create" };
}

const sdk = generation === "1" ? await first() : await second();
const server = JSON.parse(where);
const transport = server.url
  ? new sdk.StreamableHTTPClientTransport(new URL(server.url), {
      requestInit: { headers: { Authorization: `Bearer ${server.key}` } },
    })
  : new sdk.StdioClientTransport({ ...server, stderr: "inherit" });

const saw = { asked: [], progress: [], troubles: [] };
const client = sdk.make({ name: "sdk", version: "1" }, { capabilities: { elicitation: { form: {} } } });
client.onerror = (error) => {
  // SDK 1 looks at notifications after the answers that come with them, and then no longer knows whose progress it is.
  const late = generation === "1" && String(error).includes("progress notification for an unknown token");
  if (!late) saw.troubles.push(String(error));
};
client.setRequestHandler(sdk.elicit, async ({ params }) => {
  saw.asked.push(params);
  return { action: "accept", content: { choice: params.requestedSchema.properties.choice.enum[0], comment: "go" } };
});
const call = (name, args) =>
  sdk.call(client, { name, arguments: args }, { onprogress: (told) => saw.progress.push(told) });

// Over pipes a hook of abide stands before the calls, as in real clients; over HTTP nothing can stand there.
const seen = (name, args) => {
  if (!server.url) {
    const tool = { tool_name: `mcp__abide__${name}`, tool_input: args };
    const input = JSON.stringify({ session_id: "sdk", cwd: server.cwd, hook_event_name: "PreToolUse", ...tool });
    const options = { input, env: server.env, cwd: server.cwd, encoding: "utf8" };
    const { status, stderr } = spawnSync(server.command, ["hook", "claude", "PreToolUse"], options);
    if (status !== 0) saw.troubles.push(stderr);
  }
  return call(name, args);
};

await client.connect(transport);
saw.server = client.getServerVersion();
saw.instructions = client.getInstructions();
saw.protocol = client.getNegotiatedProtocolVersion?.();
saw.tools = (await client.listTools()).tools.map((tool) => tool.name);
saw.list = await call("ability_list", {});
saw.wrong = await call("ability_run", { abilty: "release" });
saw.unknown = await call("ability_rum", {}).catch((error) => String(error));
saw.strict = await call("ability_run", { ability: "strict" });
saw.begun = await seen("ability_run", { ability: "release", inputs: { version: "v1" } });
const { run, step } = saw.begun.structuredContent;
saw.status = await seen("ability_status", { run });
saw.finished = await seen("ability_submit", { run, step: step?.step, output: { verdict: "good" } });
saw.templates = (await client.listResourceTemplates()).resourceTemplates.map((each) => each.uriTemplate);
saw.resources = (await client.listResources()).resources.map((each) => each.uri);
saw.definition = await client.readResource({ uri: "abide://abilities/release" });
saw.log = await client.readResource({ uri: `abide://runs/${run}` });
await client.close();
console.log(JSON.stringify(saw));

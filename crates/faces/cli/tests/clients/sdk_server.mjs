// A server made with the official TypeScript SDK, over pipes or over HTTP (then it prints its port).
//
// node sdk_server.mjs FOLDER-OF-THE-SDKS stdio|http

import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, how] = process.argv.slice(2);
const load = (file) => import(pathToFileURL(join(folder, "node_modules/@modelcontextprotocol/sdk/dist/esm", file)));
const { McpServer } = await load("server/mcp.js");
const { z } = createRequire(join(folder, "node_modules/"))("zod");

function serve() {
  const server = new McpServer({ name: "sdk-server", version: "1.0.0" });
  const inputSchema = { a: z.number(), b: z.number() };
  server.registerTool("add", { description: "Adds two numbers", inputSchema }, async ({ a, b }) => ({
    content: [{ type: "text", text: String(a + b) }],
  }));
  return server;
}

if (how === "stdio") {
  const { StdioServerTransport } = await load("server/stdio.js");
  await serve().connect(new StdioServerTransport());
} else {
  const { StreamableHTTPServerTransport } = await load("server/streamableHttp.js");
  const listener = createServer(async (request, response) => {
    if (request.headers.authorization !== "Bearer a-token") {
      response.writeHead(401).end();
      return;
    }
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    await serve().connect(transport);
    await transport.handleRequest(request, response);
  });
  listener.listen(0, "127.0.0.1", () => console.log(listener.address().port));
}

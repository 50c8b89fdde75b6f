"""An MCP server that serves as long as there is a file called `up` beside it."""

import json, os, sys
if not os.path.exists(os.path.join(os.path.dirname(sys.argv[0]), "up")):
    sys.exit("no token")
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    if message["method"] == "initialize":
        result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "tickets", "version": "1"}}
    else:
        result = {"tools": [{"name": "find", "inputSchema": {"type": "object"}}]}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)

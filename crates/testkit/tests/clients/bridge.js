// Asks a hook in the words of the other clients: exit code 2 with a reason on stderr refuses.
const command = HOOK
const event_name = EVENT

function ask(body, cwd) {
  const stdin = Buffer.from(JSON.stringify({ hook_event_name: event_name, cwd, ...body }))
  // Synchronously: while it asks, the agent cannot come to its end.
  const asked = Bun.spawnSync([command], { cwd, stdin, stdout: "pipe", stderr: "pipe", timeout: 10000 })
  if (asked.exitCode === 0) return undefined
  return asked.stderr.toString().trim() || "the hook failed"
}

export const Bridge = async ({ client, directory }) => ({
  "tool.execute.before": async (input, output) => {
    if (event_name !== "PreToolUse") return
    const body = { session_id: input.sessionID, tool_name: input.tool, tool_input: output.args, tool_use_id: input.callID }
    const reason = ask(body, directory)
    if (reason) throw new Error(reason)
  },
  event: async ({ event }) => {
    const part = event.type === "message.part.updated" && event.properties.part
    if (event_name !== "Stop" || !part || part.type !== "step-finish" || part.reason !== "stop") return
    const text = ask({ session_id: part.sessionID }, directory)
    if (!text) return
    const parts = [{ type: "text", synthetic: true, text }]
    await client.session.prompt({ path: { id: part.sessionID }, body: { noReply: true, parts } })
  },
})

// Talks with an agent: its words are printed as they come, and a call that needs a human's yes is answered with the key of somebody else.
// From npm, the package is called "abide-sdk".
import { Abide } from "../../sdk-typescript/dist/index.js";

const baseUrl = process.env.ABIDE_SERVER ?? "http://127.0.0.1:7070";
const me = new Abide({ baseUrl, key: process.env.CI_KEY });
const ada = new Abide({ baseUrl, key: process.env.ADA_KEY });
const [agent, ...said] = process.argv.slice(2);

const session = (await me.agents.createSession(agent, { title: "a chat" })).id;
for (const text of said) {
  console.log(`> ${text}`);
  for await (const told of me.sessions.talk(session, text)) {
    if (told.type === "delta") process.stdout.write(told.text);
    if (told.type === "again") process.stdout.write("\n(once more)\n");
    if (told.type === "event" && told.event.type === "model.answered") process.stdout.write("\n");
    if (told.type === "event" && told.event.data.decision === "asked") await decide();
    if (told.type === "over") console.log(`(${told.message.turn.status})`);
  }
}

/** A call waits for its answer for a minute; it is in the inbox a moment after its event. */
async function decide() {
  for (let tries = 0; tries < 100; tries++) {
    for await (const asked of ada.approvals.list()) {
      if (asked.session !== session) continue;
      console.log(`(ada is asked: ${asked.tool} ${JSON.stringify(asked.arguments)})`);
      return ada.approvals.answer(asked.id, { answer: "approved" });
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

// Starts an ability, shows its events as they happen, and answers its approval with the key of somebody else.
// From npm, the package is called "abide-sdk".
import { Abide, AbideProblem } from "../../sdk-typescript/dist/index.js";

const baseUrl = process.env.ABIDE_SERVER ?? "http://127.0.0.1:7070";
const ci = new Abide({ baseUrl, key: process.env.CI_KEY });
const ada = new Abide({ baseUrl, key: process.env.ADA_KEY });

const { executionId } = await ci.abilities.execute({ name: "release", inputs: { version: process.argv[2] ?? "v1.2.3" } });
const telling = (async () => {
  for await (const event of ci.runs.stream(executionId)) console.log(event.type, event.data.step ?? "");
})();

await ci.abilities.waitFor(executionId, { until: ["waiting"], timeout: 60_000 });
try {
  await ci.approvals.answer(executionId, { step: "approve", answer: "approved" });
} catch (error) {
  if (!(error instanceof AbideProblem)) throw error;
  console.log(`ci may not approve: ${error.code}`);
}
for await (const asked of ada.approvals.list()) {
  if (asked.run !== executionId) continue;
  console.log(`ada is asked: ${asked.prompt}`);
  await ada.approvals.answer(asked.id, { step: asked.step, answer: "approved", comment: "looks good" });
}

const final = await ci.abilities.waitFor(executionId, { timeout: 60_000 });
await telling;
for await (const text of ci.runs.logs(executionId, { step: "ship" })) process.stdout.write(text);
console.log(final.status);

// What a webhook is told, verified: the example of Standard Webhooks, and what somebody else would send.
import assert from "node:assert/strict";
import { test } from "node:test";
import { AbideWebhookError, webhooks } from "../dist/index.js";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const BODY = '{"test": 2432232314}';
const NOW = 1614265330_000;
const HEADERS = {
  "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
  "webhook-timestamp": "1614265330",
  "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
};

test("what the server has signed is taken, as text or bytes, with headers of fetch or of Node", async () => {
  const expected = { test: 2432232314, id: HEADERS["webhook-id"] };
  assert.deepEqual(await webhooks.verify(SECRET, HEADERS, BODY, { now: NOW }), expected);
  const bytes = new TextEncoder().encode(BODY);
  assert.deepEqual(await webhooks.verify(SECRET, new Headers(HEADERS), bytes, { now: NOW + 299_000 }), expected);
  const two = { ...HEADERS, "webhook-signature": `v1,AAAA v2,x ${HEADERS["webhook-signature"]}` };
  assert.deepEqual(await webhooks.verify(SECRET, two, BODY, { now: NOW }), expected);
});

test("what is changed, old, unsigned or of another secret is refused", async () => {
  const without = { ...HEADERS };
  delete without["webhook-signature"];
  const cases = [
    [SECRET, HEADERS, BODY.replace("2", "3"), NOW],
    [SECRET, HEADERS, BODY, NOW + 301_000],
    [SECRET, HEADERS, BODY, NOW - 301_000],
    [SECRET, { ...HEADERS, "webhook-timestamp": "1614265331" }, BODY, NOW],
    [SECRET, { ...HEADERS, "webhook-timestamp": "now" }, BODY, NOW],
    [SECRET, { ...HEADERS, "webhook-id": "msg_other" }, BODY, NOW],
    [SECRET, { ...HEADERS, "webhook-signature": "v1,not base64!" }, BODY, NOW],
    [SECRET, without, BODY, NOW],
    ["whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", HEADERS, BODY, NOW],
    ["MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", HEADERS, BODY, NOW],
  ];
  for (const [secret, headers, body, now] of cases) {
    await assert.rejects(webhooks.verify(secret, headers, body, { now }), AbideWebhookError);
  }
});

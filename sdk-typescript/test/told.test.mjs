// What is told of an answer, piece by piece, when pieces are missed, doubled or taken back.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Answers } from "../dist/told.js";

let seq = 0;
const delta = (at, text) => ({ id: undefined, event: "delta", data: JSON.stringify({ after: seq, at, text }) });
const again = () => ({ id: undefined, event: "again", data: JSON.stringify({ after: seq }) });
const event = (type, data = {}) => ({ id: String(++seq), event: type, data: JSON.stringify({ seq, at: 0, type, data }) });
const answered = (...texts) => event("model.answered", { pieces: texts.map((text) => ({ text })) });

/** What a program prints that goes back by what does not count. */
function printed(messages) {
  const answers = new Answers();
  const shown = [];
  for (const message of messages) {
    for (const told of answers.take(message)) {
      if (told.type === "delta") shown.push(told.text);
      else if (told.type === "again") shown.push(`<-${told.text}`);
      else shown.push(`[${told.event.type}]`);
    }
  }
  return shown.join("|");
}

test("pieces are told as they come, and the answer adds nothing to them", () => {
  assert.equal(printed([delta(0, "a "), delta(2, "b"), answered("a b")]), "a |b|[model.answered]");
  assert.equal(printed([delta(0, "über 🎉"), delta(6, "!"), answered("über 🎉", "!")]), "über 🎉|!|[model.answered]", "characters are counted, not units");
  assert.equal(printed([answered("whole")]), "whole|[model.answered]");
  assert.equal(printed([event("model.answered", { pieces: [{ call: { id: "1", name: "x" } }] })]), "[model.answered]");
});

test("what was missed is told with the answer, at its place", () => {
  assert.equal(printed([delta(0, "a"), delta(2, "c"), delta(3, "d"), answered("abcd")]), "a|bcd|[model.answered]");
  assert.equal(printed([delta(5, "late"), answered("very late")]), "very late|[model.answered]");
});

test("what does not count is taken back once, and only if it was told", () => {
  assert.equal(printed([delta(0, "a"), again(), delta(0, "b"), answered("b")]), "a|<-a|b|[model.answered]");
  assert.equal(printed([again(), again(), answered("b")]), "b|[model.answered]");
  assert.equal(printed([delta(0, "ab"), delta(0, "x"), answered("xy")]), "ab|<-ab|x|y|[model.answered]", "the word for it was missed");
  assert.equal(printed([delta(0, "ab"), answered("xy")]), "ab|<-ab|xy|[model.answered]");
  assert.equal(printed([delta(0, "ab"), event("model.asked"), delta(0, "x"), answered("x")]), "ab|<-ab|[model.asked]|x|[model.answered]");
});

test("an answer ends with its turn, and the next one begins anew", () => {
  assert.equal(printed([delta(0, "ab"), event("turn.ended"), event("model.asked"), delta(0, "c"), answered("c")]), "ab|[turn.ended]|[model.asked]|c|[model.answered]");
  assert.equal(printed([delta(0, "a"), answered("a"), delta(0, "b"), answered("b")]), "a|[model.answered]|b|[model.answered]");
});

// What an agent says while it says it: every word once, whatever became of the connection.
import type { Message } from "./events.js";
import type { Event } from "./schema.js";

/** What is told of a session. */
export type Told =
  /** Something happened; `seq` of the last one is what a stream goes on after. */
  | { type: "event"; event: Event }
  /** What the answer goes on with. All of them up to `model.answered` are its text, so a program can print them as they come. */
  | { type: "delta"; text: string }
  /** What was told of the answer so far does not count: the model begins it again. */
  | { type: "again"; text: string };

/** After which an answer is not gone on with. */
const OVER: readonly string[] = ["model.answered", "turn.ended"];

/**
 * Puts answers together from their pieces. A piece whose beginning was missed is kept back, and what is missing is told with the answer as a
 * whole: the event `model.answered`, before which all of its text is told.
 */
export class Answers {
  #said = "";
  /** How many characters that are, as the server counts them. */
  #length = 0;

  *take(message: Message): Generator<Told, void, undefined> {
    const data = JSON.parse(message.data) as unknown;
    if (message.event === "delta") yield* this.#piece(data as { at?: number; text: string });
    else if (message.event === "again") yield* this.#forget();
    else if (message.id !== undefined) {
      const event = data as Event;
      // Asked once more, after a crash, the model begins its answer again.
      if (event.type === "model.asked") yield* this.#forget();
      if (event.type === "model.answered") yield* this.#whole(event.data as { pieces?: { text?: string }[] });
      if (OVER.includes(event.type)) [this.#said, this.#length] = ["", 0];
      yield { type: "event", event };
    }
  }

  *#piece({ at, text }: { at?: number; text: string }): Generator<Told, void, undefined> {
    const from = at ?? this.#length;
    // It was begun again while nobody listened.
    if (from < this.#length) yield* this.#forget();
    if (from === this.#length) yield* this.#say(text);
  }

  *#whole({ pieces = [] }: { pieces?: { text?: string }[] }): Generator<Told, void, undefined> {
    const whole = pieces.map((piece) => piece.text ?? "").join("");
    if (!whole.startsWith(this.#said)) yield* this.#forget();
    yield* this.#say(whole.slice(this.#said.length));
  }

  *#say(text: string): Generator<Told, void, undefined> {
    if (text === "") return;
    this.#said += text;
    for (const _ of text) this.#length++;
    yield { type: "delta", text };
  }

  *#forget(): Generator<Told, void, undefined> {
    const text = this.#said;
    [this.#said, this.#length] = ["", 0];
    if (text !== "") yield { type: "again", text };
  }
}

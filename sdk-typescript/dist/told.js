/** After which an answer is not gone on with. */
const OVER = ["model.answered", "turn.ended"];
/**
 * Puts answers together from their pieces. A piece whose beginning was missed is kept back, and what is missing is told with the answer as a
 * whole: the event `model.answered`, before which all of its text is told.
 */
export class Answers {
    #said = "";
    /** How many characters that are, as the server counts them. */
    #length = 0;
    *take(message) {
        const data = JSON.parse(message.data);
        if (message.event === "delta")
            yield* this.#piece(data);
        else if (message.event === "again")
            yield* this.#forget();
        else if (message.id !== undefined) {
            const event = data;
            // Asked once more, after a crash, the model begins its answer again.
            if (event.type === "model.asked")
                yield* this.#forget();
            if (event.type === "model.answered")
                yield* this.#whole(event.data);
            if (OVER.includes(event.type))
                [this.#said, this.#length] = ["", 0];
            yield { type: "event", event };
        }
    }
    *#piece({ at, text }) {
        const from = at ?? this.#length;
        // It was begun again while nobody listened.
        if (from < this.#length)
            yield* this.#forget();
        if (from === this.#length)
            yield* this.#say(text);
    }
    *#whole({ pieces = [] }) {
        const whole = pieces.map((piece) => piece.text ?? "").join("");
        if (!whole.startsWith(this.#said))
            yield* this.#forget();
        yield* this.#say(whole.slice(this.#said.length));
    }
    *#say(text) {
        if (text === "")
            return;
        this.#said += text;
        for (const _ of text)
            this.#length++;
        yield { type: "delta", text };
    }
    *#forget() {
        const text = this.#said;
        [this.#said, this.#length] = ["", 0];
        if (text !== "")
            yield { type: "again", text };
    }
}

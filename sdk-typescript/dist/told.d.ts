import type { Message } from "./events.js";
import type { Event } from "./schema.js";
/** What is told of a session. */
export type Told = 
/** Something happened; `seq` of the last one is what a stream goes on after. */
{
    type: "event";
    event: Event;
}
/** What the answer goes on with. All of them up to `model.answered` are its text, so a program can print them as they come. */
 | {
    type: "delta";
    text: string;
}
/** What was told of the answer so far does not count: the model begins it again. */
 | {
    type: "again";
    text: string;
};
/**
 * Puts answers together from their pieces. A piece whose beginning was missed is kept back, and what is missing is told with the answer as a
 * whole: the event `model.answered`, before which all of its text is told.
 */
export declare class Answers {
    #private;
    take(message: Message): Generator<Told, void, undefined>;
}

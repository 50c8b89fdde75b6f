/** One page of a list. */
export interface Page<T> {
    items: T[];
    /** Where the next page begins; null at the end. */
    next: string | null;
}
/** A list that is read while somebody goes through it: `for await (const run of abide.runs.list())`. */
export declare class Pages<T> implements AsyncIterable<T> {
    #private;
    constructor(read: (after: string | undefined) => Promise<Page<T>>);
    /** Reads one page: the first, or the one that begins where another ended. */
    page(after?: string): Promise<Page<T>>;
    /** Goes through all of them. */
    [Symbol.asyncIterator](): AsyncGenerator<T, void, undefined>;
    /** Collects them, and no more than so many. */
    all(most?: number): Promise<T[]>;
}

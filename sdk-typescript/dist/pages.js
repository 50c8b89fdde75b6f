// Long lists: read page by page, given one by one.
/** A list that is read while somebody goes through it: `for await (const run of abide.runs.list())`. */
export class Pages {
    #read;
    constructor(read) {
        this.#read = read;
    }
    /** Reads one page: the first, or the one that begins where another ended. */
    page(after) {
        return this.#read(after);
    }
    /** Goes through all of them. */
    async *[Symbol.asyncIterator]() {
        let after;
        for (;;) {
            const page = await this.#read(after);
            yield* page.items;
            // A page may be empty and still have a next one; one that leads back to itself has none.
            if (page.next === null || page.next === after)
                return;
            after = page.next;
        }
    }
    /** Collects them, and no more than so many. */
    async all(most = 10_000) {
        const found = [];
        for await (const item of this) {
            found.push(item);
            if (found.length >= most)
                break;
        }
        return found;
    }
}

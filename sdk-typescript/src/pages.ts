// Long lists: read page by page, given one by one.

/** One page of a list. */
export interface Page<T> {
  items: T[];
  /** Where the next page begins; null at the end. */
  next: string | null;
}

/** A list that is read while somebody goes through it: `for await (const run of abide.runs.list())`. */
export class Pages<T> implements AsyncIterable<T> {
  readonly #read: (after: string | undefined) => Promise<Page<T>>;

  constructor(read: (after: string | undefined) => Promise<Page<T>>) {
    this.#read = read;
  }

  /** Reads one page: the first, or the one that begins where another ended. */
  page(after?: string): Promise<Page<T>> {
    return this.#read(after);
  }

  /** Goes through all of them. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    let after: string | undefined;
    for (;;) {
      const page = await this.#read(after);
      yield* page.items;
      // A page may be empty and still have a next one; one that leads back to itself has none.
      if (page.next === null || page.next === after) return;
      after = page.next;
    }
  }

  /** Collects them, and no more than so many. */
  async all(most = 10_000): Promise<T[]> {
    const found: T[] = [];
    for await (const item of this) {
      found.push(item);
      if (found.length >= most) break;
    }
    return found;
  }
}

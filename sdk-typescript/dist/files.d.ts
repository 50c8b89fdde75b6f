import type { Deleted, File, Folder, Matches } from "./schema.js";
import type { CallOptions, Wire } from "./wire.js";
/** A file or a folder as somebody has seen it. */
export type SeenFile = File & {
    /** Its version: given back with `write`, it is written only if nobody else has changed it since. */
    etag: string | undefined;
};
/** What is in a file, as somebody has seen it. */
export interface Content {
    bytes: Uint8Array;
    /** Its version. */
    etag: string | undefined;
}
/** How a file is written. */
export type WriteOptions = CallOptions & {
    /** The `etag` of the file as it was seen; if somebody else was quicker, the code is `changed`. */
    etag?: string | undefined;
    /** Only if nothing is there, else the code is `changed`. */
    create?: boolean;
    /** It may not be changed from then on. */
    readonly?: boolean;
};
/** How a file or a folder is deleted. */
export type DeleteOptions = CallOptions & {
    /** Whether a folder goes with all that is in it. */
    recursive?: boolean;
    /** The `etag` of a file as it was seen; if somebody else was quicker, the code is `changed`. */
    etag?: string | undefined;
};
/** The files of sessions. */
export declare class Files {
    #private;
    constructor(wire: Wire);
    /** Reads a file, byte for byte. */
    read(session: string, path: string, options?: CallOptions): Promise<Content>;
    /** Writes a file and the folders above it. It is sent once: when no answer comes, look at the file. */
    write(session: string, path: string, content: Uint8Array | string, options?: WriteOptions): Promise<SeenFile>;
    /** Lists what is in a folder; the root if none is named. */
    list(session: string, path?: string, options?: CallOptions): Promise<Folder>;
    /** Says what is known about a file or a folder. */
    stat(session: string, path: string, options?: CallOptions): Promise<SeenFile>;
    /** Moves a file, or a folder with all that is in it, to where nothing is. It is sent once. */
    move(session: string, from: string, to: string, options?: CallOptions): Promise<SeenFile>;
    /** Copies a file, or a folder with all that is in it, to where nothing is. It is sent once. */
    copy(session: string, from: string, to: string, options?: CallOptions): Promise<SeenFile>;
    /** Searches files for a regular expression; `only` such as `*.txt` says which. */
    grep(session: string, pattern: string, only?: string, options?: CallOptions): Promise<Matches>;
    /** Deletes a file, or a folder: with `recursive`, all that is in it. It is sent once. */
    delete(session: string, path: string, options?: DeleteOptions): Promise<Deleted>;
}

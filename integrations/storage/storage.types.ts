import type { Readable } from 'node:stream';

/** A stored file on its way out. */
export interface OutgoingFile {
  name: string;
  mediaType: string;
  /** Bytes. */
  size: number;
  /** Hexadecimal. */
  sha256: string;
  /** Reads the content, each time from its beginning. */
  open(): Promise<Readable>;
}

/** A place outside in which files lie by name. Doing the same again has the same outcome. */
export interface Storage {
  /** Stores a file, whole or not at all; replaces what has the name. */
  put(file: OutgoingFile, signal: AbortSignal): Promise<void>;
  /** Gives a file that lies there a second name, in one step for whoever reads it. */
  publish(file: OutgoingFile, as: string, signal: AbortSignal): Promise<void>;
  /** Removes a file; one that is not there is no failure. */
  remove(name: string): Promise<void>;
  close(): void;
}

import type { Readable } from 'node:stream';

/** A file to be uploaded. */
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

/** A destination of files by name. All operations are idempotent. */
export interface Storage {
  /** Stores a file atomically, replacing an existing one. */
  put(file: OutgoingFile, signal: AbortSignal): Promise<void>;
  /** Copies a stored file to a second name, atomically for readers. */
  publish(file: OutgoingFile, as: string, signal: AbortSignal): Promise<void>;
  /** Removes a file, if it exists. */
  remove(name: string): Promise<void>;
  close(): void;
}

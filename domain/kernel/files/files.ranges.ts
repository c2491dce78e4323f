import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import yauzl from 'yauzl';
import type { BlobStore } from '../../../platform/blobs.ts';
import { openContent } from './files.store.ts';

/** Reads ranges of a stored file, as the unpacking of an archive asks for them. */
export class StoredRanges extends yauzl.RandomAccessReader {
  readonly #blobs: BlobStore;
  readonly #id: string;

  constructor(blobs: BlobStore, id: string) {
    super();
    this.#blobs = blobs;
    this.#id = id;
  }

  override _readStreamForRange(start: number, end: number): Readable {
    if (start === end) return Readable.from([]);
    const out = new PassThrough();
    openContent(this.#blobs, this.#id, { start, end: end - 1 })
      .then((range) => pipeline(range, out))
      .catch((error) => out.destroy(error as Error));
    return out;
  }
}

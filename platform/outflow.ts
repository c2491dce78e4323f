import { Duplex, type Writable } from 'node:stream';

/**
 * Leads what is written into the stream that it is piped into, one chunk after the other: it wants the next one when that
 * stream has passed the last one on, so that whoever writes may use its memory again. A pipe of Node's wants more as soon as
 * it has noted what is to be passed on.
 */
export class Outflow extends Duplex {
  #target: Writable | undefined;
  /** The target, while a chunk is on its way. */
  #passing: Writable | undefined;
  /** What waits for the target. */
  #waiting: ((target: Writable) => void) | undefined;

  constructor() {
    // full with anything in it
    super({ writableHighWaterMark: 1 });
  }

  override pipe<T extends NodeJS.WritableStream>(target: T): T {
    this.#target = target as unknown as Writable;
    this.#waiting?.(this.#target);
    // so that the end is seen by those who look for it
    this.resume();
    return target;
  }

  override _read(): void {
    // nothing is ever read here
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#reach((target) => {
      this.#passing = target;
      target.write(chunk, (error) => {
        this.#passing = undefined;
        done(error);
      });
    });
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#reach((target) => {
      this.push(null);
      target.end(done);
    });
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    // what is on its way may be written over from now on, and must not go out
    this.#passing?.destroy();
    done(error);
  }

  #reach(act: (target: Writable) => void): void {
    if (this.#target) act(this.#target);
    else this.#waiting = act;
  }
}

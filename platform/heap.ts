import v8 from 'node:v8';
import { runInNewContext } from 'node:vm';

/** By how many percent the heap may grow between two collections of garbage. */
const GROWING_PERCENT = 20;

/**
 * Keeps the process's memory near what it uses. By itself V8 lets the heap of a process that has much memory grow to several
 * times that before it collects, so that an import of ten times the rows would take three times the memory.
 *
 * V8 also learns while the process starts, when most objects stay, to make some of them among the old ones at once. In a
 * service these are parts of requests later: dead at the end of each, they lie there until the next full collection and keep
 * all that the request consisted of. That made collecting a fifth of a quick answer, so V8 is told not to.
 */
export function keepHeapSmall(): void {
  v8.setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`);
  v8.setFlagsFromString('--no-allocation-site-pretenuring');
}

/** So many bytes of passed on buffers are worth collecting. */
const WORTHWHILE = 4 * 1024 * 1024;

let collect: ((how: { type: 'minor' }) => void) | undefined;
let left = WORTHWHILE;

/**
 * Collects the buffers that streams leave behind; is to be told how many bytes have gone by. They lie outside the heap,
 * where V8 lets 64 MB of dead ones pile up before it looks: a long upload would cost as much memory, a short one only its
 * own length. And where the heap may grow by little, it looks through the whole of it each time that they are as much.
 */
export function sweep(bytes: number): void {
  left -= bytes;
  if (left > 0) return;
  left = WORTHWHILE;
  if (!collect) {
    v8.setFlagsFromString('--expose-gc');
    // the function is there in contexts made from now on
    collect = runInNewContext('gc') as NonNullable<typeof collect>;
  }
  collect({ type: 'minor' });
}

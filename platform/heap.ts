import v8 from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * By how many percent the heap may grow between two collections of garbage, with what hangs on it: at 20, the text of one large
 * answer was reason enough for two of them, a fifth of the time that the answer took.
 */
const GROWING_PERCENT = 60;

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
const WORTHWHILE = 8 * 1024 * 1024;

type Collect = (how: { type: 'minor' | 'major'; execution?: 'async' }) => void;

let known: Collect | undefined;

function collector(): Collect {
  if (!known) {
    v8.setFlagsFromString('--expose-gc');
    // the function is there in contexts made from now on
    known = runInNewContext('gc') as Collect;
  }
  return known;
}

/** Counts bytes that go by, and tells each time that they have come to what is worth collecting. */
function counter(): (bytes: number) => boolean {
  let left = WORTHWHILE;
  return (bytes) => {
    left -= bytes;
    if (left > 0) return false;
    left = WORTHWHILE;
    return true;
  };
}

const isDue = counter();
const isOutDue = counter();

/**
 * Collects the buffers that streams leave behind; is to be told how many bytes have gone by. They lie outside the heap,
 * where V8 lets 64 MB of dead ones pile up before it looks: a long upload would cost as much memory, a short one only its
 * own length. And where the heap may grow by little, it looks through the whole of it each time that they are as much.
 */
export function sweep(bytes: number): void {
  if (isDue(bytes)) collector()({ type: 'minor' });
}

/** So little among new objects, in bytes, tells that they have just been collected. */
const JUST_COLLECTED = 2 * 1024 * 1024;

const newBytes = (): number =>
  v8.getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_used_size ?? 0;

let seen = 0;

/**
 * The same for what goes out, where several buffers are on their way at any time: what is in use at two collections is
 * taken for old, and of those at two that were close together a long download left 12 MB. So nothing is done where V8
 * has just collected new objects by itself.
 */
export function sweepOut(bytes: number): void {
  if (!isOutDue(bytes)) return;
  const used = newBytes();
  if (used < seen || used < JUST_COLLECTED) {
    seen = used;
    return;
  }
  collector()({ type: 'minor' });
  seen = 0;
}

/** Has the whole heap collected when the work at hand is done. */
export function collectSoon(): void {
  collector()({ type: 'major', execution: 'async' });
}

/** By how much what lies among old objects may have grown since the last {@link tidy} before there is another. */
const UNTIDY = 1.1;

/** What lies among old objects, in bytes; new ones are collected all the time. */
const oldBytes = (): number =>
  v8
    .getHeapSpaceStatistics()
    .reduce(
      (sum, { space_name: name, space_used_size: used }) => (name.startsWith('new') ? sum : sum + used),
      0,
    );

let tidied = 0;

/**
 * Collects the garbage among old objects where there is a tenth of what is in use; to be called between two batches of long
 * work, and once a process has begun, since loading it leaves some. By itself V8 begins later, and goes on beside the work,
 * which by then has made more of it: how much is a matter of chance, and the longer the work, the more it once was. So a long
 * job takes as much memory as a short one.
 * @param untidy another share, as what old objects may have grown to: for work that makes many of them, whose batches would
 * take longer to clear up after than to do.
 */
export function tidy(untidy = UNTIDY): void {
  if (oldBytes() < tidied * untidy) return;
  collector()({ type: 'major' });
  tidied = oldBytes();
}

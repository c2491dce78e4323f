import type { Fault } from '../../emulators/servicenow/faults.ts';
import { type Item, NOTHING, type Path, paths, type SideName, sides, type Written } from './journal.ts';
import { texts } from './landscape.ts';

/** Faults by which the answer to a write is lost that was done. */
const losing: readonly Fault[] = ['reset_after_write', 'truncated_json'];

const other = (side: SideName): SideName => (side === 'local' ? 'remote' : 'local');

/** The side whose value wins where both have written one without knowing of the other's. */
const winnerOf = (path: Path): SideName =>
  texts.find(({ card_field }) => card_field === path)!.direction === 'remote_leads' ? 'remote' : 'local';

export interface CheckResult {
  faults: string[];
  /** It is left on one side, rightly, until a person has said what is to become of it. */
  disputed: boolean;
}

/**
 * Judges one thing now that both sides are at rest.
 * @param asked whether a question about its removal is open.
 * @param fired faults of the remote meanwhile.
 */
export function checkItem(item: Item, asked: boolean, fired: ReadonlySet<Fault>): CheckResult {
  const { name, local, remote, root } = item;
  const faults: string[] = [];
  const verdict = { faults, disputed: false };
  if (root === undefined) faults.push(`'${name}' was made by nobody`);
  const removers = sides.filter((side) => item[side].removedBy === 'person');
  for (const side of sides) {
    if (removers.includes(side) && item[side].there)
      faults.push(`'${name}' is there again, though somebody has removed it (${side})`);
  }
  if (removers.length === 0) {
    for (const side of sides) if (!item[side].there) faults.push(`'${name}' is missing (${side})`);
    if (local.there && remote.there) for (const path of paths) checkField(item, path, fired, faults);
    return verdict;
  }
  if (removers.length === 2) return verdict;
  const left = other(removers[0]!);
  const unseen = paths.filter((path) => isUnseen(item, left, path));
  if (item[left].there) {
    verdict.disputed = true;
    if (!asked) faults.push(`'${name}' is left, and nobody is asked about it (${left})`);
    else if (unseen.length === 0 && !hasWritten(item, left))
      faults.push(`'${name}' is left, though nobody has changed it (${left})`);
  } else if (unseen.length > 0 && !item[left].removedUnseen) {
    const lost = unseen.map((path) => `${path} ${item[left].held[path]}`).join(', ');
    faults.push(`'${name}' was removed though somebody had changed it: ${lost} (${left})`);
  }
  return verdict;
}

const hasWritten = (item: Item, side: SideName): boolean =>
  paths.some((path) => [...item.written[path].values()].some((one) => one.side === side && !one.atFirst));

/** Whether a value that a person has written on a side has never come to the other. */
function isUnseen(item: Item, side: SideName, path: Path): boolean {
  const value = item[side].held[path];
  return item.written[path].get(value)?.side === side && !item[other(side)].ever[path].has(value);
}

/**
 * A field holds the same on both sides: a value that nobody has replaced. Any other such value has given way to one of
 * the side that leads, of which its writer did not know.
 */
function checkField(item: Item, path: Path, fired: ReadonlySet<Fault>, faults: string[]): void {
  const { name, local, remote, root } = item;
  const written = item.written[path];
  const [here, outside] = [local.held[path], remote.held[path]];
  if (here !== outside) {
    faults.push(
      `${path} of '${name}' differs: ${here} here, ${outside} outside; ${valuesWritten(item, path)}`,
    );
    return;
  }
  const replaced = new Set([...written.values()].map(({ seen }) => seen));
  const standing = [root?.[path] ?? NOTHING, ...written.keys()].filter((value) => !replaced.has(value));
  const winner = winnerOf(path);
  const lostBefore = losing.some((fault) => fired.has(fault));
  const isBefore = (earlier: string, later: string) => ancestors(written, later).includes(earlier);
  for (const value of standing) {
    if (value === here) continue;
    const loser = written.get(value)?.side === other(winner);
    const to = [here, ...ancestors(written, here)].find((one) => {
      const by = written.get(one);
      // a write whose answer was lost cannot be distinguished from one that was not done when its value was replaced there since
      if (lostBefore && by && written.get(value)?.side === 'remote' && isBefore(one, value)) return true;
      return by?.side === winner && !isBefore(one, value) && !isBefore(value, one);
    });
    if (!loser || to === undefined)
      faults.push(`${path} of '${name}' lost ${value} and is ${here}; ${valuesWritten(item, path)}`);
  }
  if (!standing.includes(here) && !lostBefore)
    faults.push(`${path} of '${name}' went back to ${here}; ${valuesWritten(item, path)}`);
}

/** The values that led to one, newest first. */
function ancestors(written: ReadonlyMap<string, Written>, value: string): string[] {
  const found: string[] = [];
  for (let one = written.get(value); one && !found.includes(one.seen); one = written.get(one.seen))
    found.push(one.seen);
  return found;
}

const valuesWritten = ({ root, written }: Item, path: Path): string =>
  `at first '${root?.[path]}'${[...written[path]].map(([value, { side, seen }]) => `, ${side} '${seen}' > '${value}'`).join('')}`;

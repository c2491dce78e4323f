import type { Fault } from '../../emulators/servicenow/faults.ts';
import { NOTHING, type Path, paths, type SideName, type Story, sides, type Written } from './chronicle.ts';
import { texts } from './landscape.ts';

/** Faults by which the answer to a write is lost that was done. */
const losing: readonly Fault[] = ['reset_after_write', 'truncated_json'];

const other = (side: SideName): SideName => (side === 'local' ? 'remote' : 'local');

/** Whose value stands where both have written one without knowing of the other's. */
const winnerOf = (path: Path): SideName =>
  texts.find(({ card_field }) => card_field === path)!.direction === 'remote_leads' ? 'remote' : 'local';

export interface Verdict {
  faults: string[];
  /** It is left on one side, rightly, until a person has said what is to become of it. */
  disputed: boolean;
}

/**
 * Judges one thing now that both sides are at rest.
 * @param asked whether a question about its removal is open.
 * @param befallen what the remote has done meanwhile.
 */
export function judgeStory(story: Story, asked: boolean, befallen: ReadonlySet<Fault>): Verdict {
  const { name, local, remote, root } = story;
  const faults: string[] = [];
  const verdict = { faults, disputed: false };
  if (root === undefined) faults.push(`'${name}' was made by nobody`);
  const removers = sides.filter((side) => story[side].removedBy === 'person');
  for (const side of sides) {
    if (removers.includes(side) && story[side].there)
      faults.push(`'${name}' is there again, though somebody has removed it (${side})`);
  }
  if (removers.length === 0) {
    for (const side of sides) if (!story[side].there) faults.push(`'${name}' is missing (${side})`);
    if (local.there && remote.there) for (const path of paths) judgeField(story, path, befallen, faults);
    return verdict;
  }
  if (removers.length === 2) return verdict;
  const left = other(removers[0]!);
  const unseen = paths.filter((path) => isUnseen(story, left, path));
  if (story[left].there) {
    verdict.disputed = true;
    if (!asked) faults.push(`'${name}' is left, and nobody is asked about it (${left})`);
    else if (unseen.length === 0 && !hasWritten(story, left))
      faults.push(`'${name}' is left, though nobody has changed it (${left})`);
  } else if (unseen.length > 0 && !story[left].removedUnseen) {
    const lost = unseen.map((path) => `${path} ${story[left].held[path]}`).join(', ');
    faults.push(`'${name}' was removed though somebody had changed it: ${lost} (${left})`);
  }
  return verdict;
}

const hasWritten = (story: Story, side: SideName): boolean =>
  paths.some((path) => [...story.written[path].values()].some((one) => one.side === side && !one.atFirst));

/** Whether a value that a person has written on a side has never come to the other. */
function isUnseen(story: Story, side: SideName, path: Path): boolean {
  const value = story[side].held[path];
  return story.written[path].get(value)?.side === side && !story[other(side)].ever[path].has(value);
}

/**
 * A field holds the same on both sides: a value that nobody has replaced. Any other such value has given way to one of
 * the side that leads, of which its writer did not know.
 */
function judgeField(story: Story, path: Path, befallen: ReadonlySet<Fault>, faults: string[]): void {
  const { name, local, remote, root } = story;
  const written = story.written[path];
  const [here, outside] = [local.held[path], remote.held[path]];
  if (here !== outside) {
    faults.push(`${path} of '${name}' differs: ${here} here, ${outside} outside; ${told(story, path)}`);
    return;
  }
  const replaced = new Set([...written.values()].map(({ seen }) => seen));
  const standing = [root?.[path] ?? NOTHING, ...written.keys()].filter((value) => !replaced.has(value));
  const winner = winnerOf(path);
  const lostBefore = losing.some((fault) => befallen.has(fault));
  const isBefore = (earlier: string, later: string) => ancestors(written, later).includes(earlier);
  for (const value of standing) {
    if (value === here) continue;
    const loser = written.get(value)?.side === other(winner);
    const to = [here, ...ancestors(written, here)].find((one) => {
      const by = written.get(one);
      // a write whose answer was lost cannot be told from one that was not done when its value was replaced there since
      if (lostBefore && by && written.get(value)?.side === 'remote' && isBefore(one, value)) return true;
      return by?.side === winner && !isBefore(one, value) && !isBefore(value, one);
    });
    if (!loser || to === undefined)
      faults.push(`${path} of '${name}' lost ${value} and is ${here}; ${told(story, path)}`);
  }
  if (!standing.includes(here) && !lostBefore)
    faults.push(`${path} of '${name}' went back to ${here}; ${told(story, path)}`);
}

/** The values that led to one, newest first. */
function ancestors(written: ReadonlyMap<string, Written>, value: string): string[] {
  const found: string[] = [];
  for (let one = written.get(value); one && !found.includes(one.seen); one = written.get(one.seen))
    found.push(one.seen);
  return found;
}

const told = ({ root, written }: Story, path: Path): string =>
  `at first '${root?.[path]}'${[...written[path]].map(([value, { side, seen }]) => `, ${side} '${seen}' > '${value}'`).join('')}`;

import type { Role } from '../access/world.ts';
import { between, pick, type Random } from '../bench/landscape/random.ts';
import { allows, groups, type Operation } from './operations.ts';

export type Mood = 'valid' | 'nearly' | 'hostile';

/** One request to come. */
export type Planned = { operation: Operation; group: string; role: Role; mood: Mood };

/** A fair run asks each operation so often for each group of roles. */
export const LEAST_PER_GROUP = 60;
/** Of the requests of one operation, the part that comes from those who may use it, and the part meant to succeed. */
const ABLE = 0.42;
const MEANT_TO_SUCCEED = 0.4;
/** Of the requests that those who may make, the part that stays wild all the same while success is still wanted. */
const WILD = 0.06;
/** So many requests make a whole run: each operation is asked as often as a fair run asks, however many there are. */
const WHOLE = 50_000;

/** Whether a run of so many requests must be fair to each operation. */
export const isWhole = (requests: number): boolean => requests >= WHOLE;

/** Which groups ask the operation, one after the other; those who may use it last. */
function slotsOf(operation: Operation, each: number, whole: boolean): string[] {
  const names = Object.keys(groups);
  const may = (role: Role) => operation.rows.some((row) => allows(row, role));
  const able = names.filter((name) => groups[name]!.some(may));
  const least = whole ? LEAST_PER_GROUP : Math.min(LEAST_PER_GROUP, Math.floor(each / names.length));
  const slots = names.flatMap((name) => Array.from({ length: least }, () => name));
  let fromAble = able.length * least;
  while (slots.length < each || fromAble < ABLE * slots.length) {
    slots.push(able[slots.length % able.length]!);
    fromAble += 1;
  }
  return slots;
}

/**
 * What to ask, in random order: a whole run asks each operation at least 60 times for each group of roles, any run asks
 * enough in earnest of those who may.
 */
export function plan(operations: Operation[], requests: number, random: Random): Planned[] {
  const each = Math.ceil(requests / operations.length);
  const planned = operations.flatMap((operation) => {
    const may = (role: Role) => operation.rows.some((row) => allows(row, role));
    const slots = slotsOf(operation, each, isWhole(requests));
    let wanted = Math.ceil(slots.length * MEANT_TO_SUCCEED);
    return slots.reverse().map((group): Planned => {
      const able = groups[group]!.filter(may);
      if (wanted > 0 && able.length > 0 && random() >= WILD) {
        wanted -= 1;
        return { operation, group, role: pick(random, able), mood: 'valid' };
      }
      const mood = pick(random, ['valid', 'nearly', 'nearly', 'hostile'] as const);
      return { operation, group, role: pick(random, groups[group]!), mood };
    });
  });
  for (let at = planned.length - 1; at > 0; at -= 1) {
    const other = between(random, 0, at);
    [planned[at], planned[other]] = [planned[other]!, planned[at]!];
  }
  return planned;
}

import type { Role } from '../access/world.ts';
import { between, pick, type Random } from '../bench/landscape/random.ts';
import { allows, groups, type Operation } from './operations.ts';

export type Mood = 'valid' | 'nearly' | 'hostile';

/** One request to come. */
export interface Planned {
  operation: Operation;
  group: string;
  role: Role;
  mood: Mood;
}

/** A fair run asks each operation so often for each group of roles. */
export const LEAST_PER_GROUP = 60;
/** Of the requests of one operation, the part that is meant to succeed. */
const MEANT_TO_SUCCEED = 0.42;

/**
 * What to ask: for each operation at least 60 requests of each group of roles, when there are requests enough for
 * that, and enough valid ones of those who may; in random order.
 */
export function plan(operations: Operation[], requests: number, random: Random): Planned[] {
  const each = Math.ceil(requests / operations.length);
  const names = Object.keys(groups);
  const planned = operations.flatMap((operation) => {
    const may = (role: Role) => operation.rows.some((row) => allows(row, role));
    const helped = names.filter((name) => groups[name]!.some(may));
    // as many for each as are asked for, or what there is; the rest goes where it can succeed
    const least = Math.min(LEAST_PER_GROUP, Math.floor(each / names.length));
    const slots = names.flatMap((name) => Array.from({ length: least }, () => name));
    const rest = helped.length > 0 ? helped : names;
    while (slots.length < each) slots.push(rest[slots.length % rest.length]!);
    let wanted = Math.ceil(each * MEANT_TO_SUCCEED);
    // those who alone may use it come last, where the rest went
    return slots.reverse().map((group): Planned => {
      const able = groups[group]!.filter(may);
      if (wanted > 0 && able.length > 0 && random() < 0.9) {
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

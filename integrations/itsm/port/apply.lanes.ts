import type { PlanRow, Standing } from '../engine/plan.types.ts';

/** Transactions that write here at the same time: while one waits for the database, the other is put into words. */
const LANES = 2;

/**
 * Whether a row may be written beside others in another transaction: it makes a card or a relation of its own, and builds
 * on nothing that the rows around it do. Relations whose ends are known from the plan are left out: the others lock all
 * their cards at once and in one order, so that they never wait for each other in a circle.
 */
const standsAlone = ({ action, side, needs, drops, cardId, diff, cards }: PlanRow): boolean =>
  side === 'local' &&
  needs === null &&
  drops.length === 0 &&
  cardId === null &&
  (action === 'create' ? !('parent_id' in diff) : action === 'relate' && cards === null);

/** Puts parts of a plan together whose rows are of one kind and stand alone, as many as can be written at once. */
export async function* inLanes(parts: AsyncIterable<Standing[]>): AsyncGenerator<Standing[]> {
  let waiting: Standing[][] = [];
  let kind: string | null = null;
  for await (const part of parts) {
    const of = kindOf(part);
    if (waiting.length === LANES || (waiting.length > 0 && (of === null || of !== kind))) {
      yield waiting.flat();
      waiting = [];
    }
    waiting.push(part);
    kind = of;
  }
  if (waiting.length > 0) yield waiting.flat();
}

/** What all rows of a part do; null where they do not, or do not stand alone. */
function kindOf(part: readonly Standing[]): string | null {
  const [first] = part;
  if (!first || !part.every(({ row }) => row.action === first.row.action && standsAlone(row))) return null;
  return first.row.action;
}

/** The parts that steps were put together from. */
export function lanesOf<S>(steps: readonly S[], size: number): S[][] {
  const lanes: S[][] = [];
  for (let at = 0; at < steps.length; at += size) lanes.push(steps.slice(at, at + size));
  return lanes;
}

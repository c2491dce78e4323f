import { isLive } from './book.ts';
import type { Book } from './book.types.ts';
import type { Surroundings } from './mapping.transforms.ts';
import type { Mapping } from './mapping.types.ts';
import type { Scorer } from './match.ts';
import type { Observation } from './observation.types.ts';
import { beginPlanning, type PartOptions } from './plan.draft.ts';
import { forgetReached, makersIn, planLate } from './plan.late.ts';
import { endsOf, planLinks } from './plan.links.ts';
import { planPairs } from './plan.pairs.ts';
import type { Plan, PlanRow } from './plan.types.ts';
import { planUnmatched } from './plan.unmatched.ts';

/** What planning asks of its caller; both must answer the same for the same question. */
export interface PlanTools {
  score: Scorer;
  evaluate: Surroundings['evaluate'];
  /** Who is who beyond the book: cards and records that reference fields lead to. */
  beyond?: PartOptions['beyond'];
}

/**
 * Makes the plan of a run from what was read and what the book remembers. It writes nothing, and the same
 * observation always gives the same plan. This is how planning is meant: planInParts, which never has a whole table in
 * memory, comes to the same.
 */
export function makePlan(
  id: string,
  mapping: Mapping,
  book: Book,
  seen: Observation,
  tools: PlanTools,
): Plan {
  const planning = beginPlanning(
    mapping,
    book,
    seen,
    tools.evaluate,
    tools.beyond ? { beyond: tools.beyond } : {},
  );
  planPairs(planning);
  planUnmatched(planning, tools.score);
  forgetReached(planning.waits, planLate(planning, planning.late, makersIn(planning.rows)));
  planLinks(planning, endsOf(planning));
  return {
    id,
    mappingId: mapping.id,
    madeAt: seen.now,
    rows: planning.rows,
    stopped: tooMany(mapping, planning.rows.filter(removes).length, livePairs(book)),
    closing: {
      watermark: seen.remote.watermark,
      // what waits is looked at as well: nothing is kept of it
      again: [...new Set([...planning.again, ...planning.waits.keys()])].sort(),
      absences: planning.absences,
    },
  };
}

/** Rows that the breaker counts. */
export const removes = ({ action }: PlanRow): boolean => action === 'delete' || action === 'quarantine';

const livePairs = ({ pairs }: Book): number => [...pairs.values()].filter(isLive).length;

/** The breaker: too many removals at once are more likely a fault of the source than somebody's wish. */
export function tooMany({ deletion }: Mapping, count: number, pairs: number): string | null {
  const { maxCount, maxRatio } = deletion;
  if (count === 0) return null;
  if (count > maxCount) return `${count} removals are more than the ${maxCount} that are allowed in one run.`;
  if (count / pairs <= maxRatio) return null;
  const percent = (ratio: number) => `${Math.round(ratio * 1000) / 10} %`;
  return `${count} removals among ${pairs} pairs are more than the ${percent(maxRatio)} that are allowed in one run.`;
}

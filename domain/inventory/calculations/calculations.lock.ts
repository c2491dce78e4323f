import { embed, query } from '../../../platform/database.ts';
import type { Work } from '../../kernel/context.ts';

type Locking = Pick<Work, 'sql' | 'metamodel'>;

// The advisory lock after the hierarchy's 7203010: it is acquired after that one and before any row lock.
const LOCK = 7203011;

/**
 * Serialises the commands that write cards whose values other cards' formulas read. The dependent rows are only known
 * while they are computed, so locking them one at a time could deadlock. No lock is acquired if no formula reads other
 * cards.
 */
export async function lockCalculations({ sql, metamodel }: Locking, types: Iterable<string>): Promise<void> {
  const { crossingTypes } = metamodel.calculations;
  if (crossingTypes.length === 0) return;
  if ([...types].some((type) => crossingTypes.includes(type))) {
    await query(sql).run`select pg_advisory_xact_lock(${embed(LOCK)})`;
  }
}

/** {@link lockCalculations} for stored cards. */
export async function lockCalculationsOf({ sql, metamodel }: Locking, ids: string[]): Promise<void> {
  const { crossingTypes } = metamodel.calculations;
  if (crossingTypes.length === 0) return;
  await query(sql).rows`select pg_advisory_xact_lock(${embed(LOCK)})
     where exists (select from cards
     where id = any(${ids}::uuid[]) and type = any(${crossingTypes}::text[]))`;
}

import { queryRows } from '../../../platform/database.ts';
import type { Work } from '../../kernel/context.ts';

type Locking = Pick<Work, 'sql' | 'metamodel'>;

// Beside the hierarchy's 7203010; taken after it and before any row.
const LOCK = 7203011;

/**
 * Cards whose change makes others' values follow are written one command after another: which rows follow is only
 * known while they are computed, so that locking them one by one would let writers wait for each other in a circle.
 * Costs nothing while no formula reads other cards.
 */
export async function lockCalculations({ sql, metamodel }: Locking, types: Iterable<string>): Promise<void> {
  const { crossingTypes } = metamodel.calculations;
  if (crossingTypes.length === 0) return;
  if ([...types].some((type) => crossingTypes.includes(type))) {
    await sql.raw(`select pg_advisory_xact_lock(${LOCK})`);
  }
}

/** {@link lockCalculations} for stored cards. */
export async function lockCalculationsOf({ sql, metamodel }: Locking, ids: string[]): Promise<void> {
  const { crossingTypes } = metamodel.calculations;
  if (crossingTypes.length === 0) return;
  await queryRows(
    sql,
    `select pg_advisory_xact_lock(${LOCK})
     where exists (select from cards where id = any(?::uuid[]) and type = any(?::text[]))`,
    [ids, crossingTypes],
  );
}

import { violatedConstraint } from '../../../platform/database.ts';
import type { Work } from '../../kernel/context.ts';

const NUMBERING_LOCK = 7203058;
/** How often a command begins anew since its number was given meanwhile: only a rollback brings one back. */
const ATTEMPTS = 3;

const kinds = {
  R: { table: 'risks', index: 'risks_reference' },
  T: { table: 'risk_mitigation_tasks', index: 'risk_mitigation_tasks_reference' },
} as const;

/**
 * The next references of a kind, such as `R-000042`: the highest there is and one, without gaps, since whoever takes one
 * keeps others waiting until the transaction ends. The last lock that a command takes.
 */
export async function nextReferences(
  { sql }: Work,
  kind: keyof typeof kinds,
  count: number,
): Promise<string[]> {
  await sql.raw('select pg_advisory_xact_lock(?)', [NUMBERING_LOCK]);
  const { rows } = await sql.raw(
    `select coalesce(max(substr(reference, 3)::integer), 0) as last from ${kinds[kind].table}`,
  );
  return Array.from({ length: count }, (_, n) => `${kind}-${String(rows[0].last + n + 1).padStart(6, '0')}`);
}

/** Runs a command that takes references, again where a rollback has brought one of them back meanwhile. */
export async function withReferences<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run();
    } catch (error) {
      const violated = violatedConstraint(error);
      const isTaken = Object.values(kinds).some(({ index }) => index === violated);
      if (!isTaken || attempt === ATTEMPTS) throw error;
    }
  }
}

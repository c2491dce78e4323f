import { violatedConstraint } from '../../../platform/database.ts';
import type { Work } from '../../kernel/context.ts';

const NUMBERING_LOCK = 7203058;
/** How often a command is retried when its reference was taken, which only a rollback causes. */
const ATTEMPTS = 3;

const kinds = {
  R: { table: 'risks', index: 'risks_reference' },
  T: { table: 'risk_mitigation_tasks', index: 'risk_mitigation_tasks_reference' },
} as const;

/**
 * The next references of a kind, such as `R-000042`: consecutive, because a lock until the end of the transaction serialises
 * commands that take one. Commands take this lock last.
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

/** Runs a command that takes references, and retries it where a rollback has restored one of them. */
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

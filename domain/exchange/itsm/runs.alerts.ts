import type { Work } from '../../kernel/context.ts';
import { ownersOf } from './mappings.people.ts';

/** Whoever was told is told again no sooner. */
const PAUSE = '1 day';

/** A run that has come to a point of which people may have to know. */
export interface AlertedRun {
  id: string;
  mapping_id: string | null;
  status: string;
  trigger: string;
  stopped: string | null;
  error_message: string | null;
}

/** What is wrong with the runs of a mapping. */
type AlertKind = 'failed' | 'stopped' | 'review' | 'questions';

/**
 * Tells the owner of a mapping that its runs fail, or wait for a person: once, and again when it is still so a day later.
 * When a run ends well and nothing waits any more, the owner is told that too.
 */
export async function noteAlert({ sql, emit }: Pick<Work, 'sql' | 'emit'>, run: AlertedRun): Promise<void> {
  if (run.mapping_id === null) return;
  const alert = await alertOf(sql, run);
  if (alert === undefined) return;
  const { rows } = await sql.raw(
    alert === null
      ? `update itsm_mappings m set told_at = null from itsm_mappings b
         where m.id = ? and b.id = m.id and m.told_at is not null ${answered}`
      : `update itsm_mappings m set told_at = date_trunc('milliseconds', clock_timestamp()) from itsm_mappings b
         where m.id = ? and b.id = m.id and (m.told_at is null or m.told_at <= now() - interval '${PAUSE}') ${answered}`,
    [run.mapping_id],
  );
  const [mapping] = rows;
  if (!mapping) return;
  const { created_by, old_told_at, told_at, ...facts } = mapping;
  emit({
    event_type: alert === null ? 'itsm_mapping.recovered' : 'itsm_mapping.alerted',
    data: {
      ...facts,
      run_id: run.id,
      ...(alert ?? {}),
      recipients: await ownersOf(sql, created_by),
      changes: { told_at: { old: old_told_at, new: told_at } },
    },
  });
}

const answered = `returning m.id, m.connection_id, m.card_type_key, m.remote_table, m.created_by,
  utc(b.told_at) as old_told_at, utc(m.told_at) as told_at`;

interface Alert {
  kind: AlertKind;
  reason: string;
}

/** What is to be told of the run; null: all is well; undefined: nothing new. */
async function alertOf(sql: Work['sql'], run: AlertedRun): Promise<Alert | null | undefined> {
  if (run.status === 'failed') return { kind: 'failed', reason: run.error_message ?? 'The run has failed.' };
  if (run.status === 'review') {
    if (run.stopped !== null) return { kind: 'stopped', reason: run.stopped };
    // who has asked for the run looks at its plan without being told
    if (run.trigger === 'manual') return undefined;
    return { kind: 'review', reason: 'The plan of a run waits for a decision.' };
  }
  if (run.status !== 'completed') return undefined;
  const { rows } = await sql.raw('select count(*) as count from itsm_questions where mapping_id = ?', [
    run.mapping_id,
  ]);
  const count: number = rows[0].count;
  if (count === 0) return null;
  const what = count === 1 ? '1 question waits' : `${count} questions wait`;
  return { kind: 'questions', reason: `${what} for an answer: conflicts, or which card a record is.` };
}

import { type Db, inTransaction } from '../../platform/database.ts';
import type { RunningJob } from '../jobs/jobs.running.ts';
import type { Metamodel } from '../metamodel/metamodel.compile.ts';

const READ = 500;

interface Judged {
  line: number;
  card_type_key: string;
  payload: Record<string, unknown>;
  /** The card as it stands; null for a new one. */
  stored: Record<string, unknown> | null;
}

type Diff = Record<string, { old: unknown; new: unknown }>;

/** Notes what each card's row would set that is not so already, as `{field: {old, new}}`. */
export async function noteDiffs(job: RunningJob, db: Db, migrationId: string): Promise<void> {
  for (let line = 0; ; ) {
    job.signal.throwIfAborted();
    const next = await inTransaction(db, async (sql) => {
      const { rows }: { rows: Judged[] } = await sql.raw(
        `select r.line, r.card_type_key, r.payload, case when c.id is not null then jsonb_build_object(
             'name', c.name, 'alias', c.alias, 'description', c.description, 'subtype', c.subtype, 'status', c.status,
             'external_id', c.external_id, 'parent_id', c.parent_id, 'lifecycle', c.lifecycle, 'attributes', c.attributes)
           end as stored
         from migration_records r left join cards c on c.id = r.target_id
         where r.migration_id = ? and r.entity_kind = 'card' and r.action in ('create', 'update') and r.line > ?
         order by r.line limit ${READ}`,
        [migrationId, line],
      );
      const diffs = rows.map((row) => ({ line: row.line, ...diffOf(job.ctx.metamodel, row) }));
      await sql.raw(
        `update migration_records r set diff = v.diff, cost_keys = v.cost_keys
         from jsonb_to_recordset(?::jsonb) as v(line integer, diff jsonb, cost_keys text[])
         where r.migration_id = ? and r.line = v.line`,
        [JSON.stringify(diffs), migrationId],
      );
      await job.checkpoint({ sql }, {});
      return rows.at(-1)?.line;
    });
    if (next === undefined) return;
    line = next;
  }
}

function diffOf(
  metamodel: Metamodel,
  { card_type_key, payload, stored }: Judged,
): { diff: Diff; cost_keys: string[] } {
  const diff: Diff = {};
  const note = (field: string, before: unknown, after: unknown) => {
    const old = before ?? null;
    if (JSON.stringify(old) !== JSON.stringify(after)) diff[field] = { old, new: after };
  };
  for (const [field, value] of Object.entries(payload)) {
    if (field === 'type') continue;
    if (field === 'attributes' || field === 'lifecycle') {
      const before = (stored?.[field] ?? {}) as Record<string, unknown>;
      for (const [key, own] of Object.entries(value as object)) note(`${field}.${key}`, before[key], own);
    } else if (field === 'parent_external_id' || field === 'parent_path') {
      // which card that is shows when it is written; here only that a new card gets a parent
      if (!stored) note(field, null, value);
    } else {
      note(field, stored?.[field], typeof value === 'string' ? value.trim() : value);
    }
  }
  const costs = metamodel.cardTypes.get(card_type_key)?.costKeys ?? [];
  return {
    diff,
    cost_keys: costs.map((key) => `attributes.${key}`).filter((key) => Object.hasOwn(diff, key)),
  };
}

import { type Db, inTransaction } from '../../../platform/database.ts';
import type { RunningJob } from '../../kernel/jobs/jobs.running.ts';

const READ = 500;

interface Judged {
  line: number;
  type_key: string;
  payload: Record<string, unknown>;
  /** As it stands; null for a new one. */
  stored: Record<string, unknown> | null;
}

type Diff = Record<string, { old: unknown; new: unknown }>;

/** Notes what each card's row would set that is not so already, as `{field: {old, new}}`. */
export async function noteDiffs(job: RunningJob, db: Db, migrationId: string): Promise<void> {
  await inPages(job, db, migrationId, {
    kind: 'card',
    typeKey: 'r.card_type_key',
    from: 'cards',
    stored: `'name', s.name, 'alias', s.alias, 'description', s.description, 'subtype', s.subtype, 'status', s.status,
      'external_id', s.external_id, 'parent_id', s.parent_id, 'lifecycle', s.lifecycle, 'attributes', s.attributes`,
    costKeys: (type) => job.ctx.metamodel.cardTypes.get(type)?.costKeys ?? [],
  });
}

/** Notes the same of relations that come with values. */
export async function noteRelationDiffs(job: RunningJob, db: Db, migrationId: string): Promise<void> {
  await inPages(job, db, migrationId, {
    kind: 'relation',
    typeKey: 'r.relation_type',
    from: 'relations',
    stored: `'description', s.description, 'attributes', s.attributes`,
    costKeys: (type) => job.ctx.metamodel.relationTypes.get(type)?.costKeys ?? [],
  });
}

interface Told {
  kind: 'card' | 'relation';
  /** SQL of the type's key, the table of what is there, and the members of it that rows can set. */
  typeKey: string;
  from: string;
  stored: string;
  costKeys(type: string): readonly string[];
}

async function inPages(
  job: RunningJob,
  db: Db,
  migrationId: string,
  { kind, typeKey, from, stored, costKeys }: Told,
): Promise<void> {
  for (let line = 0; ; ) {
    job.signal.throwIfAborted();
    const next = await inTransaction(db, async (sql) => {
      const { rows }: { rows: Judged[] } = await sql.raw(
        `select r.line, ${typeKey} as type_key, r.payload,
           case when s.id is not null then jsonb_build_object(${stored}) end as stored
         from migration_records r left join ${from} s on s.id = r.target_id
         where r.migration_id = ? and r.entity_kind = ? and r.action in ('create', 'update') and r.payload is not null
           and r.line > ?
         order by r.line limit ${READ}`,
        [migrationId, kind, line],
      );
      const diffs = rows.map((row) => ({ line: row.line, ...diffOf(row, costKeys(row.type_key)) }));
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

function diffOf({ payload, stored }: Judged, costs: readonly string[]): { diff: Diff; cost_keys: string[] } {
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
  return {
    diff,
    cost_keys: costs.map((key) => `attributes.${key}`).filter((key) => Object.hasOwn(diff, key)),
  };
}

import { type Db, inTransaction, queryRows } from '../../../platform/database.ts';
import type { RunningJob } from '../../kernel/jobs/jobs.running.ts';

const READ = 500;

interface PlannedRecord {
  line: number;
  type: string;
  payload: Record<string, unknown>;
  /** The stored card or relation; null for a new one. */
  stored: Record<string, unknown> | null;
}

type Diff = Record<string, { old: unknown; new: unknown }>;

/** The tables that records change, with the column of a record's type and the columns that rows can set. */
const tables = {
  card: {
    name: 'cards',
    type: 'card_type_key',
    columns: 'name, alias, description, subtype, status, external_id, parent_id, lifecycle, attributes',
  },
  relation: { name: 'relations', type: 'relation_type', columns: 'description, attributes' },
} as const;

/** Stores what applying each card and relation would change, as `{field: {old, new}}`. */
export async function storeDiffs(job: RunningJob, db: Db, migrationId: string): Promise<void> {
  const { cardTypes, relationTypes } = job.ctx.metamodel;
  await storeDiffsOf('card', job, db, migrationId, cardTypes);
  await storeDiffsOf('relation', job, db, migrationId, relationTypes);
}

async function storeDiffsOf(
  kind: keyof typeof tables,
  job: RunningJob,
  db: Db,
  migrationId: string,
  types: ReadonlyMap<string, { costKeys: readonly string[] }>,
): Promise<void> {
  const { name, type, columns } = tables[kind];
  for (let line: number | undefined = 0; line !== undefined; ) {
    job.signal.throwIfAborted();
    const from: number = line;
    line = await inTransaction(db, async (sql) => {
      const rows = await queryRows<PlannedRecord>(
        sql,
        `select r.line, r.${type} as type, r.payload,
           (select to_jsonb(s) from (select ${columns} from ${name} where id = r.target_id) s) as stored
         from migration_records r
         where r.migration_id = ? and r.entity_kind = ? and r.action in ('create', 'update') and r.payload is not null
           and r.line > ?
         order by r.line limit ${READ}`,
        [migrationId, kind, from],
      );
      const diffs = rows.map((row) => {
        const diff = diffOf(row);
        const costs = (types.get(row.type)?.costKeys ?? []).map((key) => `attributes.${key}`);
        return { line: row.line, diff, cost_keys: costs.filter((key) => Object.hasOwn(diff, key)) };
      });
      await sql.raw(
        `update migration_records r set diff = v.diff, cost_keys = v.cost_keys
         from jsonb_to_recordset(?::jsonb) as v(line integer, diff jsonb, cost_keys text[])
         where r.migration_id = ? and r.line = v.line`,
        [JSON.stringify(diffs), migrationId],
      );
      await job.checkpoint({ sql }, {});
      return rows.at(-1)?.line;
    });
  }
}

function diffOf({ payload, stored }: PlannedRecord): Diff {
  const diff: Diff = {};
  const compare = (field: string, before: unknown, after: unknown) => {
    const old = before ?? null;
    if (JSON.stringify(old) !== JSON.stringify(after)) diff[field] = { old, new: after };
  };
  for (const [field, value] of Object.entries(payload)) {
    if (field === 'type') continue;
    if (field === 'attributes' || field === 'lifecycle') {
      const before = (stored?.[field] ?? {}) as Record<string, unknown>;
      for (const [key, own] of Object.entries(value as object)) compare(`${field}.${key}`, before[key], own);
    } else if (field === 'parent_external_id' || field === 'parent_path') {
      // the parent of an existing card is only resolved when the card is written
      if (!stored) compare(field, null, value);
    } else {
      compare(field, stored?.[field], typeof value === 'string' ? value.trim() : value);
    }
  }
  return diff;
}

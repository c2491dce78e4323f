import { counted } from '../../../platform/counted.ts';
import {
  type Db,
  embed,
  inTransaction,
  query,
  type Sql,
  type Transaction,
} from '../../../platform/database.ts';
import type { FieldError } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { JobCounts, RunningJob } from '../../kernel/jobs/jobs.running.ts';
import { may } from '../../kernel/permissions/policy.ts';
import { labelsOf } from '../imports/imports.labels.ts';
import { readTagCatalogue, type TagCatalogue } from '../imports/imports.tags.ts';
import { cardTypeFinder } from './mapping.guess.ts';
import { LEFT_OUT } from './mapping.targets.ts';
import { cardTypesOf, type MappedBlock, mapBlocks, readonlyReason, unmapped } from './mapping.ts';
import {
  type EntityKind,
  MigrationRecord,
  type MigrationRecordRow,
  type MigrationRow,
} from './migration.list.ts';
import { describeTarget } from './record-kinds.ts';
import type { SheetLabels } from './source.blocks.ts';
import type { SourceRow } from './source.types.ts';

/** The state of one run that creates the records of a migration. */
export interface Staging {
  ctx: Ctx;
  migration: MigrationRow;
  seesCosts: boolean;
  mapped: ReadonlyMap<string, MappedBlock>;
  catalogue: TagCatalogue;
  labels: SheetLabels;
  cardTypeOf(native: string): string | undefined;
  /**
   * The first row of each card by type and id, with a digest of its values. Only for blocks that have values of relations:
   * those have one row for each relation.
   */
  firstRows: Map<string, { line: number; digest: string }>;
  /** The line of the next record that is no card's; cards have the lines of their rows. */
  nextLine(): number;
  /** The line of the next relation from a cell of a card: relations that have rows of their own count first. */
  nextCellLine(): number;
}

/** More than all other records of a migration have; with at most 9 digits, as in messages of the import. */
const CELL_LINES = 500_000_000;

/** The labels of the workspace, for files with labels instead of keys. */
export const sheetLabels = ({ metamodel }: Ctx): SheetLabels => ({
  cards: labelsOf(metamodel, 'cards'),
  relations: labelsOf(metamodel, 'relations'),
});

export async function createStaging(ctx: Ctx, db: Sql, migration: MigrationRow): Promise<Staging> {
  const { source_type, blocks, field_mappings } = migration;
  const mapped = mapBlocks(ctx.metamodel, source_type, blocks, field_mappings);
  const [rows] = await query(db).rows<{ last: number }>`select coalesce(max(line), 0) as last
    from migration_rows where migration_id = ${migration.id}`;
  let line = rows!.last;
  let cellLine = CELL_LINES;
  return {
    ctx,
    migration,
    seesCosts: may(ctx.caller, 'costs.view'),
    mapped: new Map(mapped.map((one) => [one.block.native_type, one])),
    catalogue: await readTagCatalogue(db),
    labels: sheetLabels(ctx),
    cardTypeOf: cardTypeFinder(ctx.metamodel, cardTypesOf(ctx.metamodel, blocks, field_mappings)),
    firstRows: new Map(),
    nextLine: () => ++line,
    nextCellLine: () => ++cellLine,
  };
}

/** The approximate share of reading the file in the whole time. */
export const READ_SHARE = 0.4;

/** The progress of a run, from the share of the time after reading the file. */
export const progressOf = (share: number): number => READ_SHARE + share * (1 - READ_SHARE);

/** Executes parts of a run, each in one transaction with the progress of the job. */
export interface Steps {
  step(share: number, message: string, act: (sql: Transaction) => Promise<void>): Promise<void>;
  /** Processes items in the order of their lines, some in each transaction. */
  inSteps<T extends { line: number }>(
    share: number,
    message: string,
    read: (sql: Transaction, line: number) => Promise<T[]>,
    act: (sql: Transaction, found: T[]) => Promise<void>,
  ): Promise<void>;
}

/** The steps of a run that creates records. Shares are of the time after reading the file. */
export function createSteps(job: RunningJob, db: Db): Steps {
  const step: Steps['step'] = async (share, message, act) => {
    job.signal.throwIfAborted();
    await inTransaction(db, async (sql) => {
      await act(sql);
      await job.checkpoint({ sql }, { progress: progressOf(share), message });
    });
  };
  return {
    step,
    async inSteps(share, message, read, act) {
      for (let next: number | undefined = 0; next !== undefined; ) {
        // a transaction may run again
        const line: number = next;
        await step(share, message, async (sql) => {
          const found = await read(sql, line);
          if (found.length > 0) await act(sql, found);
          next = found.at(-1)?.line;
        });
      }
    },
  };
}

/** A record to be inserted; members that are absent are null. */
export type NewRecord = Pick<MigrationRecordRow, 'line' | 'entity_kind' | 'source_id' | 'source_type'> &
  Partial<MigrationRecordRow>;

/** Why a row is skipped that is archived in the source, unless the upload includes archived rows. */
export const ARCHIVED = 'is archived in the source';

/** The columns that are given; the others have defaults. */
const names = Object.keys(MigrationRecord.columns)
  .filter((name) => !['migration_id', 'id', 'status', 'cost_keys', 'target_id'].includes(name))
  .map((name) => `"${name}"`)
  .join(', ');
/** Longer names are truncated. */
const MAX_SHOWN = 500;

const shown = (text: string): string => (text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN - 1)}…` : text);

/** Writes records in one statement. */
export async function insertRecords(sql: Sql, migrationId: string, records: NewRecord[]): Promise<void> {
  if (records.length === 0) return;
  const rows = records.map((record) => ({
    ...record,
    action: record.action ?? 'create',
    source_id: shown(record.source_id),
    ...(record.display_name && { display_name: shown(record.display_name) }),
  }));
  await query(sql).run`insert into migration_records (migration_id, ${embed(names)})
     select ${migrationId}::uuid, ${embed(names)}
     from jsonb_populate_recordset(null::migration_records, ${JSON.stringify(rows)}::jsonb)`;
}

/** Where the row of a record is in the file. */
export const sourcePlace = ({ native_type, sheet, row }: SourceRow) => ({
  source_type: native_type,
  sheet,
  row,
});

/** Left out values as a record stores them. */
export const omittedValues = (values: FieldError[]): FieldError[] | null =>
  values.length > 0 ? values : null;

/**
 * The record of a stakeholder of a card of the file, with the id of the account if there is one.
 * @param place where the row is in the file.
 */
export function stakeholderRecord(
  { nextLine }: Staging,
  place: Pick<NewRecord, 'source_type' | 'sheet' | 'row'>,
  card: Pick<NewRecord, 'line' | 'source_id' | 'display_name' | 'card_type_key'>,
  { role, email, user_id }: { role: string; email: string; user_id: string | undefined },
): NewRecord {
  return {
    ...place,
    line: nextLine(),
    entity_kind: 'subscription',
    source_id: `${card.source_id}:${role}:${email}`,
    display_name: `${card.display_name}: ${role} ${email}`,
    card_type_key: card.card_type_key,
    action: user_id ? 'create' : 'conflict',
    error_message: user_id ? null : 'there is no user with this address',
    payload: { user_id: user_id ?? null, role, email },
    source_line: card.line,
  };
}

/** The next rows of the file after a line, of the given native types. */
export async function rowsAfter(
  { migration }: Staging,
  sql: Transaction,
  line: number,
  natives: string[],
): Promise<SourceRow[]> {
  if (natives.length === 0) return [];
  return await query(sql).rows`select line, sheet, "row", native_type, cells from migration_rows
     where migration_id = ${migration.id} and line > ${line} and native_type = any(${natives}::text[])
     order by line limit 500`;
}

/** Creates records of the types and columns of the file: what they are mapped to, and which are left out. */
export async function stageModel(sql: Transaction, { migration, mapped, nextLine }: Staging): Promise<void> {
  const records = [...mapped.values()].flatMap((one): NewRecord[] => {
    const { block, target, type, leftOut, columns } = one;
    const { native_type, rows } = block;
    const place = { source_type: native_type, card_type_key: type?.key };
    const why = leftOut
      ? `${block.kind === 'about' ? 'describes the source workspace' : 'left out on request'}: ${counted(rows, 'row')}`
      : `is no known card type, which leaves out ${counted(rows, 'row')}: map it or leave it out`;
    const itself: NewRecord = {
      ...place,
      line: nextLine(),
      entity_kind: 'metamodel_type',
      source_id: native_type,
      display_name: native_type,
      action: target || leftOut ? 'skip' : 'conflict',
      error_message: target ? null : why,
    };
    if (!target) return [itself];
    const isRelation = (column: string) =>
      target.kind === 'relation' || (migration.source_type === 'leanix' && /^rel[A-Z]/.test(column));
    const field = (column: string, action: 'conflict' | 'skip', error_message: string): NewRecord => ({
      ...place,
      line: nextLine(),
      entity_kind: isRelation(column) ? 'metamodel_relation_type' : 'metamodel_field',
      source_id: `${native_type}:${column}`,
      display_name: column,
      action,
      error_message,
    });
    const open = unmapped(one, migration.source_type).map(({ key, values }) =>
      field(
        key,
        'conflict',
        `${readonlyReason(one, key) ?? 'is not mapped'}, which leaves out ${counted(values, 'value')}: map it or leave it out`,
      ),
    );
    const asked = block.columns
      .filter(({ key, values }) => values > 0 && columns.get(key) === LEFT_OUT)
      .map(({ key, values }) => field(key, 'skip', `left out on request: ${counted(values, 'value')}`));
    return [itself, ...open, ...asked];
  });
  await insertRecords(sql, migration.id, records);
}

/** Creates the records of people, missing tag groups and missing tags, each where it is named first. */
export async function stagePeopleAndTags(sql: Transaction, id: string): Promise<void> {
  const derive = async (
    [from, kind]: [from: EntityKind, kind: EntityKind],
    key: string,
    condition: string,
    columns: Record<string, string>,
  ) => {
    const names = embed(Object.keys(columns).join(', '));
    const values = embed(
      Object.entries(columns)
        .map(([name, value]) => `${value} as ${name}`)
        .join(', '),
    );
    await query(sql)
      .run`insert into migration_records (migration_id, line, entity_kind, source_type, sheet, "row",
         ${names})
       select ${id}::uuid, (select max(line) from migration_records where migration_id = ${id}::uuid)
         + row_number() over (order by line), ${kind}, source_type, sheet, "row", ${names}
       from (
         select distinct on (${embed(key)}) line, source_type, sheet, "row", ${values}
         from migration_records r where migration_id = ${id}::uuid and entity_kind = ${from} and ${embed(condition)}
         order by ${embed(key)}, line) v`;
  };
  const [email, group, name] = [`payload ->> 'email'`, `payload ->> 'group'`, `payload ->> 'name'`];
  await derive(['subscription', 'user'], `lower(${email})`, `payload -> 'email' is not null`, {
    source_id: email,
    display_name: email,
    action: `case action when 'create' then 'skip' else action end`,
    error_message: 'error_message',
  });
  const hasGroup = `lower(g.name) = lower(${group})`;
  const missing = (exists: string) => `action = 'create' and not exists (select from tag_groups g ${exists})`;
  const columns = { source_id: group, display_name: group };
  await derive(['card_tag', 'tag_group'], `lower(${group})`, missing(`where ${hasGroup}`), columns);
  await derive(
    ['card_tag', 'tag'],
    `lower(${group}), lower(${name})`,
    missing(`join tags t on t.tag_group_id = g.id where ${hasGroup} and lower(t.name) = lower(${name})`),
    { source_id: `(${group}) || '/' || (${name})`, display_name: name, payload: 'payload' },
  );
}

/** Creates a record of each column with values that its field does not accept, with their number. */
export async function stageOmittedValues(sql: Transaction, id: string): Promise<void> {
  await query(sql).run`insert into migration_records (migration_id, line, entity_kind, source_id, source_type,
       display_name, card_type_key, action, error_message)
     select ${id}::uuid, (select max(line) from migration_records where migration_id = ${id}::uuid)
         + row_number() over (order by source_type, field, code),
       'metamodel_field', concat_ws(':', source_type, field, code), source_type, field, card_type_key, 'conflict',
       concat(n, case n when 1 then ' value' else ' values' end, ' left out: ', replace(code, '_', ' '))
     from (
       select r.source_type, r.card_type_key, e ->> 'field' as field, e ->> 'code' as code, count(*) as n
       from migration_records r cross join jsonb_array_elements(r.left_out) e
       where r.migration_id = ${id}::uuid and r.entity_kind in ('card', 'relation', 'document', 'comment')
       group by 1, 2, 3, 4) v`;
}

/** The kinds of records that the job counts: others are written with their cards. */
const writtenKinds: readonly string[] = ['card', 'relation', 'document', 'comment'];

/** The statistics of a migration: records by kind and action, and by status once it was applied; and the figures of its job. */
export async function countRecords(
  sql: Sql,
  migrationId: string,
): Promise<{ stats: Record<string, unknown>; counts: JobCounts }> {
  const rows = await query(sql).rows`select entity_kind, action, status, count(*)::int as n,
    coalesce(sum(jsonb_array_length(left_out)), 0)::int as left_out,
       (count(*) filter (where action = 'skip' and error_message = ${ARCHIVED}))::int as archived
     from migration_records where migration_id = ${migrationId} group by 1, 2, 3 order by 1, 2, 3`;
  const records: Record<string, Record<string, number>> = {};
  const stats = { records, values_left_out: 0, rows_archived: 0 };
  const counts = { total: 0, applied: 0, failed: 0, left_out: 0 };
  for (const { entity_kind, action, status, n, left_out, archived } of rows) {
    records[entity_kind] ??= {};
    const kind = records[entity_kind]!;
    kind[action] = (kind[action] ?? 0) + n;
    if (status !== 'pending') kind[status] = (kind[status] ?? 0) + n;
    stats.values_left_out += left_out;
    stats.rows_archived += archived;
    counts.left_out += left_out + (action === 'conflict' ? n : 0);
    if (!writtenKinds.includes(entity_kind) || !['create', 'update'].includes(action)) continue;
    counts.total += n;
    if (status === 'applied') counts.applied += n;
    if (status === 'error') counts.failed += n;
  }
  return { stats, counts };
}

/** The types and columns of the file with their mapping, for the migration's `metamodel_diff`. */
export function modelDiff(migration: MigrationRow, mapped: readonly MappedBlock[]): Record<string, unknown> {
  return {
    types: mapped.map(({ block, target, type, leftOut }) => ({
      native_type: block.native_type,
      card_type: type?.key ?? null,
      target: describeTarget(target).key,
      rows: block.rows,
      left_out: leftOut,
    })),
    unmapped_columns: mapped.flatMap((one) =>
      (one.target ? unmapped(one, migration.source_type) : []).map(({ key, values }) => ({
        native_type: one.block.native_type,
        column: key,
        values,
      })),
    ),
  };
}

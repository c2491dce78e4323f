import type { Knex } from 'knex';
import { type Db, embed, inTransaction, query, type Sql } from '../../../platform/database.ts';
import type { FieldError } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { RunningJob } from '../../kernel/jobs/jobs.running.ts';
import { may } from '../../kernel/permissions/policy.ts';
import { readTagCatalogue, type TagCatalogue } from '../imports/imports.people.ts';
import { cardTypeFinder } from './mapping.guess.ts';
import { cardTypesOf, type MappedBlock, mapBlocks } from './mapping.ts';
import { MigrationRecord, type MigrationRecordRow, type MigrationRow } from './migration.list.ts';
import type { SourceRow } from './source.types.ts';

/** The state of one run that creates the records of a migration. */
export interface Staging {
  ctx: Ctx;
  migration: MigrationRow;
  seesCosts: boolean;
  mapped: ReadonlyMap<string, MappedBlock>;
  catalogue: TagCatalogue;
  cardTypeOf(native: string): string | undefined;
  /**
   * The first row of each card by type and id, with a digest of its values. Only for blocks that have values of relations:
   * those have one row for each relation.
   */
  firstRows: Map<string, { line: number; digest: string }>;
  /** The line of the next record that is no card's; cards have the lines of their rows. */
  nextLine(): number;
  /** Whether a person, tag or tag group has no record yet; `key` identifies it. */
  isFirst(key: string): boolean;
  /** Keys of {@link isFirst} that committed transactions have seen, and those of the current one, which may be retried. */
  seen: { committed: Set<string>; current: Set<string> };
}

export async function createStaging(ctx: Ctx, db: Sql, migration: MigrationRow): Promise<Staging> {
  const { source_type, blocks, field_mappings } = migration;
  const mapped = mapBlocks(ctx.metamodel, source_type, blocks, field_mappings);
  const [rows] = await query(db).rows<{ last: number }>`select coalesce(max(line), 0) as last
    from migration_rows where migration_id = ${migration.id}`;
  let line = rows!.last;
  const seen = { committed: new Set<string>(), current: new Set<string>() };
  return {
    ctx,
    migration,
    seesCosts: may(ctx.caller, 'costs.view'),
    mapped: new Map(mapped.map((one) => [one.block.native_type, one])),
    catalogue: await readTagCatalogue(db),
    cardTypeOf: cardTypeFinder(ctx.metamodel, cardTypesOf(ctx.metamodel, blocks, field_mappings)),
    firstRows: new Map(),
    nextLine: () => ++line,
    isFirst(key) {
      if (seen.committed.has(key) || seen.current.has(key)) return false;
      seen.current.add(key);
      return true;
    },
    seen,
  };
}

/** The approximate share of reading the file in the whole time. */
export const READ_SHARE = 0.4;

/** Executes parts of a run, each in one transaction with the progress of the job. */
export interface Steps {
  step(share: number, message: string, act: (sql: Knex.Transaction) => Promise<void>): Promise<void>;
  /** Processes items in the order of their lines, some in each transaction. */
  inSteps<T extends { line: number }>(
    share: number,
    message: string,
    read: (sql: Knex.Transaction, line: number) => Promise<T[]>,
    act: (sql: Knex.Transaction, found: T[]) => Promise<void>,
  ): Promise<void>;
}

/** The steps of a run that creates records. Shares are of the time after reading the file. */
export function createSteps(job: RunningJob, db: Db, { seen }: Staging): Steps {
  const step: Steps['step'] = async (share, message, act) => {
    job.signal.throwIfAborted();
    await inTransaction(db, async (sql) => {
      seen.current.clear();
      await act(sql);
      await job.checkpoint({ sql }, { progress: READ_SHARE + share * (1 - READ_SHARE), message });
    });
    for (const key of seen.current) seen.committed.add(key);
  };
  return {
    step,
    async inSteps(share, message, read, act) {
      let isDone = false;
      for (let line = 0; !isDone; ) {
        await step(share, message, async (sql) => {
          const found = await read(sql, line);
          isDone = found.length === 0;
          if (isDone) return;
          await act(sql, found);
          line = found.at(-1)!.line;
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

/** A stakeholder of a card of the file, with the id of the account if there is one. */
export interface NamedStakeholder {
  role: string;
  email: string;
  user_id: string | undefined;
}

/**
 * The record of a stakeholder of a card, after the record of the person if that is the first of its kind.
 * @param place where the row is in the file, and the line of the stakeholder's record if it has one already.
 */
export function stakeholderRecords(
  staging: Staging,
  place: Pick<NewRecord, 'source_type' | 'sheet' | 'row'>,
  card: Pick<NewRecord, 'line' | 'source_id' | 'display_name' | 'card_type_key'>,
  { role, email, user_id }: NamedStakeholder,
): NewRecord[] {
  const error_message = user_id ? null : 'there is no user with this address';
  const held: NewRecord = {
    ...place,
    line: staging.nextLine(),
    entity_kind: 'subscription',
    source_id: `${card.source_id}:${role}:${email}`,
    display_name: `${card.display_name}: ${role} ${email}`,
    card_type_key: card.card_type_key,
    action: user_id ? 'create' : 'conflict',
    error_message,
    payload: { user_id: user_id ?? null, role },
    source_line: card.line,
  };
  if (!staging.isFirst(`user ${email.toLowerCase()}`)) return [held];
  const action = user_id ? 'skip' : 'conflict';
  const person = {
    entity_kind: 'user',
    source_id: email,
    display_name: email,
    action,
    error_message,
  } as const;
  return [{ ...place, ...person, line: staging.nextLine() }, held];
}

/** The next rows of the file after a line, of the given native types. */
export async function rowsAfter(
  { migration }: Staging,
  sql: Knex.Transaction,
  line: number,
  natives: string[],
): Promise<SourceRow[]> {
  if (natives.length === 0) return [];
  return await query(sql).rows`select line, sheet, "row", native_type, cells from migration_rows
     where migration_id = ${migration.id} and line > ${line} and native_type = any(${natives}::text[])
     order by line limit 500`;
}

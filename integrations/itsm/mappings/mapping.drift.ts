import { isDeepStrictEqual } from 'node:util';
import { loadAlertRecipients, loadStoredMapping } from '../../../domain/exchange/itsm/itsm.load.ts';
import { stoppedColumns } from '../../../domain/exchange/itsm/mappings.rules.ts';
import type {
  DictionaryColumn,
  DriftEntry,
  FieldMapping,
  Mapping,
} from '../../../domain/exchange/itsm/mappings.types.ts';
import { command } from '../../../domain/kernel/command.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import type { Connector, RemoteColumn } from '../connectors/connector.ts';
import { type Clock, systemClock, unless } from '../remote.ts';
import { requireFullRead } from './mapping.store.ts';

/** Choices of a column that are remembered. */
const CHOICES = 200;

/** The dictionary in the form in which it is remembered. */
export function dictionaryOf(columns: readonly RemoteColumn[]): DictionaryColumn[] {
  return columns.map(({ name, kind, reference, maxLength, mandatory, choices }) => ({
    name,
    kind,
    reference,
    max_length: maxLength,
    mandatory,
    choices: choices.slice(0, CHOICES).map(({ value }) => value),
  }));
}

/** What has changed of the columns that a mapping uses, since its dictionary was kept. */
function driftOf(
  mapping: Pick<Mapping, 'fields' | 'record_defaults' | 'dictionary' | 'sync_direction'>,
  columns: readonly RemoteColumn[],
): DriftEntry[] {
  const before = new Map((mapping.dictionary ?? []).map((column) => [column.name, column]));
  const now = new Map(dictionaryOf(columns).map((column) => [column.name, column]));
  const used = new Map<string, FieldMapping | undefined>();
  for (const column of Object.keys(mapping.record_defaults)) used.set(column, undefined);
  // of a path over references the first part is a column of the table
  for (const row of mapping.fields) used.set(row.remote_field, row);
  const entries: DriftEntry[] = [];
  for (const [column, row] of used) {
    const head = column.split('.')[0]!;
    const was = before.get(column) ?? before.get(head);
    const is = now.get(column) ?? now.get(head);
    if (!is) {
      const message = `The column '${column}' is gone, or hidden from the account.`;
      entries.push({ column, change: 'vanished', stops: true, message });
    } else if (was) entries.push(...columnDrift(column, row, was, is));
  }
  if (mapping.sync_direction !== 'pull') entries.push(...newDuties(used, before, now));
  return entries;
}

function columnDrift(
  column: string,
  row: FieldMapping | undefined,
  was: DictionaryColumn,
  is: DictionaryColumn,
): DriftEntry[] {
  if (was.kind !== is.kind) {
    const message = `The column '${column}' held ${was.kind}, and holds ${is.kind} now.`;
    return [{ column, change: 'kind', stops: true, message }];
  }
  const entries: DriftEntry[] = [];
  if (was.reference !== is.reference) {
    entries.push({
      column,
      change: 'reference',
      stops: row?.transform_type === 'reference',
      message: `The column '${column}' referred to ${was.reference}, and refers to ${is.reference} now.`,
    });
  }
  if (is.max_length !== null && (was.max_length === null || is.max_length < was.max_length)) {
    entries.push({
      column,
      change: 'max_length',
      stops: false,
      message: `The column '${column}' takes ${is.max_length} characters, and no longer ${was.max_length ?? 'any number'}.`,
    });
  }
  const lost = was.choices.filter((choice) => !is.choices.includes(choice));
  const added = is.choices.filter((choice) => !was.choices.includes(choice));
  if (lost.length + added.length > 0 && row?.transform_type !== 'expression') {
    const parts = [
      ...(lost.length > 0 ? [`lost the choices ${named(lost)}`] : []),
      ...(added.length > 0 ? [`has the new choices ${named(added)}`] : []),
    ];
    entries.push({
      column,
      change: 'choices',
      stops: false,
      message: `The column '${column}' ${parts.join(' and ')}.`,
    });
  }
  return entries;
}

const named = (choices: string[]): string =>
  `${choices
    .slice(0, 5)
    .map((choice) => `'${choice}'`)
    .join(', ')}${choices.length > 5 ? ` and ${choices.length - 5} more` : ''}`;

/** Columns that have to be filled now, and were not before. */
function newDuties(
  used: ReadonlyMap<string, unknown>,
  before: ReadonlyMap<string, DictionaryColumn>,
  now: ReadonlyMap<string, DictionaryColumn>,
): DriftEntry[] {
  if (before.size === 0) return [];
  return [...now.values()]
    .filter(({ name, mandatory }) => mandatory && !used.has(name) && !before.get(name)?.mandatory)
    .map(({ name }) => ({
      column: name,
      change: 'mandatory' as const,
      stops: false,
      message: `The column '${name}' has to be filled now; new records may be refused.`,
    }));
}

/** The table itself is no longer to be seen. */
const tableGone = (table: string): DriftEntry => ({
  column: '',
  change: 'table',
  stops: true,
  message: `The table '${table}' is gone at the remote, or hidden from the account.`,
});

/** How often a dictionary is read at most, unless a field is stopped. */
const PAUSE_MS = 3_600_000;
/** Pauses before a dictionary that would stop a field is read again. */
const AGAIN_MS = [1_000, 3_000];

/**
 * Compares the remote's dictionary with the stored one before a run reads: once an hour at most, and before each run while a
 * field is stopped. A field whose column has vanished or changed its kind is stopped, and the mapping's owner is notified once;
 * when the column is back, the field is mapped again. The first dictionary is stored as it is. Drift that would stop a field
 * is only stored when several responses in a row agree.
 * @returns what has drifted. @throws RemoteError
 */
export async function checkDrift(
  ctx: Ctx,
  mappingId: string,
  connector: Pick<Connector, 'describeFields'>,
  clock: Pick<Clock, 'sleep'> = systemClock,
): Promise<DriftEntry[]> {
  const mapping = await loadStoredMapping(ctx.db, mappingId);
  const known = mapping.drift ?? [];
  const { drift_checked_at: at } = await ctx
    .db('itsm_mappings')
    .where({ id: mappingId })
    .first('drift_checked_at');
  const recent = at !== null && Date.now() - at.getTime() < PAUSE_MS && stops(known) === 0;
  if (recent && mapping.dictionary !== null) return known;
  const looked = await readDictionary(mapping, connector, clock);
  if (looked === null) return known;
  const { drift, columns } = looked;
  await storeDrift(ctx, mapping, drift, columns);
  return drift;
}

interface Look {
  drift: DriftEntry[];
  /** Null: there is no such table. */
  columns: RemoteColumn[] | null;
}

/**
 * Reads the dictionary, and again while it would stop a field that is not stopped yet: a node that is starting, or a
 * temporary access rule, can hide columns.
 * @returns null if the responses differ, or there is no column at all.
 */
async function readDictionary(
  mapping: Mapping,
  connector: Pick<Connector, 'describeFields'>,
  clock: Pick<Clock, 'sleep'>,
): Promise<Look | null> {
  let before: DriftEntry[] | undefined;
  for (let at = 0; ; at += 1) {
    const columns = await unless(connector.describeFields(mapping.remote_table, true), ['not_found'], null);
    if (columns?.length === 0) return null;
    const drift = columns ? driftOf(mapping, columns) : [tableGone(mapping.remote_table)];
    const worse = worseThan(mapping.drift, drift);
    if (worse.length === 0) return { drift, columns };
    if (before !== undefined && !isDeepStrictEqual(before, worse)) return null;
    if (at === AGAIN_MS.length) return { drift, columns };
    before = worse;
    await clock.sleep(AGAIN_MS[at]!);
  }
}

/** Entries that stop a field that was not stopped before. */
const worseThan = (known: readonly DriftEntry[] | null, drift: readonly DriftEntry[]): DriftEntry[] =>
  drift.filter((entry) => entry.stops && !known?.some((old) => isDeepStrictEqual(old, entry)));

/** How many columns are stopped. */
const stops = (drift: readonly DriftEntry[] | null): number => stoppedColumns(drift).size;

async function storeDrift(
  ctx: Ctx,
  seen: Mapping,
  drift: DriftEntry[],
  columns: RemoteColumn[] | null,
): Promise<void> {
  await command(ctx, async ({ sql, emit }) => {
    await sql.raw('select from itsm_mappings where id = ? for update', [seen.id]);
    const now = await loadStoredMapping(sql, seen.id);
    // changed meanwhile: the next run looks again
    if (!isDeepStrictEqual(now, seen)) return;
    const first = now.dictionary === null && columns !== null;
    const changed = !isDeepStrictEqual(now.drift ?? [], drift);
    await sql.raw(
      `update itsm_mappings set drift_checked_at = clock_timestamp(), drift = ?::jsonb,
         dictionary = coalesce(?::jsonb, dictionary),
         dictionary_at = case when ? then date_trunc('milliseconds', clock_timestamp()) else dictionary_at end
       where id = ?`,
      [
        drift.length > 0 ? JSON.stringify(drift) : null,
        first ? JSON.stringify(dictionaryOf(columns)) : null,
        first,
        seen.id,
      ],
    );
    if (!changed) return;
    if (stops(now.drift) > stops(drift)) await requireFullRead(sql, seen.id);
    const worse = worseThan(now.drift, drift).length > 0;
    emit({
      event_type: 'itsm_mapping.drifted',
      data: {
        id: seen.id,
        connection_id: seen.connection_id,
        card_type_key: seen.card_type_key,
        remote_table: seen.remote_table,
        reason: drift.find(({ stops }) => stops)?.message ?? null,
        recipients: worse ? await loadAlertRecipients(sql, seen.created_by) : [],
        changes: { drift: { old: now.drift, new: drift.length > 0 ? drift : null } },
      },
    });
  });
}

import { isDeepStrictEqual } from 'node:util';
import { loadAlertRecipients, loadStoredMapping } from '../../../../domain/exchange/itsm/itsm.load.ts';
import type { DriftEntry } from '../../../../domain/exchange/itsm/mappings.input.ts';
import { stoppedColumns } from '../../../../domain/exchange/itsm/mappings.rules.ts';
import type {
  DictionaryColumn,
  FieldMapping,
  Mapping,
} from '../../../../domain/exchange/itsm/mappings.types.ts';
import { command } from '../../../../domain/kernel/command.ts';
import type { Ctx } from '../../../../domain/kernel/context.ts';
import { query } from '../../../../platform/database.ts';
import type { Connector, RemoteColumn } from '../connectors/connector.ts';
import { type Clock, systemClock, withFallback } from '../remote.ts';
import { requireFullRead } from './mapping.store.ts';

/** Maximum number of stored choices of a column. */
const CHOICES = 200;

/** The dictionary as it is stored. */
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

/** Changes of the columns that a mapping uses, compared with its stored dictionary. */
function compareDictionaries(
  mapping: Pick<Mapping, 'fields' | 'record_defaults' | 'dictionary' | 'sync_direction'>,
  columns: readonly RemoteColumn[],
): DriftEntry[] {
  const before = new Map((mapping.dictionary ?? []).map((column) => [column.name, column]));
  const now = new Map(dictionaryOf(columns).map((column) => [column.name, column]));
  const used = new Map<string, FieldMapping | undefined>();
  for (const column of Object.keys(mapping.record_defaults)) used.set(column, undefined);
  // the first part of a path is a column of the table
  for (const row of mapping.fields) used.set(row.remote_field, row);
  const entries: DriftEntry[] = [];
  for (const [column, row] of used) {
    const head = column.split('.')[0]!;
    const was = before.get(column) ?? before.get(head);
    const is = now.get(column) ?? now.get(head);
    if (!is) {
      const message = `The column '${column}' is gone, or hidden from the account.`;
      entries.push({ column, change: 'vanished', stops: true, message });
    } else if (was) entries.push(...compareColumns(column, row, was, is));
  }
  if (mapping.sync_direction !== 'pull') entries.push(...findNewMandatoryColumns(used, before, now));
  return entries;
}

function compareColumns(
  column: string,
  row: FieldMapping | undefined,
  was: DictionaryColumn,
  is: DictionaryColumn,
): DriftEntry[] {
  if (was.kind !== is.kind) {
    const message = `The column '${column}' has changed its kind from ${was.kind} to ${is.kind}.`;
    return [{ column, change: 'kind', stops: true, message }];
  }
  const entries: DriftEntry[] = [];
  if (was.reference !== is.reference) {
    const message = `The column '${column}' referred to ${was.reference} and now refers to ${is.reference}.`;
    entries.push({ column, change: 'reference', stops: row?.transform_type === 'reference', message });
  }
  if (is.max_length !== null && (was.max_length === null || is.max_length < was.max_length)) {
    entries.push({
      column,
      change: 'max_length',
      stops: false,
      message: `The column '${column}' now allows ${is.max_length} characters instead of ${was.max_length ?? 'any number'}.`,
    });
  }
  const lost = was.choices.filter((choice) => !is.choices.includes(choice));
  const added = is.choices.filter((choice) => !was.choices.includes(choice));
  if (lost.length + added.length > 0 && row?.transform_type !== 'expression') {
    const parts = [
      ...(lost.length > 0 ? [`lost the choices ${listChoices(lost)}`] : []),
      ...(added.length > 0 ? [`has the new choices ${listChoices(added)}`] : []),
    ];
    const message = `The column '${column}' ${parts.join(' and ')}.`;
    entries.push({ column, change: 'choices', stops: false, message });
  }
  return entries;
}

/** Lists choices for messages, at most five by name. */
export const listChoices = (choices: readonly string[]): string =>
  `${choices
    .slice(0, 5)
    .map((choice) => `'${choice}'`)
    .join(', ')}${choices.length > 5 ? ` and ${choices.length - 5} more` : ''}`;

/** Unmapped columns that have become mandatory. */
function findNewMandatoryColumns(
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
      message: `The column '${name}' has become mandatory; new records may be refused.`,
    }));
}

/** The entry for a table that is no longer visible. */
const missingTableEntry = (table: string): DriftEntry => ({
  column: '',
  change: 'table',
  stops: true,
  message: `The table '${table}' does not exist in the remote any more, or is hidden from the account.`,
});

/** Minimum time between two checks, unless a field is stopped. */
const CHECK_INTERVAL_MS = 3_600_000;
/** Pauses before a dictionary that would stop a field is read again. */
const RECHECK_MS = [1_000, 3_000];

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
  const recent = at !== null && Date.now() - at.getTime() < CHECK_INTERVAL_MS && countStopped(known) === 0;
  if (recent && mapping.dictionary !== null) return known;
  const checked = await readDictionary(mapping, connector, clock);
  if (checked === null) return known;
  const { drift, columns } = checked;
  await storeDrift(ctx, mapping, drift, columns);
  return drift;
}

/**
 * Reads the dictionary, and again while it would stop a field that is not stopped yet: a node that is starting, or a
 * temporary access rule, can hide columns.
 * @returns null if the responses differ, or there is no column at all; its columns are null if the table does not exist.
 */
async function readDictionary(
  mapping: Mapping,
  connector: Pick<Connector, 'describeFields'>,
  clock: Pick<Clock, 'sleep'>,
) {
  let before: DriftEntry[] | undefined;
  for (let at = 0; ; at += 1) {
    const call = connector.describeFields(mapping.remote_table, true);
    const columns = await withFallback(call, ['not_found'], null);
    if (columns?.length === 0) return null;
    const drift = columns ? compareDictionaries(mapping, columns) : [missingTableEntry(mapping.remote_table)];
    const newStops = findNewStops(mapping.drift, drift);
    if (newStops.length === 0) return { drift, columns };
    if (before !== undefined && !isDeepStrictEqual(before, newStops)) return null;
    if (at === RECHECK_MS.length) return { drift, columns };
    before = newStops;
    await clock.sleep(RECHECK_MS[at]!);
  }
}

/** Entries that stop a field that was not stopped before. */
const findNewStops = (known: readonly DriftEntry[] | null, drift: readonly DriftEntry[]): DriftEntry[] =>
  drift.filter((entry) => entry.stops && !known?.some((old) => isDeepStrictEqual(old, entry)));

/** How many columns are stopped. */
const countStopped = (drift: readonly DriftEntry[] | null): number => stoppedColumns(drift).size;

async function storeDrift(
  ctx: Ctx,
  checked: Mapping,
  drift: DriftEntry[],
  columns: RemoteColumn[] | null,
): Promise<void> {
  await command(ctx, async ({ sql, emit }) => {
    await query(sql).run`select from itsm_mappings where id = ${checked.id} for update`;
    const now = await loadStoredMapping(sql, checked.id);
    // changed meanwhile: the next run checks again
    if (!isDeepStrictEqual(now, checked)) return;
    const first = now.dictionary === null && columns !== null;
    const changed = !isDeepStrictEqual(now.drift ?? [], drift);
    const dictionary = first ? JSON.stringify(dictionaryOf(columns)) : null;
    await query(sql).run`update itsm_mappings set drift_checked_at = clock_timestamp(),
         drift = ${drift.length > 0 ? JSON.stringify(drift) : null}::jsonb, dictionary = coalesce(${dictionary}::jsonb, dictionary),
         dictionary_at = case when ${first} then date_trunc('milliseconds', clock_timestamp()) else dictionary_at end
       where id = ${checked.id}`;
    if (!changed) return;
    if (countStopped(now.drift) > countStopped(drift)) await requireFullRead(sql, checked.id);
    const hasNewStops = findNewStops(now.drift, drift).length > 0;
    emit({
      event_type: 'itsm_mapping.drifted',
      data: {
        id: checked.id,
        connection_id: checked.connection_id,
        card_type_key: checked.card_type_key,
        remote_table: checked.remote_table,
        reason: drift.find(({ stops }) => stops)?.message ?? null,
        recipients: hasNewStops ? await loadAlertRecipients(sql, checked.created_by) : [],
        changes: { drift: { old: now.drift, new: drift.length > 0 ? drift : null } },
      },
    });
  });
}

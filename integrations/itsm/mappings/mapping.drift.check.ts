import { isDeepStrictEqual } from 'node:util';
import { loadStoredMapping, ownersOf } from '../../../domain/exchange/itsm/mappings.load.ts';
import { stoppedColumns } from '../../../domain/exchange/itsm/mappings.rules.ts';
import type { DriftEntry, Mapping } from '../../../domain/exchange/itsm/mappings.types.ts';
import { command } from '../../../domain/kernel/command.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { type Clock, systemClock } from '../clock.ts';
import type { Connector, RemoteColumn } from '../connectors/connector.ts';
import { unless } from '../remote.errors.ts';

import { dictionaryOf, driftOf, tableGone } from './mapping.drift.ts';
import { requireFullRead } from './mapping.store.ts';

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
        recipients: worse ? await ownersOf(sql, seen.created_by) : [],
        changes: { drift: { old: now.drift, new: drift.length > 0 ? drift : null } },
      },
    });
  });
}

import { isDeepStrictEqual } from 'node:util';
import { command } from '../../../domain/command.ts';
import type { Ctx } from '../../../domain/context.ts';
import { stoppedColumns } from '../../../domain/itsm/mappings.broken.ts';
import { loadMappingRow } from '../../../domain/itsm/mappings.load.ts';
import { ownersOf } from '../../../domain/itsm/mappings.people.ts';
import type { DriftEntry, MappingRow } from '../../../domain/itsm/mappings.types.ts';
import type { Connector, RemoteColumn } from '../connectors/connector.ts';
import { done, type Result } from '../remote.failures.ts';
import { dictionaryOf, driftOf, tableGone } from './mapping.drift.ts';
import { readAllNext } from './mapping.store.ts';

/** A table is looked at no more often than that. */
const PAUSE_MS = 3_600_000;

/**
 * Compares the remote's dictionary with what the mapping remembers of it, once an hour at most, before a run reads. A
 * mapped column that has vanished or become something else is left alone from then on, and the mapping's owner is told
 * once; when it is back, so is its field. A table that was never looked at is remembered as it is.
 * @returns what has drifted; a failure where the remote would not say.
 */
export async function checkDrift(
  ctx: Ctx,
  mappingId: string,
  connector: Pick<Connector, 'describeFields'>,
): Promise<Result<DriftEntry[]>> {
  const mapping = await loadMappingRow(ctx.db, mappingId);
  const { drift_checked_at: at } = await ctx
    .db('itsm_mappings')
    .where({ id: mappingId })
    .first('drift_checked_at');
  const recent = at !== null && Date.now() - at.getTime() < PAUSE_MS;
  if (recent && mapping.dictionary !== null) return done(mapping.drift ?? []);
  const described = await connector.describeFields(mapping.remote_table);
  if (!described.ok && described.failure.code !== 'not_found') return described;
  const columns = described.ok ? described.value : null;
  const drift = columns ? driftOf(mapping, columns) : [tableGone(mapping.remote_table)];
  await keepDrift(ctx, mapping, drift, columns);
  return done(drift);
}

/** How many fields are left alone. */
const stops = (drift: readonly DriftEntry[] | null): number => stoppedColumns(drift).size;

async function keepDrift(
  ctx: Ctx,
  seen: MappingRow,
  drift: DriftEntry[],
  columns: RemoteColumn[] | null,
): Promise<void> {
  await command(ctx, async ({ sql, emit }) => {
    await sql.raw('select from itsm_mappings where id = ? for update', [seen.id]);
    const now = await loadMappingRow(sql, seen.id);
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
      ] as never,
    );
    if (!changed) return;
    if (stops(now.drift) > stops(drift)) await readAllNext(sql, seen.id);
    const worse = drift.some(
      (entry) => entry.stops && !now.drift?.some((old) => isDeepStrictEqual(old, entry)),
    );
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

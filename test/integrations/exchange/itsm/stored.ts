import { readSyncState } from '../../../../domain/exchange/itsm/itsm.load.ts';
import type { Mapping } from '../../../../domain/exchange/itsm/mappings.types.ts';
import { loadRun } from '../../../../domain/exchange/itsm/runs.commands.ts';
import type { Ctx } from '../../../../domain/kernel/context.ts';
import type { PlanRow } from '../../../../integrations/exchange/itsm/engine/plan.types.ts';
import { linkKey } from '../../../../integrations/exchange/itsm/engine/state.ts';
import { stopwatch } from '../../../../integrations/exchange/itsm/runs/run.state.ts';
import { planUndo } from '../../../../integrations/exchange/itsm/runs/run.undo.ts';
import type { PairSelector } from '../../../../integrations/exchange/itsm/store/sync-state.ts';
import { loadPairs, readLinks } from '../../../../integrations/exchange/itsm/store/sync-state.ts';
import type { Sql } from '../../../../platform/database.ts';
import { storeConnection, storeMapping as storeOwnMapping } from '../../../support/itsm.ts';

/** Inserts a connection and a mapping without fields. */
export async function storeMapping(
  sql: Sql,
  mapping: Pick<Mapping, 'card_type_key' | 'remote_table' | 'sync_direction'>,
  { url: instance_url }: { url: string } = { url: 'https://remote.example' },
): Promise<{ connectionId: string; mappingId: string }> {
  const rights = JSON.stringify({ permissions: '*' });
  const connectionId = await storeConnection(sql, { instance_url, rights, secrets: '' });
  const mappingId = await storeOwnMapping(
    { services: { db: sql } },
    {
      connectionId,
      cardType: mapping.card_type_key,
      table: mapping.remote_table,
      direction: mapping.sync_direction,
      fields: [],
      more: { sync_mode: 'conservative', max_deletion_ratio: 1, auto_apply: false },
    },
  );
  return { connectionId, mappingId };
}

/** Inserts a run with a plan. @returns its id. */
export async function storePlan(
  sql: Sql,
  { connectionId, mapping, rows }: { connectionId: string; mapping: Mapping; rows: readonly PlanRow[] },
  more: {
    watermark?: string;
    stopped?: string;
    /** By row; by default all are approved. */
    approvals?: ('approved' | 'rejected' | null)[];
  } = {},
): Promise<string> {
  const [{ id }] = await sql('itsm_runs')
    .insert({
      connection_id: connectionId,
      mapping_id: mapping.id,
      direction: mapping.sync_direction,
      trigger: 'manual',
      // only one active run is allowed
      status: 'completed',
      stage: 'apply',
      complete: true,
      auto_apply: false,
      mapping: JSON.stringify({ ...mapping, mapping_direction: mapping.sync_direction, again: [] }),
      stopped: more.stopped ?? null,
      closing: JSON.stringify({ watermark: more.watermark ?? null, again: [], absences: {} }),
      plan_made_at: new Date(),
    })
    .returning('id');
  for (const row of rows) {
    await sql('itsm_plan_rows').insert({
      run_id: id,
      no: row.no,
      action: row.action,
      side: row.side,
      remote_id: row.remoteId,
      card_id: row.cardId,
      row: JSON.stringify(row),
      approval: more.approvals ? (more.approvals[row.no] ?? null) : 'approved',
    });
  }
  return id;
}

/** Plans an undo as its job does. */
export async function invertRows(ctx: Ctx, runId: string, checkpoint = async () => {}): Promise<void> {
  const run = await loadRun(ctx.db, runId);
  const job = { ctx, signal: new AbortController().signal, lock: async () => {}, checkpoint };
  await planUndo(job, run, stopwatch(run));
}

/** Loads the sync state of a mapping, or the part of some records and cards. */
export async function loadSyncState(sql: Sql, mappingId: string, choice?: PairSelector) {
  const all = async (table: string, column: string) =>
    await sql(table).where({ mapping_id: mappingId }).pluck(column);
  const { pairs, redirects } = await loadPairs(
    sql,
    mappingId,
    choice ?? { remoteIds: await all('itsm_pairs', 'remote_id') },
  );
  const ends = choice ? [...pairs.keys()] : await all('itsm_links', 'source');
  const links = await readLinks(sql, mappingId, ends);
  const { again, watermark } = await readSyncState(sql, mappingId);
  return {
    syncState: {
      pairs,
      links: new Map(links.map((link) => [linkKey(link), link])),
      again: new Set(again),
      watermark,
    },
    redirects,
  };
}

import { command } from '../../domain/command.ts';
import type { Ctx } from '../../domain/context.ts';
import { feedEnds } from '../../domain/events/changes.ts';
import { runList } from '../../domain/lists/lists.run.ts';
import type { Condition, JsonText, ListParams, ListSpec } from '../../domain/lists/lists.types.ts';
import { countTypes } from './kpis.counts.ts';
import { figuresOf } from './kpis.figures.ts';

/** The topic that a new snapshot raises. */
export const KPI_TOPIC = 'kpis';

/**
 * Stores the figures of this moment under a schedule's slot; a slot that has a snapshot keeps it.
 * @returns whether one was stored.
 */
export async function takeKpiSnapshot(ctx: Ctx, slot: Date): Promise<boolean> {
  const { figures, position } = await ctx.db.transaction(
    async (sql) => ({
      figures: figuresOf(await countTypes(sql, ctx.metamodel.visibleTypes, slot.toISOString().slice(0, 10))),
      position: (await feedEnds(sql)).newest,
    }),
    { isolationLevel: 'repeatable read', readOnly: true },
  );
  return await command(ctx, async ({ sql, raise }) => {
    const stored = await sql('kpi_snapshots')
      .insert({ slot, position, metrics: JSON.stringify(figures) })
      .onConflict('slot')
      .ignore()
      .returning('slot');
    if (stored.length > 0) raise(KPI_TOPIC);
    return stored.length > 0;
  });
}

const series: ListSpec = {
  name: 'kpi-snapshots',
  from: 'kpi_snapshots k',
  id: 'k.slot',
  idType: 'timestamptz',
  sorts: { slot: { sql: 'k.slot', type: 'timestamptz', immutable: true } },
  defaultSort: 'slot',
  defaultDir: 'desc',
  members: {
    slot: 'utc(k.slot)',
    position: 'k.position::text',
    metrics: 'k.metrics',
    taken_at: 'utc(k.taken_at)',
  },
};

/** The stored snapshots as a time series, newest first unless asked otherwise. */
export async function listKpiSnapshots(
  ctx: Ctx,
  params: ListParams & { from?: string; to?: string },
): Promise<JsonText> {
  const conditions: Condition[] = [];
  if (params.from) conditions.push({ sql: 'k.slot >= ?::timestamptz', bindings: [params.from] });
  if (params.to) conditions.push({ sql: 'k.slot < ?::timestamptz', bindings: [params.to] });
  return await runList(ctx.db, series, conditions, params);
}

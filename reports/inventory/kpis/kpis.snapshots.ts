import { command } from '../../../domain/kernel/command.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { feedEnds } from '../../../domain/kernel/events/changes.ts';
import { runList } from '../../../domain/kernel/lists/lists.run.ts';
import type { Condition, JsonText, ListParams, ListSpec } from '../../../domain/kernel/lists/lists.types.ts';
import { fragment } from '../../../platform/database.ts';
import { countTypes } from './kpis.counts.ts';
import { figuresOf } from './kpis.figures.ts';

/** The topic that a new snapshot raises. */
export const KPI_TOPIC = 'kpis';

/**
 * Stores the current figures under a schedule's slot, unless the slot has a snapshot.
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
    const data = { slot, position, metrics: JSON.stringify(figures) };
    const stored = await sql('kpi_snapshots').insert(data).onConflict('slot').ignore().returning('slot');
    if (stored.length > 0) raise(KPI_TOPIC);
    return stored.length > 0;
  });
}

/** Intervals of snapshots, in UTC. */
export type KpiStep = 'day' | 'week' | 'month' | 'year';

/** The requested period of snapshots. */
export interface KpiPeriod {
  /** RFC 3339. */
  from?: string;
  /** RFC 3339; not included. */
  to?: string;
  /** Returns the last snapshot of each interval, with the interval's beginning as slot; without it every snapshot. */
  every?: KpiStep;
}

/**
 * The FROM clause of a series with the alias `k`: the snapshots, or the intervals from the first to the last snapshot. In an
 * interval without a snapshot all columns except `slot` are null.
 */
export const kpiRows = (every: KpiStep | undefined): string =>
  every === undefined
    ? 'kpi_snapshots k'
    : `(select b.begins at time zone 'UTC' as slot, s.position, s.metrics, s.taken_at
        from (select generate_series(date_trunc('${every}', min(slot) at time zone 'UTC'),
                max(slot) at time zone 'UTC', interval '1 ${every}') as begins from kpi_snapshots) b
        left join lateral (
          select position, metrics, taken_at from kpi_snapshots
          where slot >= b.begins at time zone 'UTC' and slot < (b.begins + interval '1 ${every}') at time zone 'UTC'
          order by slot desc limit 1) s on true) k`;

/** Conditions of the period over {@link kpiRows}. */
export function kpiConditions({ from, to }: KpiPeriod): Condition[] {
  const conditions: Condition[] = [];
  if (from) conditions.push(fragment`k.slot >= ${from}::timestamptz`);
  if (to) conditions.push(fragment`k.slot < ${to}::timestamptz`);
  return conditions;
}

const series: Omit<ListSpec, 'from'> = {
  name: 'kpi-snapshots',
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

/** The stored snapshots as a time series, by default newest first. */
export async function listKpiSnapshots(ctx: Ctx, params: ListParams & KpiPeriod): Promise<JsonText> {
  const { from, to, every } = params;
  const asked = { from, to, every };
  return await runList(ctx, { ...series, from: kpiRows(every) }, kpiConditions(params), params, { asked });
}

import type { Ctx } from '../../domain/context.ts';
import { lifecyclePhases } from '../../domain/metamodel/metamodel.types.ts';
import type { Sql } from '../../platform/database.ts';

/** The figures of the active cards of visible types. */
export interface Figures {
  total_cards: number;
  by_type: Record<string, number>;
  /** 0 to 100 with one decimal; 0 without cards. */
  avg_data_quality: number;
  approval_statuses: Record<string, number>;
  data_quality_distribution: Record<'0-25' | '25-50' | '50-75' | '75-100', number>;
  lifecycle_distribution: Record<string, number>;
}

/**
 * The lifecycle phase of a card on a date, as SQL over a jsonb expression: the last phase that has begun; `plan`
 * when all lie ahead; `none` without any date.
 */
export function phaseOn(lifecycle: string): string {
  const begun = [...lifecyclePhases]
    .reverse()
    .map((phase) => `when ${lifecycle} ->> '${phase}' <= ? then '${phase}'`)
    .join(' ');
  return `case when ${lifecycle} is null or ${lifecycle} = '{}' then 'none' ${begun} else 'plan' end`;
}

/** Counts everything in one pass over the cards. `today` is a date, YYYY-MM-DD. */
export async function countFigures(sql: Sql, ctx: Ctx, today: string): Promise<Figures> {
  const { rows } = await sql.raw(
    `select c.type, c.approval_status, least(floor(c.data_quality / 25), 3)::int as bucket,
            ${phaseOn('c.lifecycle')} as phase, count(*)::int as n, sum(c.data_quality)::float8 as quality
     from cards c where c.status = 'ACTIVE' and not (c.type = any(?::text[]))
     group by 1, 2, 3, 4`,
    [...lifecyclePhases.map(() => today), ctx.metamodel.hiddenTypes] as never,
  );
  const figures: Figures = {
    total_cards: 0,
    by_type: Object.fromEntries(ctx.metamodel.visibleTypes.map((type) => [type, 0])),
    avg_data_quality: 0,
    approval_statuses: {},
    data_quality_distribution: { '0-25': 0, '25-50': 0, '50-75': 0, '75-100': 0 },
    lifecycle_distribution: Object.fromEntries([...lifecyclePhases, 'none'].map((phase) => [phase, 0])),
  };
  const buckets = ['0-25', '25-50', '50-75', '75-100'] as const;
  const add = (counts: Record<string, number>, key: string, n: number) => {
    counts[key] = (counts[key] ?? 0) + n;
  };
  let quality = 0;
  for (const row of rows) {
    figures.total_cards += row.n;
    quality += row.quality;
    add(figures.by_type, row.type, row.n);
    add(figures.approval_statuses, row.approval_status, row.n);
    add(figures.data_quality_distribution, buckets[row.bucket as 0]!, row.n);
    add(figures.lifecycle_distribution, row.phase, row.n);
  }
  if (figures.total_cards > 0)
    figures.avg_data_quality = Math.round((quality / figures.total_cards) * 10) / 10;
  return figures;
}

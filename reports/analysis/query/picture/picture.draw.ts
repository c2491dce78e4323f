import type { ReportQuery } from '../../../../domain/exchange/exports/report-query.job.ts';
import type { Ctx } from '../../../../domain/kernel/context.ts';
import type { Services } from '../../../../domain/kernel/services.ts';
import { loadSettings } from '../../../../domain/kernel/settings/settings.state.ts';
import { snapshotPosition } from '../../../exchange/extraction/extraction.plan.ts';
import { render } from '../../../kernel/rendering/rendering.queue.ts';
import { chartWorkspaceOf } from '../../../kernel/report.rendering.ts';
import type { QueryPlan } from '../query.plan.ts';
import { queryTimeOf, TIME_LIMITS, withQuerySnapshot } from '../query.run.ts';
import { queryChart } from './picture.chart.ts';
import { readPictureCells } from './picture.read.ts';
import { shapeOf } from './picture.shape.ts';

/** A query's answer as a picture. */
export interface DrawnQuery {
  svg: Buffer;
  /** The feed position that it includes. */
  position: string;
  /** How many groups there are, drawn or not. */
  groups: number;
}

export interface DrawOptions {
  signal?: AbortSignal | undefined;
  /** Nobody waits for the answer of a job: it may take longer. */
  forJob: boolean;
}

/** In milliseconds. */
const JOB_RENDER_MS = 15 * 60_000;

/**
 * Draws the answer of a query, from one snapshot.
 * @throws EstateError `query_too_heavy`, `as_of_expired`, `unavailable` when too many pictures are being made.
 */
export async function drawQuery(
  services: Services,
  ctx: Ctx,
  query: ReportQuery,
  plan: QueryPlan,
  { signal, forJob }: DrawOptions,
): Promise<DrawnQuery> {
  const shape = shapeOf(query, plan);
  const limit = forJob ? TIME_LIMITS.job : TIME_LIMITS.atOnce;
  const { read, position } = await withQuerySnapshot(
    services.db,
    queryTimeOf(ctx, query),
    limit,
    async (snapshot) => ({
      position: await snapshotPosition(snapshot),
      read: await readPictureCells(snapshot, query, plan, shape, !forJob),
    }),
  );
  const { values } = await loadSettings(services.db);
  const workspace = chartWorkspaceOf(values);
  const chart = queryChart({ ...read, query, plan, shape, metamodel: ctx.metamodel, workspace });
  const svg = await render(
    { make: 'chart', chart, workspace },
    { user: ctx.caller.userId, ...(signal ? { signal } : {}), ...(forJob ? { limitMs: JOB_RENDER_MS } : {}) },
  );
  return { svg, position, groups: read.groups };
}

import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { isPicture, type PictureFormat } from '../../../domain/inventory/reports/report.options.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import {
  type FileFacts,
  rightsOfFile,
  type StoredContent,
  storeContent,
} from '../../../domain/kernel/files/files.store.ts';
import type { RunningJob } from '../../../domain/kernel/jobs/jobs.running.ts';
import { may } from '../../../domain/kernel/permissions/policy.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { loadSettings } from '../../../domain/kernel/settings/settings.read.ts';
import { queryChartText } from '../../analysis/query/query.files.ts';
import { countTypes } from '../../inventory/kpis/kpis.counts.ts';
import { figuresOf } from '../../inventory/kpis/kpis.figures.ts';
import { kpiChart, readKpiSeries } from '../../inventory/kpis/kpis.series.ts';
import type { Chart, SingleChart } from '../../kernel/charts/charts.types.ts';
import { without } from '../../kernel/charts/charts.without.ts';
import { render } from '../../kernel/rendering/rendering.queue.ts';
import { activeCards } from '../../kernel/report.cards.ts';
import { fileMediaTypes } from '../../kernel/report.formats.ts';
import { openReportFile } from '../../kernel/report.job.ts';
import { chartWorkspaceOf, dayOf } from '../../kernel/report.rendering.ts';
import { reportText } from '../../kernel/report.texts.ts';
import type { PreparedPart, PreparedReport } from './scheduled-report.prepare.ts';
import { oldestOf, storeTables } from './scheduled-report.tables.ts';
import type { KeyFigure, ScheduledReport } from './scheduled-report.types.ts';

/** Time limit of a rendering in milliseconds. */
const RENDER_MS = 15 * 60_000;
/** The most figures of the report that a mail names. */
const MOST_FIGURES = 12;

/** The stored file of a saved report. */
export interface MadeReport {
  content: StoredContent;
  facts: Omit<FileFacts, 'name'>;
  /** The feed position of the data; null for what has none. */
  position: string | null;
  figures: KeyFigure[];
}

type Wanted = Omit<ScheduledReport, 'saved_report_id'>;
type Job = Pick<RunningJob<unknown>, 'ctx' | 'signal'>;

/** Writes a saved report to a file, with the rights of the context. */
export async function makeReport(
  services: Services,
  job: Job,
  wanted: Wanted,
  { saved, parts, permissions }: PreparedReport,
): Promise<MadeReport> {
  const { ctx } = job;
  const read = ['inventory.view', 'relations.view', 'stakeholders.view'] as const;
  const rights = await rightsOfFile(ctx, ...new Set([...permissions, ...read]));
  const facts = { ...rights, mediaType: fileMediaTypes[wanted.format], expiresAt: null };
  const figures = await inventoryFigures(ctx, wanted);
  if (isPicture(wanted.format)) {
    const title = saved.report_type === 'dashboard' ? saved.name : undefined;
    const { chart, position } = await chartOf(services, job, wanted, parts, title);
    const made = await draw(services, job, wanted, wanted.format, chart);
    const content = await storeContent(services.blobs, Readable.from([made]));
    return { content, facts, position, figures: [...chartFigures(chart), ...figures] };
  }
  const isBoard = saved.report_type === 'dashboard';
  const named = { ...wanted, format: wanted.format, name: saved.name };
  const made = await storeTables(services, job, named, parts, isBoard);
  return { ...made, facts, figures };
}

/** The chart of a saved report; that of a dashboard has those of its tiles as panels. */
async function chartOf(
  services: Services,
  job: Job,
  wanted: Wanted,
  parts: PreparedPart[],
  title: string | undefined,
): Promise<{ chart: Chart; position: string | null }> {
  const charts: Chart[] = [];
  const positions: string[] = [];
  for (const part of parts) {
    const { chart, position } = await chartOfPart(services, job, wanted, part);
    charts.push({ ...without(chart, part.hidden), ...(part.title && { title: part.title }) });
    if (position !== null) positions.push(position);
  }
  const position = oldestOf(positions);
  if (title === undefined) return { chart: charts[0]!, position };
  const panels = charts.flatMap((chart): SingleChart[] => {
    if (chart.kind !== 'panels') return [chart];
    return chart.panels.map((panel) => ({
      ...panel,
      title: [chart.title, panel.title].filter(Boolean).join(': '),
    }));
  });
  return {
    chart: { kind: 'panels', title, panels: panels.map((one) => ({ ...one, wide: true })) },
    position,
  };
}

async function chartOfPart(
  services: Services,
  { ctx, signal }: Job,
  { theme, width, language }: Wanted,
  part: PreparedPart,
): Promise<{ chart: Chart; position: string | null }> {
  const options = { theme, width, language };
  if (part.kind === 'kpis') {
    return { chart: kpiChart(await readKpiSeries(ctx, part.from, part.to), options), position: null };
  }
  if (part.kind === 'query') {
    const { picture, position } = await queryChartText(services, ctx, part.query, { signal, options });
    return { chart: JSON.parse(picture.toString()), position };
  }
  const wanted = { format: 'chart', ...options } as const;
  const { content, position } = await openReportFile(services, ctx, part.request, wanted, signal);
  return { chart: JSON.parse(await text(content)), position };
}

async function draw(
  services: Services,
  { ctx, signal }: Job,
  { theme, width, language }: Wanted,
  format: PictureFormat,
  chart: Chart,
): Promise<Buffer> {
  const options = { theme, width, language };
  const { values } = await loadSettings(services.db);
  const workspace = chartWorkspaceOf(values, options);
  const notes = { line: '', day: dayOf(undefined) };
  return await render(
    { chart, workspace, format, options, notes },
    { signal, limitMs: RENDER_MS, user: ctx.caller.userId },
  );
}

/** The figures that the report itself shows as numbers. */
function chartFigures(chart: Chart): KeyFigure[] {
  const panels = chart.kind === 'panels' ? chart.panels : [chart];
  return panels
    .flatMap((panel) => (panel.kind === 'figures' ? panel.items : []))
    .flatMap(({ name, value, unit }) => (value === null ? [] : [{ key: `chart.${name}`, name, value, unit }]))
    .slice(0, MOST_FIGURES);
}

/** The key figures of the cards that the caller sees; none without the right to them. */
async function inventoryFigures(ctx: Ctx, of: Wanted): Promise<KeyFigure[]> {
  if (!may(ctx.caller, 'reports.ea_dashboard')) return [];
  const { visibleTypes } = ctx.metamodel;
  const figures = figuresOf(await countTypes(ctx.db, visibleTypes, dayOf(undefined), activeCards(ctx)));
  const { APPROVED = 0, BROKEN = 0 } = figures.approval_statuses;
  return [
    { key: 'cards', name: reportText(of, 'axis.cards'), value: figures.total_cards, unit: 'count' },
    {
      key: 'quality',
      name: reportText(of, 'axis.dataQuality'),
      value: figures.avg_data_quality,
      unit: 'percent',
    },
    { key: 'approved', name: reportText(of, 'dashboard.approved'), value: APPROVED, unit: 'count' },
    { key: 'broken', name: reportText(of, 'dashboard.broken'), value: BROKEN, unit: 'count' },
  ];
}

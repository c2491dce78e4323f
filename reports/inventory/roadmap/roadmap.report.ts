import Type from 'typebox';
import { Lifecycle as CardLifecycle } from '../../../domain/inventory/cards/cards.model.ts';
import { lifecyclePhases } from '../../../domain/kernel/metamodel/metamodel.types.ts';
import { arrayOf, Nullable, OpenObject, OptionalText, Uuid } from '../../../domain/kernel/shapes.ts';
import { embed, fragment } from '../../../platform/database.ts';
import { type ChartContext, phaseLabels, typeLabel } from '../../kernel/charts/charts.labels.ts';
import type { Chart } from '../../kernel/charts/charts.types.ts';
import { reportAttributes } from '../../kernel/report.cards.ts';
import { reportTable } from '../../kernel/report.formats.ts';
import { idKey } from '../../kernel/report.rows.ts';
import { jsonLine, type Lifecycle, lifecycleKinds, withPhases } from '../../kernel/report.sql.ts';
import { defineReport, pagedReportSchema } from '../../kernel/report.ts';

const Result = pagedReportSchema('RoadmapReport', {
  items: arrayOf({
    id: Uuid,
    name: Type.String(),
    type: Type.String(),
    subtype: Nullable(Type.String()),
    lifecycle: Nullable(CardLifecycle),
    attributes: OpenObject,
  }),
});

/** The lifecycles of cards, for a roadmap. */
export const roadmapReport = defineReport({
  name: 'roadmap',
  id: 'readRoadmapReport',
  summary: 'Read the lifecycles of cards',
  description: 'Every card with a lifecycle date, of one type or of all.',
  permission: 'reports.ea_dashboard',
  params: {
    type: OptionalText(100, 'Key of a card type; default: all types'),
  },
  result: Result,
  reads: { cards: 'any', others: false },
  typeParams: ['type'],
  topics: ({ type }) => [type === undefined ? 'cards' : `cards:${type}`],
  async compute({ rows, ctx, params, cards }) {
    const types = params.type === undefined ? undefined : [params.type];
    const item = jsonLine({
      id: { id: 'c.id' },
      name: { text: 'c.name' },
      type: { text: 'c.type' },
      subtype: { text: 'c.subtype' },
      lifecycle: { json: 'c.lifecycle' },
      attributes: { json: reportAttributes(ctx, types) },
    });
    const ofType = params.type === undefined ? fragment`` : fragment`c.type = ${params.type} and`;
    const items = await rows({
      from: fragment`cards c where ${embed(ofType)} c.lifecycle <> '{}' and ${embed(cards)}`,
      keys: [idKey],
      line: item,
    });
    return ['{"items":[\n', items, '\n]}'];
  },
  isPaged: true,
  long: 'items',
  tables: ({ items }) => [
    reportTable(
      'items',
      { id: 'key', name: 'text', type: 'key', subtype: 'key', ...lifecycleKinds } as const,
      Iterator.from(items).map(withPhases),
    ),
  ],
  chart: ({ items }, { type }, context) => roadmapChart(items, type, context),
});

/** One row of phases per card, in order of the first date. */
function roadmapChart(
  items: { name: string; lifecycle: Lifecycle }[],
  type: string | undefined,
  context: ChartContext,
): Chart {
  const rows = items.map(({ name, lifecycle }) => ({
    name,
    dates: lifecyclePhases.map((phase) => lifecycle?.[phase] ?? null),
  }));
  const begin = ({ dates }: (typeof rows)[number]) => dates.find((date) => date !== null) ?? '';
  return {
    kind: 'roadmap',
    title: type === undefined ? 'Roadmap' : `Roadmap: ${typeLabel(context, type)}`,
    itemAxis: type === undefined ? 'Card' : typeLabel(context, type),
    phases: phaseLabels,
    today: context.today,
    items: rows.sort((a, b) => (begin(a) < begin(b) ? -1 : begin(a) > begin(b) ? 1 : 0)),
  };
}

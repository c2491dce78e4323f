import Type, { type Static } from 'typebox';
import { Lifecycle as CardLifecycle } from '../../../domain/inventory/cards/cards.model.ts';
import { lifecyclePhases } from '../../../domain/kernel/metamodel/metamodel.types.ts';
import { arrayOf, Nullable, Uuid } from '../../../domain/kernel/shapes.ts';
import { embed, fragment } from '../../../platform/database.ts';
import {
  type ChartContext,
  fieldAxis,
  fieldLabel,
  fieldUnit,
  NO_VALUE,
  optionLabel,
  optionLegend,
  positionOnAxis,
  typeLabel,
} from '../../kernel/charts/charts.labels.ts';
import { formatCount } from '../../kernel/charts/charts.numbers.ts';
import type { BubblesChart, Chart } from '../../kernel/charts/charts.types.ts';
import type { Cell } from '../../kernel/formats/formats.types.ts';
import { column } from '../../kernel/report.formats.ts';
import { fieldOf, fieldParam, typeOf, typeParam } from '../../kernel/report.params.ts';
import { idKey } from '../../kernel/report.rows.ts';
import { jsonLine, literal } from '../../kernel/report.sql.ts';
import { defineReport, pagedReportSchema } from '../../kernel/report.ts';

const FieldValue = Type.Unsafe<Cell>(
  Type.Unknown({ description: 'The value of the field; null if it is empty' }),
);

const Result = pagedReportSchema('PortfolioReport', {
  items: arrayOf({
    id: Uuid,
    name: Type.String(),
    x: FieldValue,
    y: FieldValue,
    size: Nullable(Type.Number()),
    color: FieldValue,
    lifecycle: Nullable(CardLifecycle),
  }),
  x_axis: Type.String(),
  y_axis: Type.String(),
});

type Result = Static<typeof Result>;
type Params = Record<'type' | (typeof fields)[number], string>;

const fields = ['x_axis', 'y_axis', 'size_field', 'color_field'] as const;

/** Cards by four of their fields, for a bubble chart. */
export const portfolioReport = defineReport({
  name: 'portfolio',
  id: 'readPortfolioReport',
  summary: 'Read the cards of a type by four of their fields',
  description: 'Each parameter names a field of the type; `size` is null if the value is not a number.',
  permission: 'reports.portfolio',
  permissionNote: 'costs.view for cost fields',
  params: {
    type: typeParam('Application'),
    x_axis: fieldParam('functionalSuitability', 'Field of the horizontal axis'),
    y_axis: fieldParam('technicalSuitability', 'Field of the vertical axis'),
    size_field: fieldParam('costTotalAnnual', 'Field for the size'),
    color_field: fieldParam('businessCriticality', 'Field for the colour'),
  },
  result: Result,
  reads: { cards: 'any', others: false },
  check(ctx, params) {
    const type = typeOf(ctx, 'type', params.type);
    for (const param of fields) fieldOf(ctx, param, type, params[param]);
  },
  topics: ({ type }) => [`cards:${type}`],
  async compute({ rows, params, cards }) {
    const value = (key: string) => `c.attributes -> ${literal(key)}`;
    const size = value(params.size_field);
    const item = jsonLine({
      id: { id: 'c.id' },
      name: { text: 'c.name' },
      x: { json: value(params.x_axis) },
      y: { json: value(params.y_axis) },
      size: { json: `case when jsonb_typeof(${size}) = 'number' then ${size} end` },
      color: { json: value(params.color_field) },
      lifecycle: { json: 'c.lifecycle' },
    });
    const items = await rows({
      from: fragment`cards c where c.type = ${params.type} and ${embed(cards)}`,
      keys: [idKey],
      line: item,
    });
    const { x_axis, y_axis } = params;
    return ['{"items":[\n', items, `\n],${JSON.stringify({ x_axis, y_axis }).slice(1)}`];
  },
  isPaged: true,
  long: 'items',
  tables: ({ items }, params) => [
    {
      name: 'items',
      columns: [
        column('id', 'key'),
        column('name'),
        ...fields.map((param) => column(params[param], param === 'size_field' ? 'number' : 'text')),
        ...lifecyclePhases.map((phase) => column(phase, 'date')),
      ],
      rows: items.map(({ id, name, x, y, size, color, lifecycle }) => [
        ...[id, name, x, y, size, color],
        ...lifecyclePhases.map((phase) => lifecycle?.[phase]),
      ]),
    },
  ],
  chart: ({ items }, params, context) => portfolioChart(items, params, context),
});

/** Share of placed cards below which the filter for the others is written. */
const LEAST_FILLED = 0.3;

/** One circle per card with values on both axes; the largest are drawn first, below the small ones. */
function portfolioChart(items: Result['items'], params: Params, context: ChartContext): Chart {
  const { type, x_axis, y_axis } = params;
  const placed = items.flatMap((item): BubblesChart['items'] => {
    const x = positionOnAxis(context, type, x_axis, item.x);
    const y = positionOnAxis(context, type, y_axis, item.y);
    if (x === undefined || y === undefined) return [];
    const group =
      typeof item.color === 'string' ? optionLabel(context, type, params.color_field, item.color) : NO_VALUE;
    return [{ name: item.name, x, y, group, ...(item.size === null ? {} : { size: item.size }) }];
  });
  const missing = items.length - placed.length;
  const isSparse = placed.length < items.length * LEAST_FILLED;
  const lacking = [x_axis, y_axis].map((key) => `attributes.${key} is empty`).join(' or ');
  const isFit = [x_axis, y_axis].every((key) => /suitability/i.test(key));
  return {
    kind: 'bubbles',
    title: `${typeLabel(context, type)} portfolio`,
    note: `${formatCount(placed.length)} of ${formatCount(items.length)} cards${missing > 0 ? `, ${formatCount(missing)} lack a value on an axis` : ''}${isSparse ? ` (filter: ${lacking})` : ''}`,
    x: fieldAxis(context, type, x_axis),
    y: fieldAxis(context, type, y_axis),
    size: {
      name: fieldLabel(context, type, params.size_field),
      unit: fieldUnit(context, type, params.size_field),
    },
    groupAxis: fieldLabel(context, type, params.color_field),
    groups: [...optionLegend(context, type, params.color_field), { name: NO_VALUE, paint: 'others' }],
    corners: isFit
      ? { best: 'Keep and invest', worst: 'Replace first' }
      : { best: 'Best on both', worst: 'Worst on both' },
    items: placed.sort((a, b) => (b.size ?? 0) - (a.size ?? 0)),
  };
}

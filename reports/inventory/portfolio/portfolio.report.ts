import Type from 'typebox';
import { Lifecycle as CardLifecycle } from '../../../domain/inventory/cards/cards.model.ts';
import { may } from '../../../domain/kernel/permissions/policy.ts';
import { closed, Nullable, Uuid } from '../../../domain/kernel/shapes.ts';
import type { Cell } from '../../kernel/formats/formats.types.ts';
import { reportAnswer } from '../../kernel/report.answer.ts';
import { column } from '../../kernel/report.formats.ts';
import { fieldOf, fieldParam, typeOf, typeParam } from '../../kernel/report.params.ts';
import { jsonLine, lifecycleCells, lifecycleColumns, literal } from '../../kernel/report.sql.ts';
import { defineReport } from '../../kernel/report.ts';
import { portfolioChart } from './portfolio.chart.ts';

const FieldValue = Type.Unsafe<Cell>(
  Type.Unknown({ description: 'The value of the field; null where it is empty' }),
);

const Answer = reportAnswer('PortfolioReport', {
  items: Type.Array(
    Type.Object(
      {
        id: Uuid,
        name: Type.String(),
        x: FieldValue,
        y: FieldValue,
        size: Nullable(Type.Number()),
        color: FieldValue,
        lifecycle: Nullable(CardLifecycle),
      },
      closed,
    ),
  ),
  x_axis: Type.String(),
  y_axis: Type.String(),
});

const fields = ['x_axis', 'y_axis', 'size_field', 'color_field'] as const;

/** Cards by four of their fields, for bubbles in a plane. */
export const portfolioReport = defineReport({
  name: 'portfolio',
  id: 'readPortfolioReport',
  summary: 'Read the cards of a type by four of their fields',
  description: 'Each parameter names a field of the type; `size` is null where the field holds no number.',
  permission: 'reports.portfolio',
  permissionNote: 'costs.view for cost fields',
  params: {
    type: typeParam('Application'),
    x_axis: fieldParam('functionalSuitability', 'Field along the horizontal axis'),
    y_axis: fieldParam('technicalSuitability', 'Field along the vertical axis'),
    size_field: fieldParam('costTotalAnnual', 'Field that gives the size'),
    color_field: fieldParam('businessCriticality', 'Field that gives the colour'),
  },
  answer: Answer,
  timeTravel: true,
  reads: { cards: 'any', others: false },
  check(ctx, params) {
    const type = typeOf(ctx, 'type', params.type);
    for (const param of fields) fieldOf(ctx, param, type, params[param]);
  },
  dependsOn: (topic, { type }) => topic === `cards:${type}` || topic === 'metamodel',
  variant: (ctx) => String(may(ctx.caller, 'costs.view')),
  async compute({ lines, params, cards }) {
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
    const items = await lines({
      sql: `select ${item} from cards c where c.type = ? and ${cards.sql} order by c.id`,
      bindings: [params.type, ...cards.bindings],
    });
    const { x_axis, y_axis } = params;
    return ['{"items":[\n', items, `\n],${JSON.stringify({ x_axis, y_axis }).slice(1)}`];
  },
  long: 'items',
  tables: ({ items }, params) => [
    {
      name: 'items',
      columns: [
        column('id', 'key'),
        column('name'),
        ...fields.map((param) => column(params[param], param === 'size_field' ? 'number' : 'text')),
        ...lifecycleColumns,
      ],
      rows: items.map((card) => [
        card.id,
        card.name,
        card.x,
        card.y,
        card.size,
        card.color,
        ...lifecycleCells(card.lifecycle),
      ]),
    },
  ],
  chart: ({ items }, params, context) => portfolioChart(items, params, context),
});

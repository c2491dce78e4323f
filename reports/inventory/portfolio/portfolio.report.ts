import Type, { type Static } from 'typebox';
import { Lifecycle as CardLifecycle } from '../../../domain/inventory/cards/cards.model.ts';
import type { CardType } from '../../../domain/kernel/metamodel/metamodel.compile.ts';
import { lifecyclePhases } from '../../../domain/kernel/metamodel/metamodel.types.ts';
import { arrayOf, Nullable, OptionalText, object, Uuid } from '../../../domain/kernel/shapes.ts';
import { embed, fragment } from '../../../platform/database.ts';
import {
  type ChartContext,
  fieldAxis,
  fieldLabel,
  fieldUnit,
  noValue,
  optionLabel,
  optionLegend,
  positionOnAxis,
  typeLabel,
  typeNames,
  WELL_FILLED,
} from '../../kernel/charts/charts.labels.ts';
import type { BubblesChart, Chart } from '../../kernel/charts/charts.types.ts';
import type { Cell } from '../../kernel/formats/formats.types.ts';
import { column } from '../../kernel/report.formats.ts';
import { choices, fieldOf, typeOf, typeParam } from '../../kernel/report.params.ts';
import { idKey } from '../../kernel/report.rows.ts';
import { jsonLine, literal } from '../../kernel/report.sql.ts';
import { reportText } from '../../kernel/report.texts.ts';
import { defineReport, pagedReportSchema } from '../../kernel/report.ts';
import {
  ChosenField,
  chooseFields,
  isPreferredAxis,
  portfolioFields,
  portfolioFigures,
} from './portfolio.fields.ts';

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
  x_axis: Nullable(Type.String()),
  y_axis: Nullable(Type.String()),
  fields: object({
    x_axis: ChosenField,
    y_axis: ChosenField,
    size_field: ChosenField,
    color_field: ChosenField,
  }),
  groups: Nullable(
    arrayOf({ x: FieldValue, y: FieldValue, color: FieldValue, count: Type.Integer(), size: Type.Number() }),
  ),
});

type Result = Static<typeof Result>;
/** Cards by four of their fields, for a bubble chart. */
export const portfolioReport = defineReport({
  name: 'portfolio',
  id: 'readPortfolioReport',
  summary: 'Read the cards of a type by four of their fields',
  description:
    'Each parameter names a field of the type; `size` is null if the value is not a number. Of those that are not named, the report chooses a field: functional and technical suitability, annual cost and business criticality if these are filled for 30 % of the cards, else the best-filled field of the kind; where no select field is filled for 30 %, an axis can have numbers, costs or booleans. An axis that would be empty takes the field of the colour or the size, if there are at least ten cards. `groups` counts all cards by axes and colour, and sums their sizes; null if an axis or the colour is not a select field or a boolean.',
  permission: 'reports.portfolio',
  permissionNote: 'costs.view for cost fields',
  params: {
    type: typeParam('Application'),
    x_axis: OptionalText(100, 'Field of the horizontal axis', choices({ of: 'fields' })),
    y_axis: OptionalText(100, 'Field of the vertical axis', choices({ of: 'fields' })),
    size_field: OptionalText(100, 'Field for the size', choices({ of: 'fields' })),
    color_field: OptionalText(100, 'Field for the colour', choices({ of: 'fields' })),
  },
  result: Result,
  reads: { cards: 'any', others: false },
  check(ctx, params) {
    const type = typeOf(ctx, 'type', params.type);
    for (const param of portfolioFields) {
      if (params[param] !== undefined) fieldOf(ctx, param, type, params[param]);
    }
  },
  topics: ({ type }) => [`cards:${type}`],
  async compute({ sql, rows, ctx, params, cards }) {
    const type = typeOf(ctx, 'type', params.type);
    const ofType = fragment`c.type = ${params.type} and ${embed(cards)}`;
    const { type: _, ...given } = params;
    const chosen = await chooseFields(sql, ctx, type, ofType, given);
    const value = (key: string | null) => (key === null ? 'null::jsonb' : `c.attributes -> ${literal(key)}`);
    const size = value(chosen.size_field);
    const item = jsonLine({
      id: { id: 'c.id' },
      name: { text: 'c.name' },
      x: { json: value(chosen.x_axis) },
      y: { json: value(chosen.y_axis) },
      size: { json: `case when jsonb_typeof(${size}) = 'number' then ${size} end` },
      color: { json: value(chosen.color_field) },
      lifecycle: { json: 'c.lifecycle' },
    });
    const items = await rows({ from: fragment`cards c where ${embed(ofType)}`, keys: [idKey], line: item });
    const { x_axis, y_axis, color_field } = chosen;
    const isGrouped = [x_axis, y_axis, color_field].every((key) => key === null || isDiscrete(type, key));
    const { filled, groups } = await portfolioFigures(sql, ofType, chosen, isGrouped);
    const fields = Object.fromEntries(
      portfolioFields.map((param) => [
        param,
        { field: chosen[param], filled: filled[param], is_default: given[param] === undefined },
      ]),
    );
    const rest = JSON.stringify({ x_axis, y_axis, fields });
    return ['{"items":[\n', items, `\n],${rest.slice(1, -1)},"groups":${groups}}`];
  },
  isPaged: true,
  long: 'items',
  tables: ({ items, fields }) => [
    {
      name: 'items',
      columns: [
        column('id', 'key'),
        column('name'),
        ...portfolioFields.map((param) =>
          column(fields[param].field ?? param, param === 'size_field' ? 'number' : 'text'),
        ),
        ...lifecyclePhases.map((phase) => column(phase, 'date')),
      ],
      rows: items.map(({ id, name, x, y, size, color, lifecycle }) => [
        ...[id, name, x, y, size, color],
        ...lifecyclePhases.map((phase) => lifecycle?.[phase]),
      ]),
    },
  ],
  chart: (result, { type }, context) => portfolioChart(result, type, context),
});

/** Whether a field has few values. */
const isDiscrete = (type: CardType, key: string): boolean =>
  ['single_select', 'boolean'].includes(type.fields.get(key)!.type);

/** One circle per card with values on both axes; the largest are drawn first, below the small ones. */
function portfolioChart(result: Result, type: string, context: ChartContext): Chart {
  const { items, fields } = result;
  const none = noValue(context);
  // a field that the type does not have is one that no card has a value of
  const [x_axis, y_axis] = [fields.x_axis.field ?? '', fields.y_axis.field ?? ''];
  const [size_field, color_field] = [fields.size_field.field, fields.color_field.field];
  const placed = items.flatMap((item): BubblesChart['items'] => {
    const x = positionOnAxis(context, type, x_axis, item.x);
    const y = positionOnAxis(context, type, y_axis, item.y);
    if (x === undefined || y === undefined) return [];
    const group =
      color_field !== null && typeof item.color === 'string'
        ? optionLabel(context, type, color_field, item.color)
        : none;
    return [
      { id: item.id, name: item.name, x, y, group, ...(item.size === null ? {} : { size: item.size }) },
    ];
  });
  // fields of the report's choice are left out where they say nothing
  const says = ({ field, is_default }: Result['fields']['x_axis'], isKnown: boolean) =>
    field !== null && (isKnown || !is_default);
  const isSized = says(
    fields.size_field,
    placed.some(({ size }) => size !== undefined),
  );
  const isColoured = says(
    fields.color_field,
    placed.some(({ group }) => group !== none),
  );
  const isFit = [x_axis, y_axis].every((key) => /suitability/i.test(key));
  return {
    kind: 'bubbles',
    itemAxis: typeLabel(context, type),
    title: reportText(context, 'portfolio.title', typeNames(context, type)),
    note: noteOf(result, placed.length, type, context),
    empty: reportText(context, 'portfolio.empty'),
    x: fieldAxis(context, type, x_axis),
    y: fieldAxis(context, type, y_axis),
    ...(isSized && {
      size: { name: fieldLabel(context, type, size_field!), unit: fieldUnit(context, type, size_field!) },
    }),
    ...(isColoured && {
      groupAxis: fieldLabel(context, type, color_field!),
      groups: [...optionLegend(context, type, color_field!), { name: none, paint: 'others' as const }],
    }),
    corners: isFit
      ? { best: reportText(context, 'portfolio.invest'), worst: reportText(context, 'portfolio.replace') }
      : { best: reportText(context, 'portfolio.best'), worst: reportText(context, 'portfolio.worst') },
    items: placed.sort((a, b) => (b.size ?? 0) - (a.size ?? 0)),
  };
}

/** How many cards are drawn, and why these fields: who named none sees which ones are filled. */
function noteOf({ items, fields }: Result, shown: number, type: string, context: ChartContext): string {
  const missing = items.length - shown;
  const axes = [fields.x_axis, fields.y_axis];
  if (shown === 0 && missing > 0 && axes.every(({ is_default }) => is_default))
    return reportText(context, 'portfolio.unfilled', { total: items.length });
  const isChosen = axes.some(({ field, is_default }) => is_default && !isPreferredAxis(field));
  const isSparse = shown < items.length * WELL_FILLED;
  const text = isSparse ? 'sparse' : isChosen ? 'chosen' : missing === 0 ? 'note' : 'lacks';
  return reportText(context, `portfolio.${text}`, {
    shown,
    total: items.length,
    missing,
    fieldX: fieldLabel(context, type, fields.x_axis.field ?? ''),
    filledX: fields.x_axis.filled,
    fieldY: fieldLabel(context, type, fields.y_axis.field ?? ''),
    filledY: fields.y_axis.filled,
  });
}

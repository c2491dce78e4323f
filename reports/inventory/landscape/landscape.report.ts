import Type, { type Static } from 'typebox';
import { Lifecycle as CardLifecycle } from '../../../domain/inventory/cards/cards.model.ts';
import type { Fragment } from '../../../domain/kernel/lists/lists.types.ts';
import { arrayOf, Nullable, OpenObject, OptionalText, Uuid } from '../../../domain/kernel/shapes.ts';
import { embed, fragment, query } from '../../../platform/database.ts';
import {
  type ChartContext,
  decapitalised,
  distinctLabels,
  fieldLabel,
  noValue,
  optionLegend,
  phaseLegend,
  phasePaint,
  typeLabel,
  typeNames,
} from '../../kernel/charts/charts.labels.ts';
import type { Chart, Paint } from '../../kernel/charts/charts.types.ts';
import { reportAttributes } from '../../kernel/report.cards.ts';
import { chooseRelatedType, relatedPairs } from '../../kernel/report.ends.ts';
import { reportTable } from '../../kernel/report.formats.ts';
import { rowsByGroup } from '../../kernel/report.nested.ts';
import {
  checkOptionField,
  optionFields,
  relatedTypeParam,
  typeOf,
  typeParam,
} from '../../kernel/report.params.ts';
import { MAX_ROWS } from '../../kernel/report.rows.ts';
import { rolledUp, rollUpParam } from '../../kernel/report.scope.ts';
import { jsonLine, type Lifecycle, lifecycleKinds, withPhases } from '../../kernel/report.sql.ts';
import { reportText } from '../../kernel/report.texts.ts';
import { defineReport, pagedReportSchema, type ReportInput } from '../../kernel/report.ts';

const Named = { id: Uuid, name: Type.String() };
const Member = {
  ...Named,
  type: Type.String(),
  attributes: OpenObject,
  lifecycle: Nullable(CardLifecycle),
};

const Result = pagedReportSchema('LandscapeReport', {
  group_by: Type.String({ description: 'The type of the groups' }),
  groups: arrayOf({
    ...Named,
    parent_id: Nullable(Uuid),
    item_count: Type.Integer({
      description: 'The number of its cards, of which `items` are those of the response',
    }),
    items: arrayOf(Member),
  }),
  ungrouped: arrayOf(Member),
  group_count: Type.Integer(),
});
interface Params {
  type: string;
  group_by: string;
  roll_up: boolean;
}
type Result = Static<typeof Result>;

/** The cards of a type, grouped by related cards of another type. */
export const landscapeReport = defineReport({
  name: 'landscape',
  id: 'readLandscapeReport',
  summary: 'Read the cards of a type, grouped by related cards of another type',
  description: `A card that is related to several groups is in each of them. Groups are ordered by name and include those without cards; of more than ${MAX_ROWS} groups, those with cards in the response. Each card in a group is a row; those without a group are last. \`filter\` applies to the cards, not to the groups.`,
  permission: 'reports.ea_dashboard',
  needs: ['relations.view'],
  params: {
    type: typeParam('Application'),
    group_by: relatedTypeParam('BusinessCapability'),
    color_field: OptionalText(
      100,
      'Select field of the cards that colours the picture; default: the phase',
      optionFields(),
    ),
    roll_up: rollUpParam,
  },
  result: Result,
  reads: { cards: 'any', relations: ['type', 'source_id', 'target_id'], others: false },
  typeParams: ['type', 'group_by'],
  check(ctx, { type, color_field }) {
    checkOptionField(ctx, 'color_field', typeOf(ctx, 'type', type), color_field);
  },
  topics: ({ type, group_by }) =>
    group_by === undefined ? ['relations', 'cards'] : ['relations', `cards:${type}`, `cards:${group_by}`],
  async compute(input) {
    const { sql, ctx, range, params: given, cards, visible } = input;
    const chosen = () =>
      chooseRelatedType({ sql, ctx, cards, others: visible }, given.type, 'BusinessCapability');
    const params = { ...given, group_by: given.group_by ?? (await chosen()) };
    await sql.raw(`set local work_mem = '64MB'`);
    const { placed, groups } = landscapeSql({ ...input, params });
    // a row is a card in a group, or at the end a card without a group
    const rows = await input.rows({
      before: placed,
      from: fragment`placed p`,
      alias: 'p',
      keys: [
        { sql: 'p.is_last', type: 'integer' },
        { sql: 'p.group_key', type: 'text' },
        { sql: 'p.group_id', type: 'uuid' },
        { sql: 'p.card_id', type: 'uuid' },
      ],
      line: jsonLine({
        group_id: { id: 'p.group_id' },
        id: { id: 'c.id' },
        name: { text: 'c.name' },
        type: { text: 'c.type' },
        attributes: { json: reportAttributes(ctx, [params.type]) },
        lifecycle: { json: 'c.lifecycle' },
      }),
      joins: fragment`join cards c on c.id = p.card_id`,
    });
    const all: { id: string }[] = await query(sql).value`${embed(placed)}
      select coalesce(json_agg(json_build_object('id', c.id, 'name', c.name, 'parent_id', c.parent_id,
        'item_count', coalesce(n.count, 0)) order by c.name_key, c.id), '[]')
      from cards c left join (select group_id, count(*) from placed group by group_id) n on n.group_id = c.id
      where ${embed(groups)}`;
    return nested(params.group_by, rows, all, range !== undefined && all.length > MAX_ROWS);
  },
  isPaged: true,
  omitsGroups: true,
  tables: (result) => [
    reportTable(
      'items',
      {
        group_id: 'key',
        group_name: 'text',
        id: 'key',
        name: 'text',
        type: 'key',
        ...lifecycleKinds,
      } as const,
      rowsOf(result),
    ),
    reportTable(
      'groups',
      { id: 'key', name: 'text', items: 'number' },
      result.groups.map((group) => ({ ...group, items: group.item_count })),
    ),
  ],
  chart: ({ groups, ungrouped, group_by }, params, context) =>
    landscapeChart(groups, ungrouped, { ...params, group_by: params.group_by ?? group_by }, context),
});

/** The id of the group of cards without a group, in rows. */
const NO_GROUP = '00000000-0000-0000-0000-000000000000';

/** The common table `placed` of the rows' keys, and the condition of the groups over the alias `c`. */
function landscapeSql({
  ctx,
  params,
  cards,
  visible,
}: ReportInput<Params>): Record<'placed' | 'groups', Fragment> {
  const { type, group_by: groupBy } = params;
  const groups = fragment`c.type = ${groupBy} and ${embed(visible)}`;
  const direct = relatedPairs(ctx, type, groupBy);
  const pairs = params.roll_up ? rolledUp(direct, 'other_id', groups) : direct;
  const placed = fragment`with shown as (select c.id from cards c where c.type = ${type} and ${embed(cards)}),
    related as materialized (
      select ${embed(pairs.once)} e.card_id, e.other_id as group_id, g.name_key as group_key
      from (${embed(pairs)}) e join (select c.id, c.name_key from cards c where ${embed(groups)}) g on g.id = e.other_id
      where e.card_id in (select id from shown)),
    placed as (
      select 0 as is_last, group_key, group_id, card_id from related
      union all
      select 1, '', ${NO_GROUP}::uuid, id from shown where id not in (select card_id from related))`;
  return { placed, groups };
}

/** Nests rows in their groups. @param isLong whether groups without rows are omitted. */
function nested(
  groupBy: string,
  rows: Buffer,
  groups: { id: string }[],
  isLong: boolean,
): (string | Buffer)[] {
  const items = rowsByGroup(rows);
  const shown = isLong ? groups.filter(({ id }) => items.has(id)) : groups;
  return [
    `{"group_by":${JSON.stringify(groupBy)},"groups":[`,
    ...shown.flatMap((group, n) => [
      `${n === 0 ? '' : ','}\n${JSON.stringify(group).slice(0, -1)},"items":[`,
      ...(items.get(group.id) ?? []),
      ']}',
    ]),
    '],"ungrouped":[',
    ...(items.get(NO_GROUP) ?? []),
    `],"group_count":${groups.length}}`,
  ];
}

function* rowsOf({ groups, ungrouped }: Result) {
  for (const { id, name, items } of groups) {
    for (const item of items) yield { ...withPhases(item), group_id: id, group_name: name };
  }
  for (const item of ungrouped) yield { ...withPhases(item), group_id: null, group_name: null };
}

const UNGROUPED = { id: 'ungrouped', parent_id: null };

interface Drawn {
  id?: string;
  name: string;
  lifecycle?: Lifecycle;
  attributes?: Record<string, unknown>;
}

/** One box per group in that of its parent, with its cards by phase; groups of one name show what lies above. */
export function landscapeChart(
  groups: { id: string; name: string; parent_id: string | null; items: Drawn[] }[],
  ungrouped: Drawn[],
  {
    type,
    group_by,
    color_field,
    roll_up: rolledUp = false,
  }: { type: string; group_by: string; color_field?: string; roll_up?: boolean },
  context: ChartContext,
): Chart {
  const byId = new Map(groups.map((group) => [group.id, group]));
  const labels = distinctLabels(groups, ({ parent_id }) => {
    const names: string[] = [];
    for (let above = byId.get(parent_id ?? ''); above; above = byId.get(above.parent_id ?? '')) {
      names.push(above.name);
    }
    return names;
  });
  const options =
    color_field === undefined
      ? undefined
      : [
          ...optionLegend(context, type, color_field),
          { key: undefined, name: noValue(context), paint: 'none' as const },
        ];
  const paintOf = ({ lifecycle, attributes }: Drawn): Paint =>
    options
      ? (options.find(({ key }) => key === attributes?.[color_field!]) ?? options.at(-1)!).paint
      : phasePaint(lifecycle ?? null, context);
  const itemsOf = (items: Drawn[]) =>
    items.map((item) => ({ id: item.id ?? item.name, name: item.name, paint: paintOf(item) }));
  const { type: one, types, ofTypes } = typeNames(context, type);
  const empty = groups.filter(({ items }) => items.length === 0).length;
  return {
    kind: 'boxes',
    title: reportText(context, 'landscape.title', {
      types,
      group: decapitalised(typeLabel(context, group_by), context),
    }),
    note: reportText(context, 'landscape.note', { groups: groups.length, empty }),
    itemAxis: typeLabel(context, group_by),
    boxes: [
      ...groups.map(({ id, parent_id, items }, at) => ({
        id,
        name: labels[at]!,
        parent_id,
        items: itemsOf(items),
      })),
      ...(ungrouped.length > 0
        ? [
            {
              ...UNGROUPED,
              name: reportText(context, 'landscape.ungrouped'),
              items: itemsOf(ungrouped),
              isLast: true,
            },
          ]
        : []),
    ],
    member: [decapitalised(one, context), ofTypes],
    legend: options ?? phaseLegend(context),
    legendAxis:
      color_field === undefined ? reportText(context, 'axis.phase') : fieldLabel(context, type, color_field),
    rolledUp,
    gaps: true,
  };
}

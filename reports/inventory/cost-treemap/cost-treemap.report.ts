import Type from 'typebox';
import { Lifecycle as CardLifecycle } from '../../../domain/inventory/cards/cards.model.ts';
import { invisibleCardError } from '../../../domain/inventory/cards/cards.projection.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import type { Fragment } from '../../../domain/kernel/lists/lists.types.ts';
import type { CardType } from '../../../domain/kernel/metamodel/metamodel.compile.ts';
import { requirePermission } from '../../../domain/kernel/permissions/policy.ts';
import {
  arrayOf,
  Nullable,
  NullableText,
  OpenObject,
  OptionalText,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import { embed, fragment, joinFragments, query } from '../../../platform/database.ts';
import { invalidField, notFound } from '../../../platform/errors.ts';
import {
  type ChartContext,
  distinctLabels,
  fieldLabel,
  typeLabel,
  typeNames,
  WELL_FILLED,
} from '../../kernel/charts/charts.labels.ts';
import type { Chart, TreemapChart } from '../../kernel/charts/charts.types.ts';
import { relatedPairs } from '../../kernel/report.ends.ts';
import { reportTable } from '../../kernel/report.formats.ts';
import { choices, costFieldOf, fieldOf, fieldParam, typeOf, typeParam } from '../../kernel/report.params.ts';
import {
  attributesOnce,
  jsonLine,
  jsonText,
  lifecycleKinds,
  literal,
  numberIn,
  withPhases,
} from '../../kernel/report.sql.ts';
import { reportText } from '../../kernel/report.texts.ts';
import { defineReport, pagedReportSchema, type ReportInput } from '../../kernel/report.ts';
import { chooseFields } from '../portfolio/portfolio.fields.ts';

/** The name of the group for cards without a group. */
const REST = 'Ungrouped';

const GroupId = Nullable(
  Type.String({
    format: 'uuid',
    description: 'The card of the group; null for options of a field and for those without a group',
  }),
);

const Result = pagedReportSchema('CostTreemapReport', {
  items: arrayOf({
    id: Uuid,
    name: Type.String(),
    cost: Type.Number(),
    lifecycle: Nullable(CardLifecycle),
    attributes: OpenObject,
    group: Type.Optional(Type.String()),
    group_id: Type.Optional(GroupId),
  }),
  total: Type.Number(),
  group_by: Type.Optional(
    Type.String({ description: 'What a picture is grouped by if the request does not say it' }),
  ),
  groups: Nullable(
    arrayOf({
      id: GroupId,
      name: Type.String(),
      parent_name: Type.Optional(NullableText('The name of the parent of the group’s card')),
      cost: Type.Number(),
    }),
  ),
});

interface Params {
  type: string;
  cost_field: string;
  group_by?: string;
  aggregate: string[];
  parent_card_id?: string;
}

/** Whether the cards are grouped by related cards of a type. */
const groupsByCards = (ctx: Ctx, group: string) => ctx.metamodel.cardTypes.get(group)?.is_hidden === false;

function check(ctx: Ctx, { type: key, cost_field, group_by, aggregate }: Params): void {
  const type = typeOf(ctx, 'type', key);
  costFieldOf(ctx, 'cost_field', type, cost_field);
  for (const other of aggregate) costFieldOf(ctx, 'aggregate', typeOf(ctx, 'aggregate', other), cost_field);
  if (aggregate.length > 0) requirePermission(ctx.caller, 'relations.view');
  if (group_by === undefined) return;
  if (groupsByCards(ctx, group_by)) requirePermission(ctx.caller, 'relations.view');
  else if (fieldOf(ctx, 'group_by', type, group_by).type !== 'single_select') {
    const message = `"${group_by}" is neither a card type nor a select field`;
    throw invalidField('group_by', 'unknown_value', message);
  }
}

async function requireParent({ sql, ctx, visible }: ReportInput<Params>, id: string): Promise<void> {
  const rows = await query(sql).rows`select from cards c where c.id = ${id}::uuid and ${embed(visible)}`;
  if (rows.length === 0) throw invisibleCardError(ctx, notFound('card', id));
}

/** The common tables, and SQL of an item's cost and group: `c` is the card, `i` its item. */
function partsOf({ ctx, params, visible }: ReportInput<Params>) {
  const { type, cost_field, group_by, aggregate } = params;
  const tables: Fragment[] = [];
  const joins: string[] = [];
  let cost = 'i.own';
  let group = 'i.grp';
  let groupId = 'null::uuid';
  let ownGroup: Fragment = fragment`null::text`;
  if (aggregate.length > 0) {
    tables.push(addedCosts(ctx, type, aggregate, cost_field, visible));
    joins.push('left join added on added.card_id = i.id');
    cost = 'i.own + coalesce(added.cost, 0)';
  }
  if (group_by !== undefined && groupsByCards(ctx, group_by)) {
    tables.push(groupsByType(ctx, type, group_by, visible));
    joins.push('left join grouped on grouped.card_id = i.id');
    group = 'grouped.name';
    groupId = 'grouped.group_id';
  } else if (group_by !== undefined) {
    ownGroup = groupOfField(typeOf(ctx, 'type', type), group_by);
  }
  return { tables, joins, cost, group, groupId, ownGroup };
}

/**
 * The select field by which a picture is grouped, unless the request says it: a usual one if it is filled, else the best-filled
 * one; none if too few of the cards with costs have a value.
 */
async function filledField({ sql, ctx, params, cards }: ReportInput<Params>): Promise<string | undefined> {
  const type = typeOf(ctx, 'type', params.type);
  const others = { x_axis: '', y_axis: '', size_field: '' };
  const ofType = fragment`c.type = ${type.key} and ${embed(cards)}`;
  const { color_field: key } = await chooseFields(sql, ctx, type, ofType, others);
  if (type.fields.get(key ?? '')?.type !== 'single_select') return undefined;
  const priced =
    params.aggregate.length > 0
      ? fragment`true`
      : fragment`${embed(numberIn('c.attributes', params.cost_field))} <> 0`;
  const isFilled = await query(sql).value<boolean>`
    select count(c.attributes -> ${embed(literal(key!))}) > ${WELL_FILLED}::numeric * count(*)
    from cards c where ${embed(ofType)} and ${embed(priced)}`;
  return isFilled ? key! : undefined;
}

/** The common table `priced (id, cost, grp, grp_id)` of the cards with costs, and the SQL of their groups' sums. */
function pricedCards(input: ReportInput<Params>): { before: Fragment; sums: Fragment } {
  const { params, cards, visible } = input;
  const { type, cost_field: costField, group_by: groupBy, parent_card_id: parent } = params;
  const { tables, joins, cost, group, groupId, ownGroup } = partsOf(input);
  const parentName =
    groupBy !== undefined && groupsByCards(input.ctx, groupBy)
      ? fragment`(select c.name from cards g join cards c on c.id = g.parent_id
            where g.id = p.grp_id and ${embed(visible)})`
      : fragment`null::text`;
  const ofParent = parent === undefined ? fragment`` : fragment`and c.parent_id = ${parent}::uuid`;
  const before = fragment`with ${embed(joinFragments([...tables, fragment``], ', '))} priced as materialized (
        select p.* from (
          select i.id, ${embed(cost)} as cost, coalesce(${embed(group)}, ${REST}::text) as grp, ${embed(groupId)} as grp_id
          from (
            select c.id, ${embed(numberIn('v.attributes', costField))} as own, ${embed(ownGroup)} as grp
            from cards c ${embed(attributesOnce)}
            where c.type = ${type} ${embed(ofParent)} and ${embed(cards)} offset 0) i
          ${embed(joins.join(' '))} offset 0) p
        where p.cost <> 0)`;
  const sums = fragment`(select p.grp_id as id, p.grp as name, ${embed(parentName)} as parent_name, p.cost
        from (select grp_id, grp, sum(cost) as cost from priced group by grp_id, grp) p) s`;
  return { before, sums };
}

const GROUPS = `coalesce(jsonb_agg(s order by s.cost desc, s.name, s.id), '[]')`;

/** Costs of cards as a treemap: grouped, optionally with costs of related cards, by hierarchy level. */
export const costTreemapReport = defineReport({
  name: 'cost-treemap',
  id: 'readCostTreemapReport',
  summary: 'Read the grouped costs of cards for a treemap',
  description: `Highest cost first; cards without costs are omitted. Grouped by a related type, a card with several related cards counts in the group of the first by name; cards without one are in "${REST}". Groups of related cards are identified by the id of their card, so that names can be equal; \`parent_name\` distinguishes them. Options with equal labels have their keys in brackets.`,
  permission: 'reports.ea_dashboard',
  errors: ['not_found'],
  needs: ['costs.view'],
  permissionNote: 'relations.view for related types',
  params: {
    type: typeParam('Application'),
    cost_field: fieldParam('costTotalAnnual', 'Cost field for the area', ['cost']),
    group_by: OptionalText(
      100,
      'A related card type, or a select field of the type',
      choices({ of: 'fields or related types', field_types: ['single_select'] }),
    ),
    aggregate: Type.Array(Type.String({ maxLength: 100 }), {
      default: [],
      maxItems: 50,
      uniqueItems: true,
      description: 'Related card types whose costs are added; repeat the parameter for several',
      ...choices({ of: 'types' }),
    }),
    parent_card_id: Type.Optional(
      Type.String({
        format: 'uuid',
        pattern: '^[0-9a-fA-F-]{36}$',
        description: 'Only the children of this card',
      }),
    ),
  },
  result: Result,
  reads: { cards: 'any', relations: ['type', 'source_id', 'target_id'], others: false },
  check,
  topics: () => ['cards', 'relations'],
  choosesForPicture: ({ group_by }) => group_by === undefined,
  async compute(given) {
    const { parent_card_id: parent } = given.params;
    const group_by = given.params.group_by ?? (given.forPicture ? await filledField(given) : undefined);
    const input = { ...given, params: { ...given.params, ...(group_by !== undefined && { group_by }) } };
    if (parent !== undefined) await requireParent(input, parent);
    await input.sql.raw(`set local work_mem = '64MB'`);
    const { before, sums } = pricedCards(input);
    const grouped = input.params.group_by !== undefined;
    const items = await input.rows({
      before,
      from: fragment`priced p`,
      alias: 'p',
      keys: [
        { sql: '-p.cost', type: 'numeric' },
        { sql: 'p.id', type: 'uuid' },
      ],
      line: jsonLine({
        id: { id: 'p.id' },
        name: { text: 'c.name' },
        cost: { json: 'p.cost' },
        lifecycle: { json: 'c.lifecycle' },
        attributes: { json: 'c.attributes' },
        ...(grouped && { group: { text: 'p.grp' }, group_id: { text: 'p.grp_id' } }),
      }),
      joins: fragment`join cards c on c.id = p.id`,
    });
    const total = { json: 'coalesce(sum(s.cost), 0)' };
    const text = jsonText({ total, groups: { json: grouped ? GROUPS : "'null'" } });
    const rest: string = await query(input.sql)
      .value`${embed(before)} select ${embed(text)} from ${embed(sums)}`;
    const chosen =
      given.params.group_by === undefined && grouped ? `"group_by":${JSON.stringify(group_by)},` : '';
    return ['{"items":[\n', items, `\n],${chosen}${rest.slice(1)}`];
  },
  isPaged: true,
  long: 'items',
  tables: ({ items, groups }) => [
    reportTable(
      'items',
      {
        id: 'key',
        name: 'text',
        cost: 'money',
        ...(groups ? ({ group: 'text', group_id: 'key' } as const) : {}),
        ...lifecycleKinds,
      } as const,
      Iterator.from(items).map(withPhases),
    ),
    reportTable('groups', { id: 'key', name: 'text', cost: 'money' }, groups ?? []),
  ],
  chart: (result, { group_by = result.group_by, ...params }, context) =>
    costTreemapChart(result, { ...params, ...(group_by !== undefined && { group_by }) }, context),
});

/** One area per card by cost, within that of its group; without groups, bars with shares. */
export function costTreemapChart(
  {
    items: all,
    groups,
  }: {
    items: Iterable<{ id: string; name: string; cost: number; group?: string; group_id?: string | null }>;
    groups: { id: string | null; name: string; parent_name?: string | null }[] | null;
  },
  { type, cost_field, group_by }: { type: string; cost_field: string; group_by?: string },
  context: ChartContext,
): Chart {
  const label = fieldLabel(context, type, cost_field);
  const items = [...all];
  const title = reportText(context, 'cost.field', { field: label, ...typeNames(context, type) });
  const note = reportText(context, 'cardsWithCost', { count: items.length });
  if (!groups) {
    return {
      kind: 'bars',
      title,
      ...(items.length > 0 ? { note } : { empty: reportText(context, 'cost.empty') }),
      itemAxis: typeLabel(context, type),
      valueAxis: label,
      unit: 'currency',
      series: [label],
      shares: true,
      most: 21,
      items: items.map(({ id, name, cost }) => ({ id, name, values: [cost] })),
    };
  }
  return {
    ...groupsOf(groups, (name) => groupName(context, type, group_by, name)),
    kind: 'treemap',
    itemAxis: typeLabel(context, type),
    ...(group_by === undefined ? {} : { groupAxis: groupLabel(context, type, group_by) }),
    title:
      group_by === undefined
        ? title
        : reportText(context, 'title.by', { what: title, field: groupLabel(context, type, group_by) }),
    ...(items.length > 0 ? { note } : { empty: reportText(context, 'cost.empty') }),
    valueAxis: label,
    unit: 'currency',
    // negative costs have no area
    items: items
      .filter(({ cost }) => cost > 0)
      .map(({ id, name, cost, group, group_id }) => ({
        id,
        name,
        value: cost,
        ...(group === undefined ? {} : { group: group_id ?? group }),
      })),
  };
}

const groupLabel = (context: ChartContext, type: string, group: string): string =>
  context.metamodel.cardTypes.has(group) ? typeLabel(context, group) : fieldLabel(context, type, group);

/** The name of a group without a card: of an option, or of the cards without a group. */
function groupName(context: ChartContext, type: string, group: string | undefined, name: string): string {
  if (name === REST) return reportText(context, 'landscape.ungrouped');
  return (
    context.metamodel.cardTypes
      .get(type)
      ?.fields.get(group ?? '')
      ?.renamed?.get(name) ?? name
  );
}

function groupsOf(
  groups: { id: string | null; name: string; parent_name?: string | null }[],
  nameOf: (name: string) => string,
): Pick<TreemapChart, 'groups'> {
  const labels = distinctLabels(groups, ({ parent_name }) => (parent_name ? [parent_name] : []));
  return {
    groups: groups.map(({ id, name }, at) => ({
      key: id ?? name,
      name: id === null ? nameOf(labels[at]!) : labels[at]!,
      isLast: id === null && name === REST,
    })),
  };
}

/**
 * The common table `grouped (card_id, group_id, name)`: the related card of the other type, if several the first by name, so
 * that the groups add up to the total.
 */
function groupsByType(ctx: Ctx, type: string, other: string, visible: Fragment): Fragment {
  return fragment`grouped as (
      select distinct on (e.card_id) e.card_id, c.id as group_id, c.name
      from (${embed(relatedPairs(ctx, type, other))}) e join cards c on c.id = e.other_id
      where c.type = ${other} and ${embed(visible)}
      order by e.card_id, c.name_key, c.id)`;
}

/** The label of a select field's option, over the alias `c`; options with equal labels have their keys in brackets. */
export function groupOfField(type: CardType, key: string): Fragment {
  const options = [...type.fields.get(key)!.optionLabels].map(([option, name]) => ({ option, name }));
  const names = distinctLabels([...options, { option: undefined, name: REST }], ({ option }) =>
    option === undefined ? [] : [option],
  );
  const labels = Object.fromEntries(options.map(({ option }, at) => [option, names[at]!]));
  return fragment`${JSON.stringify(labels)}::jsonb ->> (c.attributes ->> ${embed(literal(key))})`;
}

/**
 * The common table `added (card_id, cost)`: the costs of related cards. A related card counts once for each card to which it
 * is related.
 */
function addedCosts(
  ctx: Ctx,
  type: string,
  others: readonly string[],
  costField: string,
  visible: Fragment,
): Fragment {
  const pairs = others.map((other) => relatedPairs(ctx, type, other));
  // no duplicates across types
  const once = pairs.find((pair) => pair.once)?.once ?? '';
  // the cost is read once per card instead of once per relation
  return fragment`added as (
      select e.card_id, sum(o.cost) as cost
      from (select ${embed(once)} card_id, other_id from (${embed(joinFragments(pairs, ' union all '))}) every) e
      join (select c.id, ${embed(numberIn('v.attributes', costField))} as cost
            from cards c ${embed(attributesOnce)} where c.type = any(${others}::text[]) and ${embed(visible)} offset 0) o
        on o.id = e.other_id
      group by e.card_id)`;
}

import Type, { type Static } from 'typebox';
import { Lifecycle as CardLifecycle } from '../../../domain/inventory/cards/cards.model.ts';
import { arrayOf, Nullable, OpenObject, Uuid } from '../../../domain/kernel/shapes.ts';
import { embed, fragment } from '../../../platform/database.ts';
import { type ChartContext, distinctLabels, typeLabel } from '../../kernel/charts/charts.labels.ts';
import type { Chart } from '../../kernel/charts/charts.types.ts';
import { reportAttributes } from '../../kernel/report.cards.ts';
import { relatedPairs } from '../../kernel/report.ends.ts';
import { reportTable } from '../../kernel/report.formats.ts';
import { typeParam } from '../../kernel/report.params.ts';
import { jsonLine, jsonText, lifecycleKinds, withPhases } from '../../kernel/report.sql.ts';
import { defineReport, reportSchema } from '../../kernel/report.ts';

const Named = { id: Uuid, name: Type.String() };
const Member = { ...Named, type: Type.String(), attributes: OpenObject };

const Result = reportSchema('LandscapeReport', {
  groups: arrayOf({
    ...Named,
    parent_id: Nullable(Uuid),
    items: arrayOf({ ...Member, lifecycle: Nullable(CardLifecycle) }),
  }),
  ungrouped: arrayOf(Member),
});
type Result = Static<typeof Result>;

/** The cards of a type, grouped by related cards of another type. */
export const landscapeReport = defineReport({
  name: 'landscape',
  id: 'readLandscapeReport',
  summary: 'Read the cards of a type, grouped by related cards of another type',
  description:
    'A card that is related to several groups is in each of them. Groups are ordered by name and include those without cards. `filter` applies to the cards, not to the groups.',
  permission: 'reports.ea_dashboard',
  needs: ['relations.view'],
  params: { type: typeParam('Application'), group_by: typeParam('BusinessCapability') },
  result: Result,
  reads: { cards: 'any', relations: ['type', 'source_id', 'target_id'], others: false },
  typeParams: ['type', 'group_by'],
  topics: ({ type, group_by }) => ['relations', `cards:${type}`, `cards:${group_by}`],
  async compute({ sql, lines, ctx, params, cards, visible }) {
    const { type, group_by: groupBy } = params;
    const pairs = relatedPairs(ctx, type, groupBy);
    const attributes = { json: reportAttributes(ctx, [type]) };
    const members = { id: { id: 'c.id' }, name: { text: 'c.name' }, type: { text: 'c.type' }, attributes };
    const group = jsonLine({
      id: { id: 'c.id' },
      name: { text: 'c.name' },
      parent_id: { text: 'c.parent_id' },
      items: { array: 'f.entries' },
    });
    await sql.raw(`set local work_mem = '64MB'`);
    // a separate subquery, so that parallel workers build the entries
    const groups = await lines(fragment`select ${embed(group)}
        from cards c left join (
          select p.other_id, string_agg(i.entry, ',' order by p.card_id) as entries
          from (select ${embed(pairs.once)} e.card_id, e.other_id from (${embed(pairs)}) e) p
          join (select c.id, ${embed(jsonText({ ...members, lifecycle: { json: 'c.lifecycle' } }))} as entry
                from cards c where c.type = ${type} and ${embed(cards)} offset 0) i on i.id = p.card_id
          group by p.other_id) f on f.other_id = c.id
        where c.type = ${groupBy} and ${embed(visible)}
        order by c.name_key, c.id`);
    const ungrouped = await lines(fragment`select ${embed(jsonLine(members))} from cards c
        where c.type = ${type} and ${embed(cards)} and c.id not in (
          select e.card_id from (${embed(pairs)}) e
          where e.other_id in (select c.id from cards c where c.type = ${groupBy} and ${embed(visible)}))
        order by c.id`);
    return ['{"groups":[\n', groups, '\n],"ungrouped":[\n', ungrouped, '\n]}'];
  },
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
      result.groups.map((group) => ({ ...group, items: group.items.length })),
    ),
  ],
  chart: ({ groups, ungrouped }, params, context) => landscapeChart(groups, ungrouped, params, context),
});

function* rowsOf({ groups, ungrouped }: Result) {
  for (const { id, name, items } of groups) {
    for (const item of items) yield { ...withPhases(item), group_id: id, group_name: name };
  }
  for (const item of ungrouped) {
    yield { ...withPhases({ ...item, lifecycle: null }), group_id: null, group_name: null };
  }
}

const UNGROUPED = { key: '', name: 'Ungrouped' };

/** One tile per card in the area of its group; a group without cards is an empty area. */
export function landscapeChart(
  groups: { id: string; name: string; parent_id: string | null; items: { name: string }[] }[],
  ungrouped: { name: string }[],
  { type, group_by }: { type: string; group_by: string },
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
  return {
    kind: 'treemap',
    title: `${typeLabel(context, type)} by ${typeLabel(context, group_by)}`,
    note: `Each tile is a card of type ${typeLabel(context, type)}, shown in every related group`,
    valueAxis: 'cards',
    unit: 'count',
    even: true,
    items: [
      ...groups.flatMap(({ id, items }) => items.map(({ name }) => ({ name, value: 1, group: id }))),
      ...ungrouped.map(({ name }) => ({ name, value: 1, group: UNGROUPED.key })),
    ],
    groups: [
      ...groups.map(({ id }, at) => ({ key: id, name: labels[at]! })),
      ...(ungrouped.length > 0 ? [UNGROUPED] : []),
    ],
    memberName: typeLabel(context, type),
  };
}

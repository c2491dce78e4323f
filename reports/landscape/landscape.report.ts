import { may, requirePermission } from '../../domain/access/policy.ts';
import { reportAttributes } from '../report.cards.ts';
import { relatedPairs } from '../report.ends.ts';
import { column } from '../report.formats.ts';
import { typeOf, typeParam } from '../report.params.ts';
import { jsonLines, type Lifecycle, lifecycleCells, lifecycleColumns } from '../report.sql.ts';
import { defineReport } from '../report.ts';
import { landscapeChart } from './landscape.chart.ts';

interface Params {
  type: string;
  group_by: string;
}

interface Item {
  id: string;
  name: string;
  type: string;
  attributes: Record<string, unknown>;
}

interface Answer {
  groups: { id: string; name: string; items: (Item & { lifecycle: Lifecycle })[] }[];
  ungrouped: Item[];
}

/** The cards of a type under the cards of another that they are related to. */
export const landscapeReport = defineReport<Params, Answer>({
  name: 'landscape',
  id: 'readLandscapeReport',
  summary: 'Read the cards of a type, grouped by the cards of another that they are related to',
  description:
    'A card that is related to several groups stands in each. Groups come by name, those without a card included. `filter` narrows the cards, not the groups.',
  permission: 'reports.ea_dashboard',
  permissionNote: 'and relations.view',
  params: { type: typeParam('Application'), group_by: typeParam('BusinessCapability') },
  timeTravel: true,
  check(ctx, { type, group_by }) {
    typeOf(ctx, 'type', type);
    typeOf(ctx, 'group_by', group_by);
    requirePermission(ctx.caller, 'relations.view');
  },
  dependsOn: (topic, { type, group_by }) =>
    topic === 'metamodel' ||
    topic.startsWith('relations:') ||
    topic === `cards:${type}` ||
    topic === `cards:${group_by}`,
  variant: (ctx) => String(may(ctx.caller, 'costs.view')),
  async compute({ sql, ctx, params, cards, visible }) {
    const { type, group_by: groupBy } = params;
    const pairs = relatedPairs(ctx, type, groupBy);
    const members = `'id', c.id, 'name', c.name, 'type', c.type, 'attributes', ${reportAttributes(ctx, [type])}`;
    const group = `json_build_object('id', id, 'name', name, 'items', entries)`;
    const { rows } = await sql.raw(
      `with heading as (
         select c.id, c.name, c.name_key from cards c where c.type = ? and ${visible.sql}
       ), pair as materialized (
         select distinct e.card_id, e.other_id from (${pairs.sql}) e join heading h on h.id = e.other_id
       ), item as materialized (
         select c.id, json_build_object(${members}, 'lifecycle', c.lifecycle)::text as entry
         from cards c where c.type = ? and ${cards.sql} and c.id in (select card_id from pair)
       ), filled as (
         select p.other_id, ${jsonLines('i.entry', 'i.id')} as entries
         from pair p join item i on i.id = p.card_id group by p.other_id
       ), grouped as (
         select h.id, h.name, h.name_key, coalesce(f.entries, '[]')::json as entries
         from heading h left join filled f on f.other_id = h.id
       )
       select '{"groups":' || (select ${jsonLines(group, 'name_key, id')} from grouped)
         || ',"ungrouped":' || (select ${jsonLines(`json_build_object(${members})`, 'c.id')}
            from cards c where c.type = ? and ${cards.sql} and not exists (select from pair p where p.card_id = c.id))
         || '}' as answer`,
      [
        groupBy,
        ...visible.bindings,
        ...pairs.bindings,
        type,
        ...cards.bindings,
        type,
        ...cards.bindings,
      ] as never,
    );
    return rows[0].answer;
  },
  tables: (answer) => [
    {
      name: 'items',
      columns: [
        column('group_id', 'key'),
        column('group_name'),
        column('id', 'key'),
        column('name'),
        column('type', 'key'),
        ...lifecycleColumns,
      ],
      rows: rowsOf(answer),
    },
    {
      name: 'groups',
      columns: [column('id', 'key'), column('name'), column('items', 'number')],
      rows: answer.groups.map(({ id, name, items }) => [id, name, items.length]),
    },
  ],
  chart: ({ groups, ungrouped }, params, context) => landscapeChart(groups, ungrouped, params, context),
});

function* rowsOf({ groups, ungrouped }: Answer) {
  for (const group of groups) {
    for (const item of group.items) {
      yield [group.id, group.name, item.id, item.name, item.type, ...lifecycleCells(item.lifecycle)];
    }
  }
  for (const item of ungrouped) yield [null, null, item.id, item.name, item.type, ...lifecycleCells(null)];
}

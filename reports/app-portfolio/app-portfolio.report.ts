import { may, requirePermission } from '../../domain/access/policy.ts';
import type { Ctx } from '../../domain/context.ts';
import { reportAttributes } from '../report.cards.ts';
import { column } from '../report.formats.ts';
import { typeOf, typeParam } from '../report.params.ts';
import { relatedByType, relatedTable, tagGroupsOf, taggedTable } from '../report.related.ts';
import { jsonLines, type Lifecycle, lifecycleCells, lifecycleColumns } from '../report.sql.ts';
import { defineReport } from '../report.ts';
import { appPortfolioChart } from './app-portfolio.chart.ts';

interface Params {
  type: string;
}

interface Answer {
  items: {
    id: string;
    name: string;
    subtype: string | null;
    lifecycle: Lifecycle;
    relations: { relation_type: string; related_id: string; related_name: string; related_type: string }[];
  }[];
}

/** The visible relation types with an end of the type, in the form that the answer has. */
const relationTypesOf = (ctx: Ctx, type: string) =>
  ctx.metamodel.visibleRelationTypes
    .map((key) => ctx.metamodel.relationTypes.get(key)!)
    .filter(({ source_type_key, target_type_key }) => [source_type_key, target_type_key].includes(type))
    .map((relation) => ({
      key: relation.key,
      label: relation.label,
      reverse_label: relation.reverse_label,
      source_type_key: relation.source_type_key,
      target_type_key: relation.target_type_key,
      other_type_key: relation.source_type_key === type ? relation.target_type_key : relation.source_type_key,
      translations: relation.translations,
      attributes_schema: relation.attributes_schema,
    }));

/** The cards of a type with all that they are related to, and what they can be grouped by. */
export const appPortfolioReport = defineReport<Params, Answer>({
  name: 'app-portfolio',
  id: 'readAppPortfolioReport',
  summary: 'Read the applications with their relations and what they can be grouped by',
  permission: 'reports.portfolio',
  permissionNote: 'and relations.view',
  params: { type: typeParam('Application') },
  timeTravel: true,
  check(ctx, { type }) {
    typeOf(ctx, 'type', type);
    requirePermission(ctx.caller, 'relations.view');
  },
  dependsOn: (topic) => /^(cards:|relations:|metamodel$|catalogues$)/.test(topic),
  variant: (ctx) => String(may(ctx.caller, 'costs.view')),
  async compute({ sql, ctx, params, cards, visible }) {
    const { type } = params;
    const related = relatedTable(ctx, type, visible);
    const item = `json_build_object('id', c.id, 'name', c.name, 'subtype', c.subtype,
      'attributes', ${reportAttributes(ctx, [type])}, 'lifecycle', c.lifecycle,
      'relations', coalesce(l.relations, '[]'), 'org_ids', coalesce(l.org_ids, '[]'),
      'tag_ids', coalesce(t.tag_ids, '[]'))`;
    const { rows } = await sql.raw(
      `with app as materialized (
         select c.id from cards c where c.type = ? and ${cards.sql}
       ), ${related.sql}, linked as (
         select card_id, json_agg(json_build_object('relation_type', relation_type, 'related_id', other_id,
             'related_name', other_name, 'related_type', other_type, 'attributes', attributes)
             order by relation_type, relation_id) as relations,
           json_agg(distinct other_id::text) filter (where other_type = 'Organization') as org_ids
         from related join app on app.id = related.card_id group by card_id
       ), ${taggedTable}
       select '{"items":' || (select ${jsonLines(item, 'c.id')} from app join cards c on c.id = app.id
            left join linked l on l.card_id = c.id left join tagged t on t.card_id = c.id)
         || ',"fields_schema":' || ?::text || ',"relation_types":' || ?::text
         || ',"groupable_types":' || ${relatedByType}
         || ',"organizations":' || (select coalesce(json_agg(json_build_object('id', c.id, 'name', c.name)
              order by c.name_key, c.id), '[]')::text from cards c where c.type = 'Organization' and ${visible.sql})
         || ',"tag_groups":' || ${tagGroupsOf('?::text')} || '}' as answer`,
      [
        type,
        ...cards.bindings,
        ...related.bindings,
        JSON.stringify(typeOf(ctx, 'type', type).fields_schema),
        JSON.stringify(relationTypesOf(ctx, type)),
        ...visible.bindings,
        type,
      ] as never,
    );
    return rows[0].answer;
  },
  tables: ({ items }) => [
    {
      name: 'items',
      columns: [column('id', 'key'), column('name'), column('subtype', 'key'), ...lifecycleColumns],
      rows: items.map((item) => [item.id, item.name, item.subtype, ...lifecycleCells(item.lifecycle)]),
    },
    {
      name: 'relations',
      columns: [
        column('id', 'key'),
        column('name'),
        ...['relation_type', 'related_id'].map((name) => column(name, 'key')),
        column('related_name'),
        column('related_type', 'key'),
      ],
      rows: items.flatMap((item) =>
        item.relations.map((to) => [
          item.id,
          item.name,
          to.relation_type,
          to.related_id,
          to.related_name,
          to.related_type,
        ]),
      ),
    },
  ],
  chart: ({ items }, { type }, context) => appPortfolioChart(items, type, context),
});

import { may, requirePermission } from '../../domain/access/policy.ts';
import type { Ctx } from '../../domain/context.ts';
import type { Fragment } from '../../domain/lists/lists.types.ts';
import { lifecyclePhases } from '../../domain/metamodel/metamodel.types.ts';
import { column } from '../report.formats.ts';
import { streamedItems } from '../report.lines.ts';
import { typeOf, typeParam } from '../report.params.ts';
import { relatedCards, relatedTable, tagGroupsOf } from '../report.related.ts';
import { type Lifecycle, lifecycleColumns } from '../report.sql.ts';
import { defineReport, type StreamedTable, type StreamInput } from '../report.ts';
import { appPortfolioChart } from './app-portfolio.chart.ts';
import { organizations, organizationsOf, portfolioItems } from './app-portfolio.sql.ts';

interface Params {
  type: string;
}

/** What a picture shows of the answer. */
interface Answer {
  items: Iterable<{ lifecycle: Lifecycle; organizations: { id: string; name: string }[] }>;
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

/** The cards of a type with all that they are related to, and what they can be grouped by; streamed, and not kept. */
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
  // only pictures are made from this
  async compute({ lines, ctx, params, cards, visible }) {
    const { sql, bindings } = organizationsOf(ctx, params.type, cards, visible);
    return ['{"items":[\n', await lines({ sql, bindings }), '\n]}'];
  },
  long: 'items',
  // tens of thousands of cards with all that they are related to are too much to be held
  stream: {
    applies: () => true,
    open: (input) => ({ json: jsonOf(input), tables: tablesOf(input) }),
  },
  tables: () => [],
  chart: ({ items }, { type }, context) => appPortfolioChart(items, type, context),
});

/** The answer piece by piece. */
async function* jsonOf({
  snapshot,
  position,
  ctx,
  params: { type },
  cards,
  visible,
}: StreamInput<Params>): AsyncGenerator<string | Buffer> {
  const apps: Fragment = { sql: `c.type = ? and ${cards.sql}`, bindings: [type, ...cards.bindings] };
  const items = portfolioItems(ctx, type, cards, visible);
  yield '{"items":[';
  yield* streamedItems(snapshot.json(items.sql, items.bindings));
  yield `],"fields_schema":${JSON.stringify(typeOf(ctx, 'type', type).fields_schema)}`;
  yield `,"relation_types":${JSON.stringify(relationTypesOf(ctx, type))}`;
  const parts = {
    groupable_types: relatedCards(ctx, type, apps, visible),
    organizations: organizations(visible),
    tag_groups: tagGroupsOf(type),
  };
  for (const [name, { sql, bindings }] of Object.entries(parts)) {
    yield `,"${name}":`;
    for await (const { bytes } of snapshot.json(sql, bindings)) yield bytes;
  }
  yield `,"position":"${position}"}`;
}

const tablesOf = ({ ctx, params: { type }, cards, visible }: StreamInput<Params>): StreamedTable[] => {
  const apps: Fragment = { sql: `c.type = ? and ${cards.sql}`, bindings: [type, ...cards.bindings] };
  const related = relatedTable(ctx, type, visible);
  return [
    {
      name: 'items',
      columns: [column('id', 'key'), column('name'), column('subtype', 'key'), ...lifecycleColumns],
      cells: ['c.id', 'c.name', 'c.subtype', ...lifecyclePhases.map((phase) => `c.lifecycle ->> '${phase}'`)],
      before: {
        sql: `with app as (select c.* from cards c where ${apps.sql})`,
        bindings: apps.bindings,
      },
      from: 'from app c order by c.id',
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
      cells: ['app.id', 'app.name', 'l.relation_type', 'l.other_id', 'l.other_name', 'l.other_type'],
      before: {
        sql: `with app as (select c.id, c.name from cards c where ${apps.sql}), ${related.sql}`,
        bindings: [...apps.bindings, ...related.bindings],
      },
      from: 'from app join related l on l.card_id = app.id order by app.id, l.relation_type, l.relation_id',
    },
  ];
};

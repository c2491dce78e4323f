import Type, { type TProperties } from 'typebox';
import { Lifecycle as CardLifecycle } from '../../../domain/inventory/cards/cards.model.ts';
import { may, requirePermission } from '../../../domain/kernel/permissions/policy.ts';
import { closed, Nullable, OpenObject, Uuid } from '../../../domain/kernel/shapes.ts';
import { PROCESS } from '../../../domain/modelling/bpm/bpm.model.ts';
import { queryValue } from '../../../platform/database.ts';
import { reportAnswer } from '../../kernel/report.answer.ts';
import { reportAttributes } from '../../kernel/report.cards.ts';
import { column } from '../../kernel/report.formats.ts';
import { typeOf } from '../../kernel/report.params.ts';
import { jsonLines } from '../../kernel/report.sql.ts';
import { defineReport } from '../../kernel/report.ts';
import { valueStreamChart } from './bpm.charts.ts';
import { relatedTo } from './bpm.sql.ts';

const object = <const T extends TProperties>(members: T) => Type.Object(members, closed);
const Name = Type.String();
const Subtype = Nullable(Type.String());
const card = { id: Uuid, name: Name, subtype: Subtype, parent_id: Nullable(Uuid) };

const Answer = reportAnswer('ValueStreamMatrix', {
  organizations: Type.Array(object(card)),
  contexts: Type.Array(
    object({
      ...card,
      attributes: OpenObject,
      sort_order: Nullable(Type.Number()),
      column_width: Nullable(Type.Number()),
    }),
  ),
  cells: Type.Record(
    Type.String(),
    Type.Record(
      Type.String(),
      Type.Array(
        object({
          ...card,
          attributes: OpenObject,
          lifecycle: Nullable(CardLifecycle),
          apps: Type.Array(object({ id: Uuid, name: Name, subtype: Subtype })),
        }),
      ),
    ),
    { description: 'By organisation, then by business context or `__none__`' },
  ),
  unassigned: Type.Array(object({ id: Uuid, name: Name, subtype: Subtype, attributes: OpenObject })),
});

const others = ['Organization', 'BusinessContext', 'Application'] as const;

/** Where processes stand that belong to no context. */
const NO_CONTEXT = '__none__';

const head = (alias: string) =>
  `'id', ${alias}.id, 'name', ${alias}.name, 'subtype', ${alias}.subtype, 'parent_id', ${alias}.parent_id`;
const number = (key: string) =>
  `case when jsonb_typeof(c.attributes -> '${key}') = 'number' then (c.attributes -> '${key}')::numeric end`;

/** Which processes run where in a value stream. */
export const valueStreamMatrixReport = defineReport({
  name: 'bpm-value-stream-matrix',
  path: 'bpm/value-stream-matrix',
  id: 'readValueStreamMatrix',
  module: 'bpm',
  summary: 'Read which processes stand for which organisation in which value stream',
  description:
    '`cells` holds by organisation and business context (`__none__` for processes without one) the processes that are related to both; `unassigned` those without an organisation. A context’s `sort_order` and `column_width` are its attributes `sortOrder` and `columnWidth`, where the workspace has such. `filter` narrows the processes.',
  permission: 'reports.bpm_dashboard',
  permissionNote: 'relations.view',
  params: {},
  answer: Answer,
  timeTravel: true,
  check(ctx) {
    typeOf(ctx, 'type', PROCESS);
    requirePermission(ctx.caller, 'relations.view');
  },
  dependsOn: (topic) =>
    topic === 'metamodel' ||
    topic.startsWith('relations:') ||
    [PROCESS, ...others].some((type) => topic === `cards:${type}`),
  variant: (ctx) => String(may(ctx.caller, 'costs.view')),
  async compute({ sql, ctx, cards, visible }) {
    const [orgs, contexts, apps] = others.map((type) => relatedTo(ctx, type));
    const seen = (name: string, pairs: { sql: string }, type: string) =>
      `${name} as materialized (select b.process_id, b.other_id from (${pairs.sql}) b join p on p.id = b.process_id
         join cards c on c.id = b.other_id where c.type = '${type}' and ${visible.sql})`;
    return await queryValue(
      sql,
      `with p as materialized (
         select c.id, c.name, c.name_key, c.subtype, c.parent_id, c.lifecycle,
           ${reportAttributes(ctx, [PROCESS])} as attributes
         from cards c where c.type = ? and ${cards.sql}),
       ${seen('orgs', orgs!, 'Organization')}, ${seen('contexts', contexts!, 'BusinessContext')},
       apps as (
         select b.process_id, json_agg(json_build_object('id', c.id, 'name', c.name, 'subtype', c.subtype)
             order by c.name_key, c.id) as items
         from (${apps!.sql}) b join p on p.id = b.process_id join cards c on c.id = b.other_id
         where ${visible.sql} group by b.process_id),
       placed as (
         select orgs.other_id as org, coalesce(contexts.other_id::text, '${NO_CONTEXT}') as context,
           json_agg(json_build_object(${head('p')}, 'attributes', p.attributes, 'lifecycle', p.lifecycle,
             'apps', coalesce(apps.items, '[]')) order by p.name_key, p.id) as items
         from orgs join p on p.id = orgs.process_id left join contexts on contexts.process_id = p.id
           left join apps on apps.process_id = p.id
         group by 1, 2),
       byorg as (select org, json_object_agg(context, items order by context) as cells from placed group by org)
       select '{"organizations":' || (select ${jsonLines(`json_build_object(${head('c')})`, 'c.name_key, c.id')}
           from cards c where c.type = 'Organization' and ${visible.sql})
         || ',"contexts":' || (select ${jsonLines(
           `json_build_object(${head('c')}, 'attributes', ${reportAttributes(ctx, ['BusinessContext'])},
              'sort_order', ${number('sortOrder')}, 'column_width', ${number('columnWidth')})`,
           `${number('sortOrder')} nulls last, c.name_key, c.id`,
         )} from cards c where c.type = 'BusinessContext' and ${visible.sql})
         || ',"cells":' || (select coalesce(json_object_agg(byorg.org, byorg.cells order by byorg.org), '{}')::text from byorg)
         || ',"unassigned":' || (select ${jsonLines(
           `json_build_object('id', p.id, 'name', p.name, 'subtype', p.subtype, 'attributes', p.attributes)`,
           'p.name_key, p.id',
         )} from p where not exists (select from orgs where orgs.process_id = p.id)) || '}' as answer`,
      [
        PROCESS,
        ...cards.bindings,
        ...[orgs!, contexts!, apps!].flatMap(({ bindings }) => [...bindings, ...visible.bindings]),
        ...visible.bindings,
        ...visible.bindings,
      ],
    );
  },
  chart: (answer, _params, context) => valueStreamChart(answer, NO_CONTEXT, context),
  tables({ organizations, contexts, cells, unassigned }) {
    const names = new Map([...organizations, ...contexts].map(({ id, name }) => [id, name]));
    return [
      {
        name: 'cells',
        columns: [
          column('organization_id', 'key'),
          column('organization'),
          column('context_id', 'key'),
          column('context'),
          column('process_id', 'key'),
          column('process'),
        ],
        rows: Object.entries(cells).flatMap(([org, byContext]) =>
          Object.entries(byContext).flatMap(([context, items]) =>
            items.map(({ id, name }) => [
              org,
              names.get(org),
              context === NO_CONTEXT ? null : context,
              names.get(context),
              id,
              name,
            ]),
          ),
        ),
      },
      {
        name: 'unassigned',
        columns: [column('id', 'key'), column('name'), column('subtype', 'key')],
        rows: unassigned.map(({ id, name, subtype }) => [id, name, subtype]),
      },
    ];
  },
});

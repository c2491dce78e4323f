import Type, { type Static } from 'typebox';
import { arrayOf, Nullable, OpenObject, Uuid } from '../../../domain/kernel/shapes.ts';
import { PROCESS } from '../../../domain/modelling/bpm/bpm.model.ts';
import { embed, fragment, query } from '../../../platform/database.ts';
import { type ChartContext, typeLabel } from '../../kernel/charts/charts.labels.ts';
import type { Chart } from '../../kernel/charts/charts.types.ts';
import { reportAttributes } from '../../kernel/report.cards.ts';
import { reportTable } from '../../kernel/report.formats.ts';
import { cardsOfPage } from '../../kernel/report.rows.ts';
import { jsonLines } from '../../kernel/report.sql.ts';
import { defineReport, pagedReportSchema } from '../../kernel/report.ts';
import { ofProcesses } from './bpm.shared.ts';

const Name = Type.String();
const Subtype = Nullable(Type.String());

const Result = pagedReportSchema('ProcessDependencies', {
  nodes: arrayOf({ id: Uuid, name: Name, subtype: Subtype, attributes: OpenObject }),
  edges: arrayOf({ source: Uuid, target: Uuid, id: Uuid }),
});

type Result = Static<typeof Result>;

const DEPENDENCY = 'relProcessDependency';

/** Dependencies between processes. */
export const processDependenciesReport = defineReport({
  ...ofProcesses,
  name: 'bpm-process-dependencies',
  id: 'readProcessDependencies',
  summary: 'Read the dependencies between processes',
  description:
    'An edge leads from a process to one on which it depends; the edges of a response begin at its nodes.',
  needs: ['relations.view'],
  result: Result,
  topics: () => [`cards:${PROCESS}`, `relations:${DEPENDENCY}`],
  isPaged: true,
  async compute({ sql, ctx, cards, ...page }) {
    const processes = fragment`c.type = ${PROCESS} and ${embed(cards)}`;
    const onPage = await cardsOfPage(page, processes);
    const shown = ctx.metamodel.visibleRelationTypes.includes(DEPENDENCY);
    return await query(sql).value`with p as materialized (
         select c.id, c.name, c.name_key, c.subtype, ${embed(reportAttributes(ctx, [PROCESS]))} as attributes
         from cards c where ${embed(onPage)}),
       t as (select c.id from cards c where ${embed(processes)})
       select '{"nodes":' || (select ${embed(
         jsonLines(
           `json_build_object('id', p.id, 'name', p.name, 'subtype', p.subtype, 'attributes', p.attributes)`,
           'p.name_key, p.id',
         ),
       )} from p) || ',"edges":' || (select ${embed(
         jsonLines(
           `json_build_object('source', r.source_id, 'target', r.target_id, 'id', r.id)`,
           'r.source_id, r.target_id, r.id',
         ),
       )} from relations r join p s on s.id = r.source_id join t on t.id = r.target_id
         where r.type = '${embed(DEPENDENCY)}' and ${shown}::boolean) || '}' as result`;
  },
  chart: (result, _params, context) => processDependenciesChart(result, context),
  tables: ({ nodes, edges }) => [
    reportTable('edges', { id: 'key', source: 'key', target: 'key' }, edges),
    reportTable('nodes', { id: 'key', name: 'text', subtype: 'key' }, nodes),
  ],
});

/** A graph of processes and their dependencies, those with the most dependencies first. */
function processDependenciesChart(result: Result, context: ChartContext): Chart {
  const subtypes = context.metamodel.cardTypes.get(PROCESS)?.subtypes ?? [];
  const counts = new Map<string, number>();
  for (const { source, target } of result.edges) {
    for (const id of [source, target]) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  const joined = result.nodes.filter(({ id }) => counts.has(id));
  const alone = result.nodes.length - joined.length;
  return {
    kind: 'graph',
    title: `Dependencies of ${typeLabel(context, PROCESS)}`,
    note: `Arrows lead to the process that is depended on${alone > 0 ? ` · Not drawn: ${alone} without dependencies` : ''}`,
    groupAxis: 'Subtype',
    nodes: joined
      .toSorted((a, b) => counts.get(b.id)! - counts.get(a.id)!)
      .map(({ id, name, subtype }) => ({
        id,
        name,
        group: subtypes.find(({ key }) => key === subtype)?.label ?? subtype ?? 'not set',
      })),
    edges: result.edges,
  };
}

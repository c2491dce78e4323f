import Type, { type Static } from 'typebox';
import { arrayOf, Nullable, OpenObject, Uuid } from '../../../domain/kernel/shapes.ts';
import { PROCESS } from '../../../domain/modelling/bpm/bpm.model.ts';
import { embed, fragment, query } from '../../../platform/database.ts';
import { type ChartContext, typeNames, typePaint, typePlural } from '../../kernel/charts/charts.labels.ts';
import type { Chart } from '../../kernel/charts/charts.types.ts';
import { reportAttributes } from '../../kernel/report.cards.ts';
import { reportTable } from '../../kernel/report.formats.ts';
import { cardsOfPage } from '../../kernel/report.rows.ts';
import { jsonLines } from '../../kernel/report.sql.ts';
import { reportText } from '../../kernel/report.texts.ts';
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

/** Maximum number of layers of processes. */
const LAYERS = 5;

/** Processes from left to right along their dependencies. */
function processDependenciesChart(result: Result, context: ChartContext): Chart {
  const joined = new Set(result.edges.flatMap(({ source, target }) => [source, target]));
  const nodes = result.nodes.filter(({ id }) => joined.has(id));
  const alone = result.nodes.length - nodes.length;
  const levels = levelsOf(nodes, result.edges);
  const subtypes = context.metamodel.cardTypes.get(PROCESS)?.subtypes ?? [];
  const hasSubtypes = nodes.some(({ subtype }) => subtypes.some(({ key }) => key === subtype));
  const names = new Map<string, string>([
    ...subtypes.map(({ key, label }): [string, string] => [key, label]),
    ['', hasSubtypes ? reportText(context, 'bpm.noSubtype') : typePlural(context, PROCESS)],
  ]);
  return {
    kind: 'graph',
    title: reportText(context, 'bpm.dependencies', typeNames(context, PROCESS)),
    note: [
      reportText(context, 'bpm.dependencies.note'),
      ...(alone > 0 ? [reportText(context, 'bpm.dependencies.alone', { count: alone })] : []),
    ].join(' · '),
    layers: Array.from({ length: LAYERS }, (_, level) => ({
      key: String(level),
      name:
        level === 0
          ? reportText(context, 'bpm.dependsOnOthers')
          : reportText(context, 'bpm.level', { level: level + 1 }),
    })),
    groups: Array.from({ length: LAYERS }, (_, level) =>
      [...names].map(([key, name]) => ({
        key: `${level} ${key}`,
        name,
        paint: typePaint(context, PROCESS),
        layer: String(level),
      })),
    ).flat(),
    nodes: nodes.map(({ id, name, subtype }) => ({
      id,
      name,
      group: `${levels.get(id)!} ${subtype !== null && names.has(subtype) ? subtype : ''}`,
    })),
    edges: result.edges.map(({ source, target }) => ({ source, target, flow: 'forward' as const })),
  };
}

/** The longest way from a node on which none depends; loops are cut. */
function levelsOf(nodes: Result['nodes'], edges: Result['edges']): Map<string, number> {
  const levels = new Map(nodes.map(({ id }) => [id, 0]));
  for (let round = 1; round < LAYERS; round += 1) {
    for (const { source, target } of edges) {
      const level = Math.min(LAYERS - 1, levels.get(source)! + 1);
      if (level === round && levels.get(target)! < level) levels.set(target, level);
    }
  }
  return levels;
}

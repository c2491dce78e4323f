import { PROCESS } from '../../../domain/modelling/bpm/bpm.model.ts';
import { matrixChart } from '../../inventory/matrix/matrix.chart.ts';
import { areasOf } from '../../kernel/charts/charts.areas.ts';
import { countedBars } from '../../kernel/charts/charts.counted.ts';
import { type ChartContext, typeLabel } from '../../kernel/charts/charts.labels.ts';
import type { Chart, MatrixChart, TreemapChart } from '../../kernel/charts/charts.types.ts';

type Counts = Record<string, number>;

interface Line {
  id: string;
  name: string;
}

interface InTree extends Line {
  parent_id: string | null;
}

const processes = (context: ChartContext): string => typeLabel(context, PROCESS);

/** The key figures of processes, and bars for each of the fields by which they are counted. */
export function bpmDashboardChart(
  answer: {
    total_processes: number;
    by_process_type: Counts;
    by_maturity: Counts;
    by_automation: Counts;
    by_risk: Counts;
    diagram_coverage: { with_diagram: number; percentage: number };
  },
  context: ChartContext,
): Chart {
  const fields: [key: string, counts: Counts][] = [
    ['processType', answer.by_process_type],
    ['maturity', answer.by_maturity],
    ['automationLevel', answer.by_automation],
    ['riskLevel', answer.by_risk],
  ];
  const { with_diagram, percentage } = answer.diagram_coverage;
  return {
    kind: 'panels',
    title: 'Processes',
    panels: [
      {
        kind: 'figures',
        title: processes(context),
        items: [
          { name: 'Cards', value: answer.total_processes, unit: 'count' },
          { name: 'With a diagram', value: with_diagram, unit: 'count' },
          { name: 'Covered by diagrams', value: percentage, unit: 'percent' },
        ],
      },
      ...fields.map(([key, counts]) => countedBars(context, PROCESS, key, counts)),
    ],
  };
}

/** A filled cell for each process and card that meet, however often. */
export function processMatrixChart(
  answer: { rows: Line[]; columns: Line[]; cells: { process_id: string }[] },
  other: { type: string; key: 'capability_id' | 'application_id' },
  context: ChartContext,
): Chart {
  const pairs = new Map<string, { row_id: string; col_id: string }>();
  for (const cell of answer.cells) {
    const col_id = (cell as Record<string, unknown>)[other.key] as string;
    pairs.set(`${cell.process_id} ${col_id}`, { row_id: cell.process_id, col_id });
  }
  const { rows, columns } = answer;
  const types = { row_type: PROCESS, col_type: other.type };
  return matrixChart({ rows, columns, intersections: [...pairs.values()] }, types, context);
}

/** Processes joined by what depends on what, those with the most dependencies first. */
export function processDependenciesChart(
  answer: { nodes: (Line & { subtype: string | null })[]; edges: { source: string; target: string }[] },
  context: ChartContext,
): Chart {
  const subtypes = context.metamodel.cardTypes.get(PROCESS)?.subtypes ?? [];
  const counts = new Map<string, number>();
  for (const { source, target } of answer.edges) {
    for (const id of [source, target]) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  const joined = answer.nodes.filter(({ id }) => counts.has(id));
  const alone = answer.nodes.length - joined.length;
  return {
    kind: 'graph',
    title: `Dependencies of ${processes(context)}`,
    note: `Arrows lead to what is depended on${alone > 0 ? ` · Not drawn: ${alone} without dependencies` : ''}`,
    groupAxis: 'Subtype',
    nodes: joined
      .toSorted((a, b) => counts.get(b.id)! - counts.get(a.id)!)
      .map(({ id, name, subtype }) => ({
        id,
        name,
        group: subtypes.find(({ key }) => key === subtype)?.label ?? subtype ?? 'not set',
      })),
    edges: answer.edges,
  };
}

const meanings = {
  process_count: 'Processes',
  high_risk_count: 'Processes of high or critical risk',
  low_maturity_count: 'Processes of low maturity',
  automated_count: 'Fully automated processes',
};

/** A tile for each capability in the area of the topmost above it, shaded by the number of its processes. */
export function bpmCapabilityHeatmapChart(
  items: (InTree & { metric_value: number })[],
  metric: keyof typeof meanings,
  context: ChartContext,
): Chart {
  const name = meanings[metric];
  return {
    ...tiles(items, ({ metric_value }) => metric_value),
    title: `${typeLabel(context, 'BusinessCapability')} by ${name.toLowerCase()}`,
    note: 'Each tile is a capability, in the area of the topmost above it',
    valueAxis: 'capabilities',
    shadeAxis: name,
  };
}

/** A tile for each process in the area of the topmost above it, shaded by the number of its applications. */
export const processMapChart = (items: (InTree & { app_count: number })[], context: ChartContext): Chart => ({
  ...tiles(items, ({ app_count }) => app_count),
  title: `${processes(context)} by applications`,
  note: 'Each tile is a process, in the area of the topmost above it',
  valueAxis: 'processes',
  shadeAxis: 'Applications',
});

function tiles<T extends InTree>(
  items: T[],
  shade: (item: T) => number,
): Pick<TreemapChart, 'kind' | 'unit' | 'even' | 'shadeUnit' | 'items' | 'groups'> {
  const areas = areasOf(items);
  return {
    kind: 'treemap',
    unit: 'count',
    even: true,
    shadeUnit: 'count',
    items: items.map((item) => ({ name: item.name, value: 1, group: areas.of(item), shade: shade(item) })),
    groups: areas.groups,
  };
}

/** A bar for each application: how many elements of diagrams use it. */
export const elementApplicationChart = (
  items: { application_name: string | null; elements: unknown[] }[],
  context: ChartContext,
): Chart => ({
  kind: 'bars',
  title: `${typeLabel(context, 'Application')} in diagrams of processes`,
  itemAxis: typeLabel(context, 'Application'),
  valueAxis: 'Elements of diagrams',
  unit: 'count',
  series: ['Elements'],
  items: items
    .map(({ application_name, elements }) => ({ name: application_name ?? '', values: [elements.length] }))
    .sort((a, b) => b.values[0]! - a.values[0]!),
});

/** A cell for each organization and context, shaded by how many processes run there. */
export function valueStreamChart(
  answer: {
    organizations: Line[];
    contexts: Line[];
    cells: Record<string, Record<string, unknown[]>>;
    unassigned: unknown[];
  },
  noContext: string,
  context: ChartContext,
): MatrixChart {
  const rows = answer.organizations.filter(({ id }) => answer.cells[id]);
  const used = Object.values(answer.cells).some((cells) => cells[noContext]);
  const columns = [...answer.contexts, ...(used ? [{ id: noContext, name: 'No context' }] : [])];
  const columnAt = new Map(columns.map(({ id }, index) => [id, index]));
  const left = answer.unassigned.length;
  return {
    kind: 'matrix',
    title: `${processes(context)} along value streams`,
    ...(left > 0 ? { note: `Not drawn: ${left} without an organization` } : {}),
    rowAxis: typeLabel(context, 'Organization'),
    columnAxis: typeLabel(context, 'BusinessContext'),
    valueAxis: 'Processes',
    unit: 'count',
    rows: rows.map(({ name }) => name),
    columns: columns.map(({ name }) => name),
    cells: rows.flatMap(({ id }, row) =>
      Object.entries(answer.cells[id]!).map(([column, found]): [number, number, number] => [
        row,
        columnAt.get(column)!,
        found.length,
      ]),
    ),
  };
}

import { notFound } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import { runList } from '../../kernel/lists/lists.run.ts';
import { textLiteral } from '../../kernel/lists/lists.sql.ts';
import type { JsonText, ListParams, ListSpec } from '../../kernel/lists/lists.types.ts';
import { escapeXml } from './svg/svg.text.ts';
import bundled from './templates.json' with { type: 'json' };

/** One step of a template, at a column and lane of the grid, both from 0. */
interface Step {
  id: string;
  /** The name of the element in BPMN 2.0. */
  type: string;
  name: string;
  column: number;
  lane: number;
  /** Steps that follow, with the name of the flow where it has one. */
  next: Record<string, string>;
}

interface Template {
  key: string;
  name: string;
  description: string;
  category: 'General' | 'Enterprise' | 'HR' | 'ITIL';
  /** Names of the lanes; empty for a process without a pool. */
  lanes: string[];
  steps: Step[];
}

/** Templates of processes that come with the program. */
export const templates = bundled as Template[];

/** The grid on which templates are drawn, in pixels. */
const GRID = { left: 190, top: 80, column: 150, lane: 150, band: 30 } as const;

interface Place {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** The size of an element, by its kind. */
function sizeOf({ type }: Step): { width: number; height: number } {
  if (type.endsWith('Event')) return { width: 36, height: 36 };
  return type.endsWith('Gateway') ? { width: 50, height: 50 } : { width: 110, height: 70 };
}

function placeOf(step: Step): Place {
  const { width, height } = sizeOf(step);
  const [x, y] = [GRID.left + step.column * GRID.column, GRID.top + step.lane * GRID.lane];
  return { x: x - width / 2, y: y - height / 2, width, height };
}

/** The bends of a flow: straight in a lane, else at right angles; back to an earlier column below or above. */
function waypoints(from: Step, to: Step): [number, number][] {
  const [a, b] = [placeOf(from), placeOf(to)];
  const [ay, by] = [a.y + a.height / 2, b.y + b.height / 2];
  const [ax, bx] = [a.x + a.width / 2, b.x + b.width / 2];
  if (from.column === to.column) {
    return from.lane < to.lane
      ? [
          [ax, a.y + a.height],
          [bx, b.y],
        ]
      : [
          [ax, a.y],
          [bx, b.y + b.height],
        ];
  }
  if (from.column > to.column) {
    const way = from.lane < to.lane ? (ay + by) / 2 + 14 : Math.max(a.y + a.height, b.y + b.height) + 22;
    const up = from.lane > to.lane;
    if (up)
      return [
        [ax, a.y],
        [ax, b.y + b.height / 2 + 58],
        [bx, b.y + b.height / 2 + 58],
        [bx, b.y + b.height],
      ];
    return [
      [ax, a.y + a.height],
      [ax, way],
      [bx, way],
      [bx, from.lane < to.lane ? b.y : b.y + b.height],
    ];
  }
  if (from.lane === to.lane)
    return [
      [a.x + a.width, ay],
      [b.x, by],
    ];
  const middle = b.x - (GRID.column - 110) / 2;
  return [
    [a.x + a.width, ay],
    [middle, ay],
    [middle, by],
    [b.x, by],
  ];
}

/** The BPMN 2.0 of a template, with its diagram interchange. */
function templateXml({ key, name, lanes, steps }: Template): string {
  const flows = steps.flatMap((from) =>
    Object.entries(from.next).map(([id, label]) => ({
      id: `flow-${from.id}-${id}`,
      label,
      from,
      to: steps.find((step) => step.id === id)!,
    })),
  );
  const named = (text: string) => (text ? ` name="${escapeXml(text)}"` : '');
  const elements = steps.map(({ id, type, name: text }) => `    <bpmn:${type} id="${id}"${named(text)} />`);
  const sequence = flows.map(
    ({ id, label, from, to }) =>
      `    <bpmn:sequenceFlow id="${id}"${named(label)} sourceRef="${from.id}" targetRef="${to.id}" />`,
  );
  const laneSet = lanes.map((lane, n) => {
    const refs = steps
      .filter((step) => step.lane === n)
      .map(({ id }) => `<bpmn:flowNodeRef>${id}</bpmn:flowNodeRef>`);
    return `      <bpmn:lane id="lane-${n}"${named(lane)}>${refs.join('')}</bpmn:lane>`;
  });
  const columns = Math.max(...steps.map(({ column }) => column)) + 1;
  const pool = {
    x: 60,
    y: 5,
    width: GRID.left - 60 - 75 + columns * GRID.column,
    height: lanes.length * GRID.lane,
  };
  const shape = (id: string, { x, y, width, height }: Place, more = '') =>
    `      <bpmndi:BPMNShape id="${id}-di" bpmnElement="${id}"${more}><dc:Bounds x="${x}" y="${y}" width="${width}" height="${height}" /></bpmndi:BPMNShape>`;
  const lane = (n: number): Place => ({
    x: pool.x + GRID.band,
    y: pool.y + n * GRID.lane,
    width: pool.width - GRID.band,
    height: GRID.lane,
  });
  const shapes = [
    ...(lanes.length > 0 ? [shape('pool', pool, ' isHorizontal="true"')] : []),
    ...lanes.map((_, n) => shape(`lane-${n}`, lane(n), ' isHorizontal="true"')),
    ...steps.map((step) =>
      shape(step.id, placeOf(step), step.type === 'subProcess' ? ' isExpanded="false"' : ''),
    ),
    ...flows.map(({ id, from, to }) => {
      const points = waypoints(from, to).map(([x, y]) => `<di:waypoint x="${x}" y="${y}" />`);
      return `      <bpmndi:BPMNEdge id="${id}-di" bpmnElement="${id}">${points.join('')}</bpmndi:BPMNEdge>`;
    }),
  ];
  const collaboration = `  <bpmn:collaboration id="collaboration"><bpmn:participant id="pool"${named(name)} processRef="process" /></bpmn:collaboration>\n`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:bpmndi="http://www.omg.org/spec/BPMN/20100524/DI" xmlns:dc="http://www.omg.org/spec/DD/20100524/DC" xmlns:di="http://www.omg.org/spec/DD/20100524/DI" id="template-${key}" targetNamespace="https://estate.example/bpmn">
${lanes.length > 0 ? collaboration : ''}  <bpmn:process id="process"${named(name)} isExecutable="false">
${lanes.length > 0 ? `    <bpmn:laneSet id="lanes">\n${laneSet.join('\n')}\n    </bpmn:laneSet>\n` : ''}${[...elements, ...sequence].join('\n')}
  </bpmn:process>
  <bpmndi:BPMNDiagram id="diagram">
    <bpmndi:BPMNPlane id="plane" bpmnElement="${lanes.length > 0 ? 'collaboration' : 'process'}">
${shapes.join('\n')}
    </bpmndi:BPMNPlane>
  </bpmndi:BPMNDiagram>
</bpmn:definitions>
`;
}

const columns = ['key', 'name', 'description', 'category'] as const;
const values = templates.map(
  (template, n) => `(${n}, ${columns.map((column) => textLiteral(template[column])).join(', ')})`,
);

/** Templates over the alias `t`, as a list of constants. */
const templateList: ListSpec = {
  name: 'process-templates',
  from: `(values ${values.join(', ')}) as t(place, ${columns.join(', ')})`,
  id: 't.key',
  idType: 'text',
  sorts: {
    place: { sql: 't.place', type: 'bigint', immutable: true },
    name: { sql: 'fold(t.name)', type: 'text', filled: true },
    category: { sql: 't.category', type: 'text', filled: true },
  },
  defaultSort: 'place',
  search: `fold(t.name || ' ' || t.description)`,
  members: Object.fromEntries(columns.map((column) => [column, `t.${column}`])),
};

export async function listTemplates(ctx: Ctx, params: ListParams): Promise<JsonText> {
  return await runList(ctx, templateList, [], params);
}

/** A template with its model. @throws EstateError `not_found`. */
export function readTemplate(key: string) {
  const template = templates.find((known) => known.key === key);
  if (!template) throw notFound('template', key);
  const { name, description, category } = template;
  return { key, name, description, category, bpmn_xml: templateXml(template) };
}

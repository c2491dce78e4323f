import type { ModdleElement } from 'bpmn-moddle';
import { type Box, drawShape, type Shape } from './svg.shapes.ts';
import { textAt } from './svg.text.ts';

interface Edge {
  element: ModdleElement;
  points: { x: number; y: number }[];
  label: Box | undefined;
}

const MARGIN = 20;
/** The maximum coordinates; shapes outside are omitted. */
const FAR = 100_000;
/** Space for the names below elements. */
const BELOW = 34;
const TITLE = 28;
const TEXT_COLOR = '#263238';

const listOf = (value: unknown): ModdleElement[] => (Array.isArray(value) ? (value as ModdleElement[]) : []);
const isNear = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && Math.abs(value) <= FAR;
const round = (value: number): number => Math.round(value * 10) / 10;

function boxOf(value: unknown): Box | undefined {
  const { x, y, width, height } = (value ?? {}) as Partial<Box>;
  if (!isNear(x) || !isNear(y) || !isNear(width) || !isNear(height) || width < 0 || height < 0)
    return undefined;
  return { x: round(x), y: round(y), width: round(width), height: round(height) };
}

/** The drawing order, background first: pools, lanes and groups, then expanded subprocesses by their size. */
function depthOf({ element, isExpanded, box }: Shape): number {
  if (element.$type === 'bpmn:Participant') return -3e12;
  if (element.$type === 'bpmn:Lane') return -2e12;
  if (element.$type === 'bpmn:Group') return 1;
  const holds =
    isExpanded && (element.$type === 'bpmn:CallActivity' || listOf(element.flowElements).length > 0);
  return holds ? -box.width * box.height : 0;
}

interface Plane {
  name: string;
  shapes: Shape[];
  edges: Edge[];
  box: Box;
}

/** What a diagram of the model shows, or undefined where it shows nothing. */
function readPlane(diagram: ModdleElement): Plane | undefined {
  const shapes: Shape[] = [];
  const edges: Edge[] = [];
  for (const part of listOf((diagram.plane as ModdleElement | undefined)?.planeElement)) {
    const element = part.bpmnElement as ModdleElement | undefined;
    // one that refers to nothing is not drawn
    if (typeof element !== 'object' || element === null) continue;
    const label = boxOf((part.label as ModdleElement | undefined)?.bounds);
    if (part.$type === 'bpmndi:BPMNEdge') {
      const points = listOf(part.waypoint).flatMap(({ x, y }) =>
        isNear(x) && isNear(y) ? [{ x: round(x), y: round(y) }] : [],
      );
      if (points.length > 1) edges.push({ element, points, label });
      continue;
    }
    const box = boxOf(part.bounds);
    if (!box) continue;
    shapes.push({
      element,
      box,
      label,
      // of a call nothing is shown unless the diagram says so
      isExpanded:
        element.$type === 'bpmn:CallActivity' ? part.isExpanded === true : part.isExpanded !== false,
      isHorizontal: part.isHorizontal !== false,
    });
  }
  if (shapes.length === 0 && edges.length === 0) return undefined;
  const boxes = [...shapes.flatMap(({ box, label }) => (label ? [box, label] : [box]))];
  const xs = [
    ...boxes.flatMap(({ x, width }) => [x, x + width]),
    ...edges.flatMap(({ points }) => points.map(({ x }) => x)),
  ];
  const ys = [
    ...boxes.flatMap(({ y, height }) => [y, y + height]),
    ...edges.flatMap(({ points }) => points.map(({ y }) => y)),
  ];
  const [x, y] = [least(xs), least(ys)];
  const box = { x, y, width: greatest(xs) - x, height: greatest(ys) - y + BELOW };
  return { name: typeof diagram.name === 'string' ? diagram.name : '', shapes, edges, box };
}

// not Math.min with a spread, which thousands of arguments would overflow
const least = (values: number[]): number => values.reduce((a, b) => Math.min(a, b));
const greatest = (values: number[]): number => values.reduce((a, b) => Math.max(a, b));

function drawEdge({ element, points, label }: Edge): string {
  const line = points.map(({ x, y }) => `${x},${y}`).join(' ');
  const { $type } = element;
  let style = 'marker-end="url(#flow)"';
  if ($type === 'bpmn:MessageFlow')
    style = 'stroke-dasharray="6 4" marker-start="url(#start)" marker-end="url(#message)"';
  else if ($type === 'bpmn:Association') style = 'stroke-dasharray="2 3"';
  else if (/^bpmn:Data(Input|Output)?Association$/.test($type))
    style = 'stroke-dasharray="2 3" marker-end="url(#open)"';
  const drawn = `<polyline points="${line}" fill="none" stroke="${TEXT_COLOR}" stroke-width="1.2" ${style}/>`;
  const name = typeof element.name === 'string' ? element.name : '';
  if (!name) return drawn;
  const at = points[Math.floor((points.length - 1) / 2)]!;
  const to = points[Math.floor((points.length - 1) / 2) + 1]!;
  const place = label
    ? {
        x: label.x + label.width / 2,
        y: label.y + label.height / 2,
        width: Math.max(label.width, 60),
        height: Math.max(label.height, 26),
      }
    : { x: (at.x + to.x) / 2, y: (at.y + to.y) / 2 - 8, width: 100, height: 26 };
  return drawn + textAt(name, { ...place, size: 10, halo: true });
}

const MARKERS = `<defs>
<marker id="flow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 1L10 5L0 9z" fill="${TEXT_COLOR}"/></marker>
<marker id="message" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="9" markerHeight="9" orient="auto"><path d="M1 1L9 5L1 9z" fill="#ffffff" stroke="${TEXT_COLOR}"/></marker>
<marker id="open" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto"><path d="M1 1L9 5L1 9" fill="none" stroke="${TEXT_COLOR}"/></marker>
<marker id="start" viewBox="0 0 10 10" refX="5" refY="5" markerWidth="7" markerHeight="7"><circle cx="5" cy="5" r="4" fill="#ffffff" stroke="${TEXT_COLOR}"/></marker>
</defs>`;

/**
 * Draws what the diagram interchange of a model shows, one diagram below the other, as SVG that refers to nothing
 * outside and runs nothing. Undefined references and places without numbers are left out.
 * @param definitions the root of a parsed model.
 * @returns null if the model contains no diagram.
 */
export function drawModel(definitions: ModdleElement): string | null {
  const planes = listOf(definitions.diagrams).flatMap((diagram) => readPlane(diagram) ?? []);
  if (planes.length === 0) return null;
  const titled = planes.length > 1;
  const width = greatest(planes.map(({ box }) => box.width)) + 2 * MARGIN;
  let top = MARGIN;
  const drawn = planes.map(({ name, shapes, edges, box }) => {
    const title = titled
      ? textAt(name || 'Diagram', {
          x: width / 2,
          y: top + 8,
          width: width - 2 * MARGIN,
          height: 20,
          size: 14,
          bold: true,
          left: true,
        })
      : '';
    if (titled) top += TITLE;
    const parts = [
      ...shapes.toSorted((a, b) => depthOf(a) - depthOf(b)).map(drawShape),
      ...edges.map(drawEdge),
    ];
    const moved = `translate(${round(MARGIN - box.x)} ${round(top - box.y)})`;
    top += box.height + MARGIN;
    return `${title}<g transform="${moved}">${parts.join('\n')}</g>`;
  });
  const size = `width="${round(width)}" height="${round(top)}" viewBox="0 0 ${round(width)} ${round(top)}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="sans-serif" text-anchor="middle" fill="${TEXT_COLOR}">
${MARKERS}
<rect width="100%" height="100%" fill="#ffffff"/>
${drawn.join('\n')}
</svg>
`;
}

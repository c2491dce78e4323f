import type { ModdleElement } from 'bpmn-moddle';
import { textAt } from './svg.text.ts';

/** A position in the drawing, in pixels. */
export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Shape {
  element: ModdleElement;
  box: Box;
  /** The position of the name, if the model has one. */
  label: Box | undefined;
  isExpanded: boolean;
  isHorizontal: boolean;
}

const TEXT_COLOR = '#263238';
const FAINT = '#90a4ae';
/** Width of the band with the name of a pool or lane. */
const BAND = 30;

const middle = ({ x, y, width, height }: Box) => ({ x: x + width / 2, y: y + height / 2 });
const rect = ({ x, y, width, height }: Box, more: string): string =>
  `<rect x="${x}" y="${y}" width="${width}" height="${height}" ${more}/>`;
const circle = (x: number, y: number, r: number, more: string): string =>
  `<circle cx="${x}" cy="${y}" r="${Math.max(0, r)}" ${more}/>`;
const path = (d: string, more = `fill="none" stroke="${TEXT_COLOR}"`): string => `<path d="${d}" ${more}/>`;
const nameOf = ({ name }: ModdleElement): string => (typeof name === 'string' ? name : '');

/** Pools and lanes, with their names in a band at their beginning. */
function container({ element, box, isHorizontal }: Shape): string {
  const pool = element.$type === 'bpmn:Participant';
  const outline = rect(box, `fill="${pool ? '#ffffff' : 'none'}" stroke="${pool ? TEXT_COLOR : FAINT}"`);
  const band = isHorizontal
    ? { ...box, width: Math.min(BAND, box.width) }
    : { ...box, height: Math.min(BAND, box.height) };
  const line = isHorizontal
    ? `M${box.x + band.width} ${box.y}v${box.height}`
    : `M${box.x} ${box.y + band.height}h${box.width}`;
  const name = textAt(nameOf(element), {
    ...middle(band),
    width: band.width - 4,
    height: band.height - 4,
    bold: pool,
    upright: isHorizontal,
  });
  return outline + path(line, `fill="none" stroke="${pool ? TEXT_COLOR : FAINT}"`) + name;
}

/** What a task is carried out by, in a word. */
const kinds: Record<string, string> = {
  'bpmn:UserTask': 'user',
  'bpmn:ManualTask': 'manual',
  'bpmn:ServiceTask': 'service',
  'bpmn:ScriptTask': 'script',
  'bpmn:BusinessRuleTask': 'rule',
  'bpmn:SendTask': 'send',
  'bpmn:ReceiveTask': 'receive',
};
const subprocesses = /^bpmn:(SubProcess|AdHocSubProcess|Transaction|SubChoreography)$/;

function activity({ element, box, isExpanded }: Shape): string {
  const { $type } = element;
  const sub = subprocesses.test($type);
  const dashed = element.triggeredByEvent === true ? ' stroke-dasharray="2 3"' : '';
  const width = $type === 'bpmn:CallActivity' ? 3 : 1.2;
  let drawn = rect(box, `rx="8" fill="#ffffff" stroke="${TEXT_COLOR}" stroke-width="${width}"${dashed}`);
  if ($type === 'bpmn:Transaction') {
    const height = Math.max(0, box.height - 6);
    const inner = { x: box.x + 3, y: box.y + 3, width: Math.max(0, box.width - 6), height };
    drawn += rect(inner, `rx="6" fill="none" stroke="${TEXT_COLOR}"`);
  }
  const { x, y } = middle(box);
  if ((sub || $type === 'bpmn:CallActivity') && isExpanded) {
    const place = { x, y: box.y + 12, width: box.width - 12, height: 16, bold: true };
    return drawn + textAt(nameOf(element), place);
  }
  drawn += textAt(nameOf(element), { x, y, width: box.width - 10, height: box.height - 14 });
  const bottom = box.y + box.height;
  if (sub) {
    const outline = `fill="#ffffff" stroke="${TEXT_COLOR}"`;
    drawn += rect({ x: x - 6, y: bottom - 13, width: 12, height: 12 }, outline);
    drawn += path(`M${x - 4} ${bottom - 7}h8M${x} ${bottom - 11}v8`);
  }
  const kind = kinds[$type];
  if (kind) {
    drawn += `<text x="${box.x + 6}" y="${box.y + 11}" font-size="8" text-anchor="start" fill="#546e7a">${kind}</text>`;
  }
  const loop = element.loopCharacteristics as ModdleElement | undefined;
  if (loop) {
    const sign =
      loop.$type !== 'bpmn:MultiInstanceLoopCharacteristics' ? '↻' : loop.isSequential ? '≡' : '|||';
    drawn += `<text x="${x - (sub ? 16 : 0)}" y="${bottom - 4}" font-size="10">${sign}</text>`;
  }
  return drawn;
}

/** What an event is about, drawn in its middle. */
function trigger(element: ModdleElement, x: number, y: number, r: number): string {
  const [definition] = Array.isArray(element.eventDefinitions)
    ? (element.eventDefinitions as ModdleElement[])
    : [];
  const throws = /Throw|EndEvent/.test(element.$type);
  const style = `fill="${throws ? TEXT_COLOR : 'none'}" stroke="${throws ? '#ffffff' : TEXT_COLOR}"`;
  const outline = `fill="${throws ? TEXT_COLOR : 'none'}" stroke="${TEXT_COLOR}"`;
  switch (definition?.$type) {
    case 'bpmn:MessageEventDefinition': {
      const envelope = `M${x - r} ${y - r * 0.7}h${2 * r}v${1.4 * r}h${-2 * r}zl${r} ${r * 0.8}l${r} ${-r * 0.8}`;
      return path(envelope, style);
    }
    case 'bpmn:TimerEventDefinition': {
      const hands = `M${x} ${y - r * 0.7}V${y}H${x + r * 0.5}`;
      return circle(x, y, r, `fill="none" stroke="${TEXT_COLOR}"`) + path(hands);
    }
    case 'bpmn:TerminateEventDefinition':
      return circle(x, y, r * 0.9, `fill="${TEXT_COLOR}"`);
    case 'bpmn:SignalEventDefinition':
      return path(`M${x} ${y - r}l${r} ${1.7 * r}h${-2 * r}z`, outline);
    case 'bpmn:ErrorEventDefinition': {
      const bolt = `M${x - r} ${y + r * 0.8}l${r * 0.6} ${-r * 1.5}l${r * 0.7} ${r}l${r * 0.7} ${-r * 1.2}`;
      return path(bolt, outline);
    }
    case 'bpmn:EscalationEventDefinition': {
      const arrow = `M${x} ${y - r}l${r * 0.8} ${1.8 * r}l${-r * 0.8} ${-r * 0.8}l${-r * 0.8} ${r * 0.8}z`;
      return path(arrow, outline);
    }
    case 'bpmn:CompensateEventDefinition':
      return path(
        `M${x} ${y - r * 0.7}v${1.4 * r}l${-r} ${-0.7 * r}zM${x + r} ${y - r * 0.7}v${1.4 * r}l${-r} ${-0.7 * r}z`,
        outline,
      );
    case 'bpmn:ConditionalEventDefinition':
      return path(`M${x - r * 0.7} ${y - r * 0.8}h${1.4 * r}v${1.6 * r}h${-1.4 * r}zm3 3h${r}m${-r} 3h${r}`);
    case 'bpmn:LinkEventDefinition':
      return path(
        `M${x - r} ${y - r * 0.3}h${r}v${-r * 0.5}l${r} ${r * 0.8}l${-r} ${r * 0.8}v${-r * 0.5}h${-r}z`,
        outline,
      );
    default:
      return '';
  }
}

function event(shape: Shape): string {
  const { element, box } = shape;
  const { x, y } = middle(box);
  const r = Math.min(box.width, box.height) / 2;
  const thick = element.$type === 'bpmn:EndEvent' ? 3 : 1.2;
  const quiet = element.isInterrupting === false || element.cancelActivity === false;
  const dash = quiet ? ' stroke-dasharray="4 3"' : '';
  let drawn = circle(x, y, r, `fill="#ffffff" stroke="${TEXT_COLOR}" stroke-width="${thick}"${dash}`);
  if (/Intermediate|Boundary/.test(element.$type)) {
    drawn += circle(x, y, r - 3, `fill="none" stroke="${TEXT_COLOR}"${dash}`);
  }
  return drawn + trigger(element, x, y, r * 0.5) + outsideName(shape);
}

function gateway(shape: Shape): string {
  const { element, box } = shape;
  const { x, y } = middle(box);
  const [w, h] = [box.width / 2, box.height / 2];
  const r = Math.min(w, h) * 0.42;
  const bold = `fill="none" stroke="${TEXT_COLOR}" stroke-width="2.5"`;
  let sign = '';
  if (element.$type === 'bpmn:ExclusiveGateway') {
    const cross = `M${x - r * 0.7} ${y - r * 0.7}l${r * 1.4} ${r * 1.4}m0 ${-r * 1.4}l${-r * 1.4} ${r * 1.4}`;
    sign = path(cross, bold);
  } else if (element.$type === 'bpmn:ParallelGateway')
    sign = path(`M${x - r} ${y}h${2 * r}M${x} ${y - r}v${2 * r}`, bold);
  else if (element.$type === 'bpmn:InclusiveGateway') sign = circle(x, y, r * 0.9, bold);
  else if (element.$type === 'bpmn:ComplexGateway') {
    sign = path(
      `M${x - r} ${y}h${2 * r}M${x} ${y - r}v${2 * r}M${x - r * 0.7} ${y - r * 0.7}l${r * 1.4} ${r * 1.4}m0 ${-r * 1.4}l${-r * 1.4} ${r * 1.4}`,
      bold,
    );
  } else if (element.$type === 'bpmn:EventBasedGateway') {
    sign =
      circle(x, y, r, `fill="none" stroke="${TEXT_COLOR}"`) +
      circle(x, y, r * 0.75, `fill="none" stroke="${TEXT_COLOR}"`);
  }
  const diamond = `M${x} ${y - h}l${w} ${h}l${-w} ${h}l${-w} ${-h}z`;
  return (
    path(diamond, `fill="#ffffff" stroke="${TEXT_COLOR}" stroke-width="1.2"`) + sign + outsideName(shape)
  );
}

/** The label of a shape without space inside: at the position in the model, or below. */
function outsideName({ element, box, label }: Shape): string {
  const name = nameOf(element);
  if (!name) return '';
  const { x } = middle(box);
  const place = label
    ? { ...middle(label), width: Math.max(label.width, 60), height: Math.max(label.height, 38) }
    : { x, y: box.y + box.height + 16, width: 96, height: 28 };
  return textAt(name, { ...place, size: 10, halo: true });
}

function data(shape: Shape): string {
  const { element, box } = shape;
  const { x, y, width, height } = box;
  const style = `fill="#ffffff" stroke="${TEXT_COLOR}"`;
  if (/DataStore/.test(element.$type)) {
    const rim = Math.min(8, height / 4);
    const drawn = `M${x} ${y + rim}v${height - 2 * rim}a${width / 2} ${rim} 0 0 0 ${width} 0v${2 * rim - height}a${width / 2} ${rim} 0 0 0 ${-width} 0a${width / 2} ${rim} 0 0 0 ${width} 0`;
    return path(drawn, style) + outsideName(shape);
  }
  const fold = Math.min(10, width / 3);
  const page = `M${x} ${y}h${width - fold}l${fold} ${fold}v${height - fold}h${-width}zM${x + width - fold} ${y}v${fold}h${fold}`;
  return path(page, style) + outsideName(shape);
}

function annotation({ element, box }: Shape): string {
  const text = typeof element.text === 'string' ? element.text : '';
  const bracket = `M${box.x + 10} ${box.y}h-10v${box.height}h10`;
  const place = { ...middle(box), width: box.width - 12, height: box.height - 4, size: 10, left: true };
  return path(bracket) + textAt(text, place);
}

/** How elements are drawn, by type. */
export function drawShape(shape: Shape): string {
  const { $type } = shape.element;
  if ($type === 'bpmn:Participant' || $type === 'bpmn:Lane') return container(shape);
  if (/Event$/.test($type)) return event(shape);
  if (/Gateway$/.test($type)) return gateway(shape);
  if (/^bpmn:Data(Object|Store|Input|Output)/.test($type)) return data(shape);
  if ($type === 'bpmn:TextAnnotation') return annotation(shape);
  if ($type === 'bpmn:Group')
    return rect(shape.box, `rx="10" fill="none" stroke="${FAINT}" stroke-dasharray="8 4 2 4"`);
  return activity(shape);
}

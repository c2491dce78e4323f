import { circleMark, NAME_WIDTH, nameMark, type PlacedCircle, paintOf, radiusOf } from './charts.circles.ts';
import { mix, textOn } from './charts.colours.ts';
import { areaHeight, fillOf, isNarrow } from './charts.look.ts';
import type { Look, Mark, Picture } from './charts.marks.ts';
import { formatCount } from './charts.numbers.ts';
import { type Heading, LABEL, label, labelAt, paragraph } from './charts.parts.ts';
import { plain, shorten, wrap } from './charts.text.ts';
import { chartText } from './charts.texts.ts';
import { radius, weight } from './charts.tokens.ts';
import type { BubblesChart } from './charts.types.ts';
import { textWidth } from './charts.widths.ts';

/** Maximum number of circles in a cell; more are one circle with their number. */
const MOST = 60;
/** The area that a circle needs, in square pixels. */
const ROOM = 400;
/** Height of a cell from which its corner is named, and several items are a circle beside their spread. */
const NAMED_HEIGHT = 60;
const GAP = 4;
/** Padding of a cell, and height of a line of the name of a corner. */
const PAD = 8;
const LINE = 16;
const CORNER_LINES = 3;
/** Share of a cell that circles may cover, so that names have room. */
const COVERED = 0.12;

interface Cell {
  x: number;
  y: number;
  left: number;
  top: number;
  width: number;
  height: number;
  items: BubblesChart['items'];
}

/** Circles packed in the cells of two axes with steps. */
export function layoutCells(chart: BubblesChart, look: Look, head: Heading): Picture {
  const { scheme, margin, width } = look;
  const [xs, ys] = [chart.x.steps!, chart.y.steps!];
  // in little room, the names of rows stand above their cells, unless these are low
  const above = isNarrow(look) && look.height === undefined ? 22 : 0;
  const nameRoom = Math.min(
    150,
    Math.max(50, ...ys.map((name) => textWidth(plain(name), LABEL, weight.regular))),
  );
  const left = margin + (above ? 0 : nameRoom + 10);
  const top = head.bottom + 20;
  const wide = (width - margin - left) / xs.length;
  const usual = isNarrow(look) ? 116 + above : Math.min(176, Math.max(120, 660 / ys.length));
  const high = areaHeight(look, top, 50 + margin, usual * ys.length) / ys.length;
  const bottom = top + high * ys.length;
  const cells = ys.flatMap((_, y) =>
    xs.map(
      (_name, x): Cell => ({
        x,
        y,
        left: left + x * wide,
        top: top + (ys.length - 1 - y) * high + above,
        width: wide - GAP,
        height: high - GAP - above,
        items: chart.items.filter((item) => item.x === x && item.y === y),
      }),
    ),
  );
  const largest = Math.max(0, ...chart.items.map(({ size }) => size ?? 0));
  const most = largestRadius(chart, cells, largest);
  const names = ys.flatMap((name, y) => {
    if (above) {
      const baseline = top + (ys.length - 1 - y) * high + above - 7;
      return [label(look, left, baseline, name, { fill: scheme.text2, room: width - 2 * margin })];
    }
    const at = top + (ys.length - 1 - y) * high + (high - GAP) / 2;
    const lines = wrap(plain(name), nameRoom, LABEL, 2, weight.regular, look.workspace);
    return lines.map((text, line) =>
      labelAt(look, left - 10, at + (line - (lines.length - 1) / 2) * 16, text, {
        anchor: 'end',
        fill: scheme.text2,
      }),
    );
  });
  const columns = xs.flatMap((name, x) => {
    const lines = wrap(plain(name), wide - GAP - 2, LABEL, 2, weight.regular, look.workspace);
    return lines.map((text, at) =>
      label(look, left + x * wide + (wide - GAP) / 2, bottom + 14 + at * 16, text, {
        anchor: 'middle',
        fill: scheme.text2,
      }),
    );
  });
  const titles = bottom + (columns.length > xs.length ? 50 : 36);
  return {
    width,
    height: titles + margin,
    marks: [
      ...head.marks,
      ...paragraph(look, margin, top - 8, `${plain(chart.y.name)} ↑`, {
        weight: weight.emphasis,
        room: width - 2 * margin,
        most: 1,
      }),
      ...cells.flatMap((cell) => groundOf(chart, look, cell)),
      ...cells.flatMap((cell) => contentOf(chart, look, cell, largest, most)),
      ...names,
      ...columns,
      label(look, width - margin - GAP, titles, `${plain(chart.x.name)} →`, {
        anchor: 'end',
        weight: weight.emphasis,
      }),
    ],
    description: sentence(chart, look, cells),
  };
}

/** Whether a cell is among the best (1) or worst (-1) ones. */
function cornerOf({ x, y }: { x: BubblesChart['x']; y: BubblesChart['y'] }, cell: Cell): -1 | 0 | 1 {
  if (!x.judged || !y.judged || x.steps!.length < 3 || y.steps!.length < 3) return 0;
  const sum = cell.x + cell.y;
  if (sum >= x.steps!.length + y.steps!.length - 3) return 1;
  return sum <= 1 ? -1 : 0;
}

function groundOf(chart: BubblesChart, look: Look, cell: Cell): Mark[] {
  const { scheme } = look;
  const corner = cornerOf(chart, cell);
  const tint = corner > 0 ? scheme.tones.ok.tint : scheme.tones.bad.tint;
  const ground: Mark = {
    kind: 'rect',
    x: cell.left,
    y: cell.top,
    width: cell.width,
    height: cell.height,
    radius: radius.control,
    fill: corner === 0 ? scheme.canvas : mix(scheme.panel, tint, 0.7),
    title: `${chart.x.steps![cell.x]}, ${chart.y.steps![cell.y]}: ${formatCount(cell.items.length, look.workspace)}`,
    ref: `cell ${cell.x} ${cell.y}`,
  };
  const name = nameOfCorner(chart, cell);
  if (name === undefined) return [ground];
  const isBest = corner > 0;
  const lines = cornerLines(name, look, cell);
  const words = paragraph(
    look,
    isBest ? cell.left + cell.width - PAD : cell.left + PAD,
    isBest ? cell.top + 16 : cell.top + cell.height - 8 - (lines - 1) * LINE,
    name,
    {
      anchor: isBest ? 'end' : 'start',
      weight: weight.title,
      fill: (isBest ? scheme.tones.ok : scheme.tones.bad).ink,
      room: cell.width - 2 * PAD,
      most: CORNER_LINES,
    },
  );
  return [ground, ...words];
}

/** The number of lines of a corner's name. */
const cornerLines = (name: string, { workspace }: Look, { width }: Cell): number =>
  wrap(name, width - 2 * PAD, LABEL, CORNER_LINES, weight.title, workspace).length;

/** The name of the outermost cells. */
function nameOfCorner(chart: BubblesChart, cell: Cell): string | undefined {
  if (!chart.corners || cell.height < NAMED_HEIGHT) return undefined;
  const { x, y } = cell;
  const corner = cornerOf(chart, cell);
  if (corner > 0 && x === chart.x.steps!.length - 1 && y === chart.y.steps!.length - 1)
    return chart.corners.best;
  return corner < 0 && x === 0 && y === 0 ? chart.corners.worst : undefined;
}

/** The radius of the largest circle with which every cell has room for its circles. */
function largestRadius(chart: BubblesChart, cells: Cell[], largest: number): number {
  let most = 28;
  for (const cell of cells) {
    const { items, width, height } = cell;
    if (items.length === 0 || isCrowd(cell)) continue;
    const weights = items.map(({ size }) =>
      chart.size ? Math.max(0.02, (size ?? 0) / (largest || 1)) : 0.2,
    );
    const needed = Math.PI * weights.reduce((sum, one) => sum + one, 0);
    most = Math.min(
      most,
      Math.sqrt((COVERED * width * height) / needed),
      height * 0.32,
      width / 2 - PAD - BETWEEN,
    );
  }
  return Math.max(5, most);
}

function contentOf(chart: BubblesChart, look: Look, cell: Cell, largest: number, most: number): Mark[] {
  const { items } = cell;
  if (items.length === 0) return [];
  const area = inside(chart, look, cell);
  if (isCrowd(cell)) return crowd(chart, look, cell, area);
  const radii = items.map(({ size }) => (chart.size ? radiusOf(size, largest, most) : Math.min(7, most)));
  const room = Math.min(NAME_WIDTH, area.width - BETWEEN);
  const named = packNamed(
    radii,
    items.map(({ name }) => nameWidth(name, room)),
    area,
  );
  if (!named) return crowd(chart, look, cell, area);
  const circles = named.places.map(
    ([x, y], at): PlacedCircle => ({ item: items[at]!, x, y, radius: radii[at]! }),
  );
  return [
    ...circles.map((circle) => circleMark(chart, look, circle)),
    ...circles.flatMap((circle, at) =>
      nameMark(look, circle, at < named.count ? { side: 'bottom', shift: 0 } : undefined, room),
    ),
  ];
}

/** Whether there is no room for a circle of each item. */
const isCrowd = ({ items, width, height }: Cell): boolean =>
  items.length > Math.min(MOST, (width * height) / ROOM);

const nameWidth = (name: string, room: number): number => textWidth(shorten(plain(name), room, LABEL), LABEL);

interface Area {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** The room for circles, without the name of a corner. */
function inside(chart: BubblesChart, look: Look, cell: Cell): Area {
  const name = nameOfCorner(chart, cell);
  const space = name ? cornerLines(name, look, cell) * LINE + 2 : 0;
  const upper = cell.y > 0 ? space : 0;
  const lower = cell.y === 0 ? space : 0;
  return {
    left: cell.left + PAD,
    top: cell.top + PAD + upper,
    width: cell.width - 2 * PAD,
    height: cell.height - 2 * PAD - upper - lower,
  };
}

/** One circle for all items of a cell, with their number and the share of each group. */
function crowd(chart: BubblesChart, look: Look, cell: Cell, { left, top, width, height }: Area): Mark[] {
  const { items } = cell;
  if (cell.height < NAMED_HEIGHT)
    return [
      labelAt(look, left + width / 2, top + height / 2, formatCount(items.length, look.workspace), {
        anchor: 'middle',
        weight: weight.title,
      }),
    ];
  const [x, y] = [left + width / 2, top + height / 2 - 6];
  const size = Math.min(height * 0.36, width * 0.3, 20 + Math.sqrt(items.length));
  const counts = [...Map.groupBy(items, ({ group }) => group)].sort(([, a], [, b]) => b.length - a.length);
  const fill =
    counts[0]![1].length > items.length / 2
      ? fillOf(paintOf(chart, counts[0]![0]), look)
      : look.scheme.others;
  const total = width * 0.6;
  let from = x - total / 2;
  const spread = counts.map(([group, own]): Mark => {
    const part = (own.length / items.length) * total;
    from += part;
    return {
      kind: 'rect',
      x: from - part,
      y: y + size + 8,
      width: Math.max(1, part - 1),
      height: 5,
      fill: fillOf(paintOf(chart, group), look),
      title: `${group ?? ''}: ${formatCount(own.length, look.workspace)}`,
    };
  });
  return [
    {
      kind: 'circle',
      x,
      y,
      radius: size,
      fill,
      title: chartText(look.workspace, 'cards.count', { count: items.length }),
    },
    labelAt(look, x, y, formatCount(items.length, look.workspace), {
      anchor: 'middle',
      weight: weight.title,
      fill: textOn(fill, look.scheme),
      size: 14,
    }),
    ...spread,
  ];
}

/** Distance between two circles, and height of a name below one. */
const BETWEEN = 4;
const NAME_HEIGHT = LABEL + 4;
/** Shares of the circles that are named, in the order in which they are tried. */
const NAMED_SHARES = [1, 0.8, 0.6, 0.4, 0.25, 0.12, 0];
/** Places of the first circle in a cell, as shares of its width and height, in the order in which they are tried. */
const MIDDLES = [
  [0.5, 0.5],
  [0.35, 0.5],
  [0.5, 0.4],
  [0.28, 0.4],
  [0.72, 0.4],
] as const;

/** Centres of circles, of which as many of the first ones as possible have room for a name below; undefined without room. */
function packNamed(
  radii: readonly number[],
  widths: readonly number[],
  area: Area,
): { places: [number, number][]; count: number } | undefined {
  for (const share of NAMED_SHARES) {
    const count = Math.round(radii.length * share);
    const boxes = radii.map((r, at) => ({
      half: at < count ? Math.max(r, widths[at]! / 2) + BETWEEN / 2 : r + BETWEEN / 2,
      above: r + BETWEEN / 2,
      below: at < count ? r + NAME_HEIGHT : r + BETWEEN / 2,
    }));
    for (const middle of count === 0 ? MIDDLES.slice(0, 1) : MIDDLES) {
      const places = pack(boxes, area, middle);
      if (places) return { places, count };
    }
  }
  return undefined;
}

interface Room {
  half: number;
  above: number;
  below: number;
}

/** Places boxes around a point of an area, in their order, without overlaps; undefined if one has no room. */
function pack(
  boxes: readonly Room[],
  { left, top, width, height }: Area,
  [across, down]: readonly [number, number],
): [number, number][] | undefined {
  const placed: (Room & { x: number; y: number })[] = [];
  const ratio = Math.max(1, Math.min(2.4, width / height));
  for (const box of boxes) {
    const at = spiral(left + width * across, top + height * down, ratio, Math.max(width, height), (x, y) => {
      const isInside =
        x - box.half >= left &&
        x + box.half <= left + width &&
        y - box.above >= top &&
        y + box.below <= top + height;
      return (
        isInside &&
        placed.every(
          (one) =>
            Math.abs(one.x - x) >= one.half + box.half ||
            y - box.above >= one.y + one.below ||
            y + box.below <= one.y - one.above,
        )
      );
    });
    if (!at) return undefined;
    placed.push({ ...box, x: at[0], y: at[1] });
  }
  return placed.map(({ x, y }) => [x, y]);
}

/** The first point of a spiral that fits. */
function spiral(
  x: number,
  y: number,
  ratio: number,
  reach: number,
  fits: (x: number, y: number) => boolean,
): [number, number] | undefined {
  for (let step = 0; ; step += 1) {
    const distance = 1.4 * Math.sqrt(step);
    if (distance > reach) return undefined;
    const angle = step * 2.399963;
    const at: [number, number] = [x + Math.cos(angle) * distance * ratio, y + Math.sin(angle) * distance];
    if (fits(...at)) return at;
  }
}

function sentence(chart: BubblesChart, { workspace }: Look, cells: Cell[]): string {
  const fullest = cells.reduce((most, cell) => (cell.items.length > most.items.length ? cell : most));
  return chartText(workspace, 'bubbles.cells', {
    count: chart.items.length,
    x: chart.x.name,
    y: chart.y.name,
    most: fullest.items.length,
    atX: chart.x.steps![fullest.x]!,
    atY: chart.y.steps![fullest.y]!,
  });
}

import { hierarchy, treemap, treemapSquarify } from 'd3-hierarchy';
import { groupNames, heading, withNote } from './charts.parts.ts';
import { type Shades, shadeScale } from './charts.shades.ts';
import { axisTitle, formatCount, formatValue, Labels, plain, textWidth, wrap } from './charts.text.ts';
import { colour, FONT_SIZE, MARGIN, OTHERS, TEXT_COLOR, textColorOn, WIDTH } from './charts.theme.ts';
import type { ChartWorkspace, Layout, TreemapChart } from './charts.types.ts';

const MAX_TILES = 300;
const MAX_GROUPS = 40;
/** Gap between groups and between tiles, in pixels. */
const GAP = { groups: 4, tiles: 1 };
/** Height of the name of a group, and of a line in a tile. */
const LINE = { group: 22, tile: 16 };
/** Padding of a tile. */
const PADDING = 4;
/** Preferred aspect ratio of groups, which have a name above, and of tiles. */
const WIDER = { groups: 1.6, tiles: 2.5 };
/** Minimum length of a truncated name. */
const MIN_LETTERS = 4;
/** Maximum lines of a name in a tile, or in a group without tiles. */
const MOST_LINES = 3;
/** Minimum height for a group name of two lines. */
const TALL_GROUP = 100;
/** Background of a group. */
const GROUND = '#e5e7eb';

type Item = TreemapChart['items'][number];

interface Tile {
  name: string;
  value: number;
  color: string;
}

/** Areas by value within the areas of their groups; small items of a group are combined. */
export function layoutTreemap(chart: TreemapChart, workspace: ChartWorkspace): Layout {
  const labels = new Labels();
  const shades = shadesOf(chart, workspace);
  const grouped = chart.groups !== undefined || chart.items.some(({ group }) => group !== undefined);
  const empty = emptyGroups(chart);
  const groups = groupNames(
    chart.items.map(({ group }) => group ?? ''),
    empty.size > 0 ? MAX_GROUPS - 1 : MAX_GROUPS,
    chart.groups?.map(({ key }) => key).filter((key) => !empty.has(key)),
  );
  const nameByKey = new Map(chart.groups?.map(({ key, name }) => [key, name]));
  const kept = groups.all.length;
  const members: Item[][] = groups.all.map(() => []);
  for (const item of chart.items) members[Math.min(groups.of(item.group ?? ''), kept - 1)]!.push(item);
  const tiles = members.map((items, index) =>
    tilesOf(chart, items, Math.max(3, Math.round((MAX_TILES * items.length) / chart.items.length)), (item) =>
      shades ? shades.of(item.shade) : grouped ? colour(index) : colour(0),
    ),
  );
  const drawn = tiles.reduce((sum, of) => sum + of.length, 0);
  const head = heading(
    {
      title: chart.title,
      note: withNote(
        chart.note ?? (chart.even ? undefined : `Area: ${axisTitle(chart.valueAxis, chart.unit, workspace)}`),
        shades ? `Shade: ${axisTitle(chart.shadeAxis!, chart.shadeUnit ?? 'number', workspace)}` : undefined,
      ),
    },
    shades?.legend ?? [],
    labels,
    WIDTH,
  );
  const height = Math.min(1_600, Math.max(420, drawn * (chart.even ? 10 : 6)) + head.bottom);
  const space = { x: MARGIN, y: head.bottom, width: WIDTH - 2 * MARGIN, height: height - head.bottom };
  const elements: object[] = [];
  const draw = (of: Tile[], area: Area) => {
    for (const [at, piece] of divideArea(
      of.map(({ value }) => value),
      area,
      WIDER.tiles,
    ).entries()) {
      const tile = of[at]!;
      const inner = shrink(piece, GAP.tiles / 2);
      elements.push(rect(inner, tile.color), ...tileTexts(tile, inner, labels, chart, workspace));
    }
  };
  const shown = tiles.map((of) => of.filter(({ value }) => value > 0));
  if (grouped) {
    const nameOf = (key: string) => (nameByKey.get(key) ?? key) || 'Without a group';
    const named = [
      ...shown.map((of, index) => ({ of, name: nameOf(groups.all[index]!) })),
      ...(empty.size > 0 ? [{ of: [], name: emptyName(empty.size, chart) }] : []),
    ]
      .map((group) => ({ ...group, value: group.of.reduce((sum, { value }) => sum + value, 0) }))
      .map((group) => (chart.even && group.of.length === 0 ? { ...group, value: 1 } : group))
      .filter(({ value }) => value > 0)
      .sort((a, b) => (chart.even ? 0 : b.value - a.value));
    for (const [at, piece] of divideArea(
      named.map(({ value }) => value),
      space,
      WIDER.groups,
    ).entries()) {
      const { name, of } = named[at]!;
      const ground = shrink(piece, GAP.groups / 2);
      elements.push(rect(ground, GROUND));
      draw(of, groupSpace(ground, name, of.length === 0, labels, elements));
    }
  } else {
    draw(shown.flat(), space);
  }
  const { graphic } = head.option as { graphic?: { elements: object[] } };
  return {
    width: WIDTH,
    height: height + MARGIN,
    shortened: labels.shortened,
    description: `Areas of ${chart.valueAxis} for ${formatCount(chart.items.length)} items`,
    option: { ...head.option, graphic: { elements: [...(graphic?.elements ?? []), ...elements] } },
  };
}

/** Keys of the groups without items, which an even map with too many groups combines. */
function emptyGroups({ even, groups = [], items }: TreemapChart): Set<string> {
  const used = new Set(items.map(({ group }) => group ?? ''));
  const empty = groups.filter(({ key }) => !used.has(key));
  return new Set(even && used.size + empty.length > MAX_GROUPS ? empty.map(({ key }) => key) : []);
}

const emptyName = (count: number, { memberName }: TreemapChart): string =>
  `${formatCount(count)} ${count === 1 ? 'group' : 'groups'} without ${memberName ?? 'members'}`;

/** Divides an area among values above 0, in their order, into pieces that are `wider` than high, to fit names. */
export function divideArea(values: number[], area: Area, wider: number): Area[] {
  const tree = hierarchy<{ value?: number; children?: { value: number }[] }>({
    children: values.map((value) => ({ value })),
  });
  const divide = treemap<{ value?: number }>().tile(treemapSquarify.ratio(1));
  const { children = [] } = divide.size([area.width / wider, area.height])(
    tree.sum(({ value = 0 }) => value),
  );
  return children.map(({ x0, y0, x1, y1 }) => ({
    x: area.x + x0 * wider,
    y: area.y + y0,
    width: (x1 - x0) * wider,
    height: y1 - y0,
  }));
}

const shrink = ({ x, y, width, height }: Area, by: number): Area => ({
  x: x + by,
  y: y + by,
  width: Math.max(0, width - 2 * by),
  height: Math.max(0, height - 2 * by),
});

const rect = ({ x, y, width, height }: Area, fill: string): object => ({
  type: 'rect',
  silent: true,
  shape: { x: round(x), y: round(y), width: round(width), height: round(height) },
  style: { fill },
});

/** Rounds to tenths of a pixel, which halves the size of the SVG. */
const round = (pixels: number): number => Math.round(pixels * 10) / 10;

const text = (x: number, y: number, words: string, fill: string, style: object): object => ({
  type: 'text',
  silent: true,
  x: round(x),
  y: round(y),
  style: { text: words, fill, font: `${FONT_SIZE}px sans-serif`, textVerticalAlign: 'middle', ...style },
});

/** Wraps a name into the lines that fit; empty if not enough of it fits. */
function fitted(name: string, width: number, most: number, labels: Labels): string[] {
  const whole = plain(name);
  for (let count = most; count > 0; count -= 1) {
    const lines = wrap(whole, width, FONT_SIZE, count);
    const last = lines.at(-1)!;
    const isCut = !whole.endsWith(last);
    if (last === '' || (isCut && last.length <= MIN_LETTERS)) continue;
    if (isCut) labels.remember(last, whole);
    return lines;
  }
  return [];
}

/** Writes the name of a group if it fits. @returns the remaining area for its tiles. */
function groupSpace(ground: Area, name: string, isEmpty: boolean, labels: Labels, elements: object[]): Area {
  const inner = shrink(ground, 1);
  const most = isEmpty
    ? Math.floor(inner.height / LINE.tile)
    : Number(inner.height >= LINE.group + LINE.tile);
  const lines = fitted(
    name,
    inner.width - 2 * PADDING,
    isEmpty ? Math.min(MOST_LINES, most) : inner.height >= TALL_GROUP ? 2 : most,
    labels,
  );
  if (lines.length === 0) return inner;
  for (const [at, line] of lines.entries()) {
    const y = inner.y + LINE.group / 2 + at * LINE.tile;
    elements.push(text(inner.x + PADDING, y, line, TEXT_COLOR, { fontWeight: 'bold' }));
  }
  const taken = LINE.group + (lines.length - 1) * LINE.tile;
  return { ...inner, y: inner.y + taken, height: inner.height - taken };
}

/** The name of a tile and its value below; the value is never truncated. */
function tileTexts(
  { name, value, color }: Tile,
  { x, y, width, height }: Area,
  labels: Labels,
  chart: TreemapChart,
  workspace: ChartWorkspace,
): object[] {
  const room = width - 2 * PADDING;
  const fit = Math.floor(height / LINE.tile);
  const figure = chart.even ? '' : formatValue(value, chart.unit, workspace);
  const hasFigure = figure !== '' && fit > 1 && textWidth(figure, FONT_SIZE) <= room;
  const lines = fitted(name, room, Math.min(MOST_LINES, hasFigure ? fit - 1 : fit), labels);
  if (lines.length === 0) return [];
  if (hasFigure) lines.push(figure);
  const top = y + height / 2 - ((lines.length - 1) * LINE.tile) / 2;
  const ink = textColorOn(color);
  return lines.map((line, at) =>
    text(x + width / 2, top + at * LINE.tile, line, ink, { textAlign: 'center' }),
  );
}

/** One tile for each of the largest items (in an even map: the first ones), and one for the others. */
function tilesOf(chart: TreemapChart, items: Item[], most: number, colourOf: (item: Item) => string): Tile[] {
  const ranked = chart.even ? items : items.toSorted((a, b) => b.value - a.value);
  const own = ranked.length > most ? ranked.slice(0, most - 1) : ranked;
  const tiles = own.map((item) => ({ name: item.name, value: item.value, color: colourOf(item) }));
  const rest = ranked.slice(own.length);
  if (rest.length > 0) {
    const value = chart.even ? 1 : rest.reduce((sum, item) => sum + item.value, 0);
    tiles.push({ name: `${formatCount(rest.length)} others`, value, color: OTHERS });
  }
  return tiles;
}

/** A scale of five steps with their limits. */
function shadesOf(chart: TreemapChart, workspace: ChartWorkspace): Shades | undefined {
  if (chart.shadeAxis === undefined) return undefined;
  const unit = chart.shadeUnit ?? 'number';
  const values = chart.items.flatMap(({ shade }) => (shade === undefined ? [] : [shade]));
  return shadeScale(values, (value) => formatValue(value, unit, workspace), unit === 'count');
}

/** A rectangle, in pixels. */
interface Area {
  x: number;
  y: number;
  width: number;
  height: number;
}

import { mix, textOn } from './charts.colours.ts';
import { areaHeight, isNarrow } from './charts.look.ts';
import { type Look, type Mark, type Picture, standingFor } from './charts.marks.ts';
import { axisTitle, formatShare, numberWriter } from './charts.numbers.ts';
import { heading, LABEL, label, labelAt, nothing, withNote } from './charts.parts.ts';
import { type Area, divideArea } from './charts.squares.ts';
import { plain, wrap } from './charts.text.ts';
import { chartText, type InLanguage } from './charts.texts.ts';
import { radius, weight } from './charts.tokens.ts';
import type { TreemapChart } from './charts.types.ts';
import { textWidth } from './charts.widths.ts';

const MAX_TILES = 120;
const MAX_GROUPS = 24;
const GAP = { groups: 6, tiles: 2 };
/** Height of the name of a group, and of a line in a tile. */
const LINE = { group: 24, tile: 15 };
const PADDING = 6;
/** Preferred aspect ratio of groups and tiles. */
const WIDER = { groups: 1.5, tiles: 2.2 };
/** Minimum length of a truncated name. */
const MIN_LETTERS = 4;
/** Area of a tile in square pixels in which a name has room; smaller ones are combined. */
const NAMED_AREA = 1_100;

interface Tile {
  id?: string;
  name: string;
  value: number;
  /** How many items it combines. */
  count?: number;
}

interface Group {
  name: string;
  value: number;
  tiles: Tile[];
}

/** Areas by value within the areas of their groups; small items and groups are combined. */
export function layoutTreemap(chart: TreemapChart, look: Look): Picture {
  const { width, margin, workspace } = look;
  const groups = groupsOf(chart, look);
  const total = groups.reduce((sum, { value }) => sum + value, 0);
  const write = numberWriter(
    groups.flatMap(({ tiles }) => tiles.map(({ value }) => value)),
    chart.unit,
    workspace,
  );
  const writeTotal = numberWriter([total], chart.unit, workspace);
  const axis = axisTitle(chart.valueAxis, chart.unit, workspace);
  const note = withNote(
    chart.note,
    total > 0 ? chartText(workspace, 'treemap.note', { total: writeTotal(total), axis }) : undefined,
  );
  const head = heading(look, { title: chart.title, note });
  const description = chartText(workspace, 'treemap.description', {
    axis,
    count: chart.items.length,
    total: writeTotal(total),
  });
  if (total <= 0)
    return {
      width,
      height: head.bottom + 40,
      marks: [...head.marks, nothing(look, head.bottom, chart.empty)],
      description,
    };
  const room = width - 2 * margin;
  const drawn = groups.reduce((sum, { tiles }) => sum + tiles.length, 0);
  const usual = Math.min(isNarrow(look) ? 900 : 1_000, Math.max(480, drawn * (isNarrow(look) ? 12 : 8)));
  const height = areaHeight(look, head.bottom, margin, usual);
  const space = { x: margin, y: head.bottom, width: room, height };
  const largest = Math.max(...groups.flatMap(({ tiles }) => tiles.map(({ value }) => value)));
  const marks: Mark[] = [];
  const draw = (all: Tile[], area: Area) => {
    const tiles = withRoom(all, area, workspace);
    const pieces = divideArea(
      tiles.map(({ value }) => value),
      area,
      WIDER.tiles,
    );
    for (const [at, piece] of pieces.entries()) {
      const tile = tiles[at]!;
      marks.push(
        ...standingFor(tile.id, tileMarks(look, tile, shrink(piece, GAP.tiles / 2), write, largest)),
      );
    }
  };
  if (chart.groups === undefined && chart.items.every(({ group }) => group === undefined))
    draw(groups[0]!.tiles, space);
  else {
    const pieces = divideArea(
      groups.map(({ value }) => value),
      space,
      WIDER.groups,
    );
    for (const [at, piece] of pieces.entries()) {
      const group = groups[at]!;
      const ground = shrink(piece, GAP.groups / 2);
      marks.push({
        kind: 'rect',
        ...ground,
        fill: look.scheme.sunken,
        radius: radius.control,
        title: `${group.name}: ${write(group.value)}`,
      });
      draw(group.tiles, groupSpace(look, ground, group, write, total, marks));
    }
  }
  return { width, height: head.bottom + height + margin, marks: [...head.marks, ...marks], description };
}

/** The groups by value with their largest items; the rest is combined. */
function groupsOf(chart: TreemapChart, { workspace }: Look): Group[] {
  const groups = new Map(chart.groups?.map((group) => [group.key, group]));
  const byKey = Map.groupBy(
    chart.items.filter(({ value }) => value > 0),
    ({ group }) => group ?? '',
  );
  const all = [...byKey]
    .map(([key, items]) => ({
      isLast: key === '' || groups.get(key)?.isLast === true,
      name: (groups.get(key)?.name ?? key) || chartText(workspace, 'ungrouped'),
      items,
      value: items.reduce((sum, { value }) => sum + value, 0),
    }))
    .sort((a, b) => b.value - a.value);
  const ungrouped = all.filter(({ isLast }) => isLast);
  const named = all.filter(({ isLast }) => !isLast);
  const own = named.length > MAX_GROUPS ? named.slice(0, MAX_GROUPS - 1) : [...named];
  const rest = named.slice(own.length);
  if (rest.length > 0) {
    own.push({
      name: chartText(workspace, 'other', { count: rest.length }),
      items: rest.map(({ name, value }) => ({ name, value })),
      value: rest.reduce((sum, { value }) => sum + value, 0),
      isLast: false,
    });
  }
  own.push(...ungrouped);
  const count = chart.items.length;
  return own.map(({ name, items, value }) => ({
    name,
    value,
    tiles: tilesOf(items, Math.max(4, Math.round((MAX_TILES * items.length) / count)), workspace),
  }));
}

function tilesOf(items: Tile[], most: number, language: InLanguage): Tile[] {
  const ranked = items.toSorted((a, b) => b.value - a.value);
  if (ranked.length <= most) return ranked;
  return combined(ranked.slice(0, most - 1), ranked.slice(most - 1), language);
}

function combined(own: Tile[], rest: Tile[], language: InLanguage): Tile[] {
  const value = rest.reduce((sum, item) => sum + item.value, 0);
  const count = rest.reduce((sum, item) => sum + (item.count ?? 1), 0);
  const others = { name: chartText(language, 'other', { count }), value, count };
  return [...own, others].sort((a, b) => b.value - a.value);
}

/** Combines the tiles whose names have no room. */
function withRoom(tiles: Tile[], { width, height }: Area, language: InLanguage): Tile[] {
  const total = tiles.reduce((sum, { value }) => sum + value, 0);
  const isSmall = ({ value }: Tile) => (value / total) * width * height < NAMED_AREA;
  const small = tiles.filter(isSmall);
  return small.length < 2
    ? tiles
    : combined(
        tiles.filter((tile) => !isSmall(tile)),
        small,
        language,
      );
}

const shrink = ({ x, y, width, height }: Area, by: number): Area => ({
  x: x + by,
  y: y + by,
  width: Math.max(0, width - 2 * by),
  height: Math.max(0, height - 2 * by),
});

/** Writes the name of a group and its share if they fit. @returns the remaining area for its tiles. */
function groupSpace(
  look: Look,
  ground: Area,
  group: Group,
  write: (value: number) => string,
  total: number,
  marks: Mark[],
): Area {
  const inner = shrink(ground, 3);
  if (inner.height < LINE.group + LINE.tile || inner.width < 44) return inner;
  const figure = `${write(group.value)} · ${formatShare(group.value / total, look.workspace)}`;
  const wide = textWidth(figure, 11);
  const hasFigure = wide + textWidth(plain(group.name), LABEL, weight.title) + 24 <= inner.width;
  const y = inner.y + LINE.group / 2;
  marks.push(
    labelAt(look, inner.x + PADDING, y, group.name, {
      weight: weight.title,
      room: inner.width - 2 * PADDING - (hasFigure ? wide + 8 : 0),
    }),
  );
  if (hasFigure)
    marks.push(
      labelAt(look, inner.x + inner.width - PADDING, y, figure, {
        anchor: 'end',
        size: 11,
        fill: look.scheme.text2,
      }),
    );
  return { ...inner, y: inner.y + LINE.group, height: inner.height - LINE.group };
}

/** A tile with its name, and its value below; the value is never truncated. */
function tileMarks(
  look: Look,
  { name, value }: Tile,
  area: Area,
  write: (value: number) => string,
  largest: number,
): Mark[] {
  const { scheme } = look;
  const { x, y, width, height } = area;
  const fill = mix(scheme.panel, scheme.categorical[0]!, 0.16 + 0.34 * Math.sqrt(value / largest));
  const ground: Mark = { kind: 'rect', ...area, radius: 3, fill, title: `${name}: ${write(value)}` };
  const room = width - 2 * PADDING;
  const fit = Math.floor((height - 6) / LINE.tile);
  const figure = write(value);
  const hasFigure = fit > 1 && textWidth(figure, 11) <= room;
  const lines = fitted(name, room, Math.min(3, hasFigure ? fit - 1 : fit));
  if (lines.length === 0) return [ground];
  const ink = textOn(fill, scheme);
  const whole = plain(name);
  const marks = lines.map((text, at): Mark => {
    const mark = label(look, x + PADDING, y + 14 + at * LINE.tile, text, { fill: ink });
    return at === lines.length - 1 && !whole.endsWith(text) ? { ...mark, whole } : mark;
  });
  if (hasFigure)
    marks.push(label(look, x + PADDING, y + 14 + lines.length * LINE.tile, figure, { fill: ink, size: 11 }));
  return [ground, ...marks];
}

/** A name in the lines that fit; empty if not enough of it fits. */
function fitted(name: string, width: number, most: number): string[] {
  const whole = plain(name);
  for (let count = 1; count <= most; count += 1) {
    const lines = wrap(whole, width, LABEL, count);
    const last = lines.at(-1)!;
    if (whole.endsWith(last)) return lines;
    if (count === most && last.length > MIN_LETTERS) return lines;
  }
  return [];
}

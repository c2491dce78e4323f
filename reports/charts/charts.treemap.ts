import { groupNames, heading, withNote } from './charts.parts.ts';
import { type Shades, shadeScale } from './charts.shades.ts';
import { axisTitle, formatCount, formatValue, Labels, plain, textWidth } from './charts.text.ts';
import { colour, FONT_SIZE, INK, inkOn, MARGIN, OTHERS, WIDTH } from './charts.theme.ts';
import type { ChartWorkspace, Layout, TreemapChart } from './charts.types.ts';

const MOST_TILES = 300;
const MOST_GROUPS = 40;
/** Square pixels that a tile needs to be named, and to tell its value: part of a number would mislead. */
const ROOM = { name: 1_200, value: 9_000 };
/** Behind the tiles of a group and its name. */
const GROUND = '#e5e7eb';

type Item = TreemapChart['items'][number];

interface Tile {
  name: string;
  value: number;
  color: string;
}

/** Areas by value, within the areas of their groups; small ones of a group are taken together. */
export function layoutTreemap(chart: TreemapChart, workspace: ChartWorkspace): Layout {
  const labels = new Labels();
  const shades = shadesOf(chart, workspace);
  const grouped = chart.items.some(({ group }) => group !== undefined);
  const groups = groupNames(
    chart.items.map(({ group }) => group ?? ''),
    MOST_GROUPS,
  );
  const kept = groups.all.length;
  const members: Item[][] = groups.all.map(() => []);
  for (const item of chart.items) members[Math.min(groups.of(item.group ?? ''), kept - 1)]!.push(item);
  const tiles = members.map((items, index) =>
    tilesOf(
      chart,
      items,
      Math.max(3, Math.round((MOST_TILES * items.length) / chart.items.length)),
      (item) => (shades ? shades.of(item.shade) : grouped ? colour(index) : colour(0)),
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
  const height = Math.min(1_600, Math.max(420, drawn * (chart.even ? 9 : 6)) + head.bottom);
  const total = tiles.flat().reduce((sum, { value }) => sum + value, 0);
  const area = (WIDTH - 2 * MARGIN) * (height - head.bottom);
  const nodes = tiles.map((of, index) => ({
    name: `${labels.fit(groups.all[index] || 'Without a group', 400, FONT_SIZE)}`,
    itemStyle: { color: GROUND, borderColor: GROUND },
    children: of.map((tile) => leaf(tile, (area * tile.value) / total, chart, workspace)),
  }));
  return {
    width: WIDTH,
    height: height + MARGIN,
    shortened: labels.shortened,
    description: `Areas of ${chart.valueAxis} for ${formatCount(chart.items.length)} items`,
    option: {
      ...head.option,
      series: [
        {
          type: 'treemap',
          left: MARGIN,
          right: MARGIN,
          top: head.bottom,
          bottom: MARGIN,
          roam: false,
          nodeClick: false,
          breadcrumb: { show: false },
          sort: chart.even ? false : 'desc',
          visibleMin: 0,
          label: {
            show: true,
            overflow: 'truncate',
            ellipsis: '…',
            fontFamily: 'sans-serif',
            fontSize: FONT_SIZE,
            lineHeight: 16,
            padding: [3, 4],
          },
          upperLabel: {
            show: grouped,
            height: 22,
            color: INK,
            fontFamily: 'sans-serif',
            fontSize: FONT_SIZE,
            fontWeight: 'bold',
            overflow: 'truncate',
            ellipsis: '…',
            padding: [0, 4],
          },
          levels: [
            { itemStyle: { gapWidth: grouped ? 4 : 1, borderWidth: 0 }, upperLabel: { show: false } },
            { itemStyle: { gapWidth: 1, borderWidth: grouped ? 2 : 0 } },
          ],
          data: grouped ? nodes : (nodes[0]?.children ?? []),
        },
      ],
    },
  };
}

/** The largest as tiles of their own, the rest as one; in an even map those that come first. */
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

function leaf(
  tile: Tile,
  area: number,
  chart: TreemapChart,
  workspace: ChartWorkspace,
): Record<string, unknown> {
  const value = chart.even ? 1 : tile.value;
  const name = plain(tile.name);
  const text =
    chart.even || area < ROOM.value ? name : `${name}\n${formatValue(tile.value, chart.unit, workspace)}`;
  return {
    name,
    value,
    itemStyle: { color: tile.color },
    label: {
      show: area >= ROOM.name,
      color: inkOn(tile.color),
      formatter: () => text,
      minMargin: textWidth('…', FONT_SIZE),
    },
  };
}

/** Five steps from the least to the most, each with its bounds told. */
function shadesOf(chart: TreemapChart, workspace: ChartWorkspace): Shades | undefined {
  if (chart.shadeAxis === undefined) return undefined;
  const unit = chart.shadeUnit ?? 'number';
  return shadeScale(
    chart.items.flatMap(({ shade }) => (shade === undefined ? [] : [shade])),
    (value) => formatValue(value, unit, workspace),
    unit === 'count',
  );
}

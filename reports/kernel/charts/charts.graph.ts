import {
  forceLink,
  forceManyBody,
  forceSimulation,
  forceX,
  forceY,
  type SimulationNodeDatum,
} from 'd3-force';
import { NAME_GAP, placeNames } from './charts.names.ts';
import { groupColour, groupNames, heading, omittedNote, textBorder, withNote } from './charts.parts.ts';
import { Labels, plain, shorten, textWidth } from './charts.text.ts';
import { BACKGROUND_COLOR, FONT_SIZE, MARGIN, PALETTE, WIDTH } from './charts.theme.ts';
import type { GraphChart, Layout } from './charts.types.ts';

const MOST_NODES = 300;
/** Maximum width of a name, in pixels. */
const NAME_WIDTH = 140;
/** Diameters of nodes, in pixels. */
const SIZE = { centre: 22, other: 12 };

/** A force-directed graph. Names without free space are omitted. */
export function layoutGraph(chart: GraphChart): Layout {
  const labels = new Labels();
  const nodes = chart.nodes.slice(0, MOST_NODES);
  const all = chart.total ?? chart.nodes.length;
  const at = new Map(nodes.map(({ id }, index) => [id, index]));
  const edges = chart.edges.filter(
    ({ source, target }) => at.has(source) && at.has(target) && source !== target,
  );
  const groups = groupNames(
    nodes.map(({ group }) => group),
    PALETTE.length,
  );
  const head = heading(
    {
      title: chart.title,
      note: withNote(withNote(chart.note, `Colour: ${chart.groupAxis}`), omittedNote(nodes.length, all)),
    },
    groups.all.map((name, index) => ({ name, color: groupColour(index, groups.kept) })),
    labels,
    WIDTH,
  );
  const height = Math.round(Math.min(1_400, 420 + nodes.length * 4));
  const width = WIDTH - 2 * (MARGIN + 60);
  const room = { left: MARGIN + 60, top: head.bottom + 16, width, height: height - MARGIN - 40 };
  const places = placeNodes(
    nodes.length,
    edges.map(({ source, target }) => [at.get(source)!, at.get(target)!]),
    room,
  );
  const names = nodes.map(({ name }) => shorten(plain(name), NAME_WIDTH, FONT_SIZE));
  const named = placeNames(
    nodes.map(({ centre }, index) => ({
      x: room.left + places[index]![0],
      y: room.top + places[index]![1],
      radius: (centre ? SIZE.centre : SIZE.other) / 2,
      width: textWidth(names[index]!, FONT_SIZE),
    })),
    { left: 2, top: head.bottom, right: WIDTH - 2, bottom: head.bottom + height - 2 },
    ['bottom', 'top', 'right', 'left'],
  );
  return {
    width: WIDTH,
    height: head.bottom + height,
    shortened: labels.shortened,
    description: `${nodes.length} of ${all} nodes joined by ${edges.length} lines`,
    option: {
      ...head.option,
      series: [
        {
          type: 'graph',
          // the library's layout is slower and places nodes outside of the chart
          layout: 'none',
          coordinateSystem: 'view',
          left: room.left,
          top: room.top,
          width: room.width,
          height: room.height,
          preserveAspect: false,
          roam: false,
          edgeSymbol: ['none', 'arrow'],
          edgeSymbolSize: 5,
          lineStyle: { color: '#8a919c', width: 1, opacity: 1, curveness: 0 },
          data: nodes.map(({ id, name, group, centre }, index) => ({
            x: places[index]![0],
            y: places[index]![1],
            id,
            name: named[index] ? labels.fit(name, NAME_WIDTH, FONT_SIZE) : '',
            symbolSize: centre ? SIZE.centre : SIZE.other,
            itemStyle: {
              color: groupColour(groups.of(group), groups.kept),
              borderColor: BACKGROUND_COLOR,
              borderWidth: 1,
            },
            label: {
              show: named[index] !== undefined,
              position: named[index]?.side,
              offset: [named[index]?.shift ?? 0, 0],
              ...(centre ? { fontWeight: 'bold' } : {}),
            },
          })),
          links: edges.map(({ source, target }) => ({ source: at.get(source), target: at.get(target) })),
          label: {
            ...textBorder,
            distance: NAME_GAP,
            fontFamily: 'sans-serif',
            fontSize: FONT_SIZE,
            formatter: ({ name }: { name: string }) => name,
          },
        },
      ],
    },
  };
}

/** Number of iterations, after which the nodes hardly move. */
const STEPS = 120;

/**
 * Computes a force-directed layout, which is deterministic.
 * @param edges pairs of indexes.
 * @returns x and y of each node, fitted into the size.
 */
function placeNodes(
  count: number,
  edges: readonly (readonly [number, number])[],
  size: { width: number; height: number },
): [x: number, y: number][] {
  const nodes = Array.from({ length: count }, (): SimulationNodeDatum => ({}));
  forceSimulation(nodes)
    .alphaDecay(1 - 0.001 ** (1 / STEPS))
    .force('repulsion', forceManyBody())
    .force('edges', forceLink(edges.map(([source, target]) => ({ source, target }))))
    // keeps unconnected components together
    .force('x', forceX())
    .force('y', forceY())
    .stop()
    .tick(STEPS);
  const xs = spread(
    nodes.map(({ x }) => x!),
    size.width,
  );
  const ys = spread(
    nodes.map(({ y }) => y!),
    size.height,
  );
  return xs.map((x, node) => [x, ys[node]!]);
}

/** Scales values to the range from 0 to `room`. */
function spread(values: number[], room: number): number[] {
  const least = Math.min(...values);
  const span = Math.max(...values) - least;
  return values.map((value) => (span > 0 ? ((value - least) / span) * room : room / 2));
}

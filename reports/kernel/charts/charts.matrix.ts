import { textOn } from './charts.colours.ts';
import { clustered, type Group, groupLines, MOST_GROUPS } from './charts.grouping.ts';
import { fillOf, isNarrow } from './charts.look.ts';
import { type Look, line, type Mark, type Picture, px, standingFor } from './charts.marks.ts';
import { numberWriter } from './charts.numbers.ts';
import { heading, LABEL, type LegendEntry, label, labelAt, nothing, withNote } from './charts.parts.ts';
import { plain } from './charts.text.ts';
import { chartText } from './charts.texts.ts';
import { weight } from './charts.tokens.ts';
import type { FlowDirection, MatrixChart } from './charts.types.ts';
import { textWidth } from './charts.widths.ts';

const ROW = 22;
/** Height of the name of a group of rows. */
const GROUP = 24;
const LABELS = { rows: 240, columns: 170 };
const COLUMN = { least: 18, numbers: 34, most: 56 };
const STEPS = 5;

interface Frame {
  look: Look;
  chart: MatrixChart;
  rows: Group[];
  columns: Group[];
  cells: Map<string, number>;
  left: number;
  top: number;
  wide: number;
  /** Top of each row. */
  tops: number[];
  bottom: number;
  isDots: boolean;
  stepOf(value: number): number;
}

/** A cell per pair: a dot for a single relation, else a shade with its number; long axes are grouped one level up. */
export function layoutMatrix(chart: MatrixChart, look: Look): Picture {
  const { width, margin } = look;
  const counts = { rows: chart.rows.map(() => 0), columns: chart.columns.map(() => 0) };
  for (const [row, column] of chart.cells) {
    counts.rows[row]! += 1;
    counts.columns[column]! += 1;
  }
  const names = nameRoom(look, chart, chart.rows);
  const most = Math.max(
    6,
    Math.min(MOST_GROUPS, Math.floor((width - 2 * margin - names - 12) / COLUMN.least)),
  );
  const grouped = {
    rows: groupLines(
      chart.rows,
      counts.rows,
      Math.min(MOST_GROUPS, chart.most ?? MOST_GROUPS),
      look.workspace,
    ),
    columns: groupLines(chart.columns, counts.columns, most, look.workspace),
  };
  const cells = sumCells(chart, grouped.rows.groups, grouped.columns.groups);
  const pairs = [...cells].map(([key, value]): [number, number, number] => [
    ...(key.split(' ').map(Number) as [number, number]),
    value,
  ]);
  // the combined lines would make all others pale
  const own = pairs.filter(
    ([row, column]) => !grouped.rows.groups[row]!.isRest && !grouped.columns.groups[column]!.isRest,
  );
  // single lines beside combined ones keep their dots
  const isFolded = grouped.rows.level + grouped.columns.level > 0 || own.length === 0;
  const isGrouped =
    isFolded || [...grouped.rows.groups, ...grouped.columns.groups].some(({ isRest }) => isRest);
  const order =
    chart.ordered && !isGrouped ? undefined : clustered(grouped.rows.groups, grouped.columns.groups, pairs);
  const rows = order ? order.rows.map((at) => grouped.rows.groups[at]!) : grouped.rows.groups;
  const columns = order ? order.columns.map((at) => grouped.columns.groups[at]!) : grouped.columns.groups;
  const placed = new Map(
    pairs.map(([row, column, value]) => [
      `${order ? order.rows.indexOf(row) : row} ${order ? order.columns.indexOf(column) : column}`,
      value,
    ]),
  );
  const values = (own.length > 0 ? own : pairs).map(([, , value]) => value);
  const largest = values.reduce((max, value) => Math.max(max, value), 0);
  const isDots = largest <= 1 && !isFolded;
  const step = Math.max(1, Math.ceil(largest / STEPS));
  const stepOf = (value: number) =>
    largest <= STEPS
      ? Math.round(1 + ((value - 1) * 5) / Math.max(1, largest - 1))
      : Math.min(6, 1 + Math.ceil(value / step) - 1);
  const arrows = isDots && chart.flows ? chartText(look.workspace, 'matrix.arrows') : undefined;
  const summary = isFolded ? 'grouped' : isGrouped ? 'combined' : undefined;
  const note = [chart.note, arrows, noteOf(chart, look, grouped, summary)].reduce(withNote, undefined);
  const head = heading(
    look,
    { title: chart.title, note },
    isDots || largest <= 1 ? [] : legendOf(chart, look, largest, step, stepOf),
  );
  const description = chartText(look.workspace, 'matrix.description', {
    pairs: chart.cells.length,
    rows: chart.rows.length,
    columns: chart.columns.length,
  });
  if (rows.length === 0 || columns.length === 0) {
    return {
      width,
      height: head.bottom + 40,
      marks: [...head.marks, nothing(look, head.bottom, chart.empty)],
      description,
    };
  }
  const frame = frameOf({ look, chart, rows, columns, cells: placed, isDots, stepOf }, head.bottom);
  return {
    width,
    height: frame.bottom + margin,
    marks: [...head.marks, ...columnNames(frame), ...rowNames(frame), ...cellMarks(frame)],
    description,
  };
}

function sumCells({ cells }: MatrixChart, rows: Group[], columns: Group[]): Map<string, number> {
  const rowOf = new Map(rows.flatMap(({ members }, at) => members.map((member) => [member, at])));
  const columnOf = new Map(columns.flatMap(({ members }, at) => members.map((member) => [member, at])));
  const sums = new Map<string, number>();
  for (const [row, column, value] of cells) {
    const [r, c] = [rowOf.get(row), columnOf.get(column)];
    if (r === undefined || c === undefined) continue;
    sums.set(`${r} ${c}`, (sums.get(`${r} ${c}`) ?? 0) + value);
  }
  return sums;
}

function noteOf(
  chart: MatrixChart,
  { workspace }: Look,
  grouped: { rows: { groups: Group[]; level: number }; columns: { groups: Group[]; level: number } },
  summary: 'grouped' | 'combined' | undefined,
): string | undefined {
  const shown = ({ groups }: { groups: Group[] }) =>
    groups.reduce((sum, { members }) => sum + members.length, 0);
  const empty = (all: number, of: { groups: Group[] }, axis: string) =>
    all > shown(of)
      ? chartText(workspace, 'matrix.empty', { axis: plain(axis), count: all - shown(of) })
      : undefined;
  const parts = [
    summary
      ? chartText(workspace, `matrix.${summary}`, { rows: chart.rows.length, columns: chart.columns.length })
      : undefined,
    empty(chart.rows.length, grouped.rows, chart.rowAxis),
    empty(chart.columns.length, grouped.columns, chart.columnAxis),
  ];
  return parts.reduce(withNote, undefined);
}

function legendOf(
  chart: MatrixChart,
  look: Look,
  largest: number,
  step: number,
  stepOf: (value: number) => number,
): LegendEntry[] {
  const write = numberWriter([largest], chart.unit, look.workspace);
  const limits =
    largest <= STEPS
      ? Array.from({ length: largest }, (_, at) => at + 1)
      : Array.from({ length: Math.ceil(largest / step) }, (_, at) => Math.min(largest, (at + 1) * step));
  return limits.map((limit, at) => {
    const from = at === 0 ? 1 : limits[at - 1]! + 1;
    return {
      name: from === limit ? write(limit) : `${write(from)} – ${write(limit)}`,
      paint: { step: stepOf(limit) },
    };
  });
}

function frameOf(of: Omit<Frame, 'left' | 'top' | 'wide' | 'tops' | 'bottom'>, headBottom: number): Frame {
  const { look, chart, rows, columns } = of;
  const narrow = isNarrow(look);
  const left = look.margin + nameRoom(look, chart, rows) + 12;
  const upright =
    Math.min(
      narrow ? 130 : LABELS.columns,
      Math.max(30, ...columns.map(({ name }) => textWidth(plain(name), LABEL))),
    ) + 8;
  const top = headBottom + upright + 26;
  const wide = Math.min(
    of.isDots ? 34 : COLUMN.most,
    Math.max(COLUMN.least, (look.width - look.margin - left) / columns.length),
  );
  const tops: number[] = [];
  let y = top;
  for (const at of rows.keys()) {
    if (hasHeading(rows, at)) y += GROUP;
    tops.push(y);
    y += ROW;
  }
  return { ...of, left, top, wide, tops, bottom: y };
}

/** The titles of rows and columns. */
const axisNames = ({ rowAxis, columnAxis }: MatrixChart) =>
  [`${plain(rowAxis)} ↓`, `${plain(columnAxis)} →`] as const;

/** The width of the names of rows, and of the titles above them. */
const nameRoom = (look: Look, chart: MatrixChart, rows: readonly { name: string }[]): number =>
  Math.min(
    isNarrow(look) ? 170 : LABELS.rows,
    Math.max(
      ...axisNames(chart).map((title) => textWidth(title, LABEL) + 2),
      rows.reduce((most, { name }) => Math.max(most, textWidth(plain(name), LABEL)), 60),
    ),
  );

/** Whether a row begins a group with a name, where there are several groups of more than one row. */
function hasHeading(rows: Group[], at: number): boolean {
  const above = rows[at]!.above;
  if (!above || (at > 0 && rows[at - 1]!.above?.key === above.key)) return false;
  const keys = new Set(rows.map((row) => row.above?.key));
  return isNested(rows) && keys.size > 1 && keys.size <= rows.length * 0.6;
}

/** Whether most lines have something above them, so that the others are not read as part of a group. */
const isNested = (lines: readonly Group[]): boolean =>
  lines.filter(({ above }) => above).length > lines.length * 0.6;

function columnNames({ look, chart, columns, left, top, wide, bottom }: Frame): Mark[] {
  const { scheme } = look;
  const first = top - 8;
  const room = isNarrow(look) ? 130 : LABELS.columns;
  const [rowTitle, columnTitle] = axisNames(chart);
  return [
    label(look, look.margin, first, rowTitle, {
      fill: scheme.text2,
      room: left - look.margin - 14,
    }),
    label(look, look.margin, first - 16, columnTitle, {
      fill: scheme.text2,
      room: left - look.margin - 14,
    }),
    ...columns.flatMap(({ name, above }, at): Mark[] => {
      const x = left + at * wide;
      const isNew = at > 0 && isNested(columns) && columns[at - 1]!.above?.key !== above?.key;
      return [
        label(look, x + wide / 2 + 4, first, name, { turned: true, room }),
        line([x, top], [x, bottom], isNew ? scheme.hairlineStrong : scheme.hairline),
      ];
    }),
    line([left + columns.length * wide, top], [left + columns.length * wide, bottom], scheme.hairline),
  ];
}

function rowNames({ look, chart, rows, columns, left, wide, tops, bottom }: Frame): Mark[] {
  const { scheme, margin } = look;
  const right = left + columns.length * wide;
  const marks = rows.flatMap(({ name, above, members }, at): Mark[] => {
    const y = tops[at]!;
    const ref = members.length === 1 ? chart.rows[members[0]!]!.key : undefined;
    return [
      ...(hasHeading(rows, at)
        ? [
            labelAt(look, margin, y - GROUP / 2 + 2, above!.name, {
              weight: weight.title,
              size: 11,
              fill: scheme.text2,
              room: left - margin - 14,
            }),
          ]
        : []),
      ...standingFor(ref, [
        labelAt(look, left - 10, y + ROW / 2, name, { anchor: 'end', room: left - margin - 12 }),
      ]),
      line([left, y], [right, y], scheme.hairline),
    ];
  });
  return [...marks, line([left, bottom], [right, bottom], scheme.hairline)];
}

function cellMarks({ look, chart, rows, columns, cells, left, wide, tops, isDots, stepOf }: Frame): Mark[] {
  const { scheme } = look;
  const write = numberWriter(cells.values(), chart.unit, look.workspace);
  const flows = new Map(
    chart.flows?.map((flow, at) => [`${chart.cells[at]![0]} ${chart.cells[at]![1]}`, flow]),
  );
  return [...cells].flatMap(([key, value]): Mark[] => {
    const [row, column] = key.split(' ').map(Number) as [number, number];
    const [x, y] = [left + column * wide, tops[row]!];
    const title = `${rows[row]!.name}, ${columns[column]!.name}: ${write(value)}`;
    const isRest = rows[row]!.isRest || columns[column]!.isRest;
    if (isDots && !isRest) {
      const [centre, middle] = [x + wide / 2, y + ROW / 2];
      const flow = flows.get(`${rows[row]!.members[0]} ${columns[column]!.members[0]}`);
      const fill = scheme.categorical[0]!;
      if (flow) return flowArrows(look, flow, [centre, middle], wide, { fill, title });
      return [{ kind: 'circle', x: centre, y: middle, radius: 5, fill, title }];
    }
    const fill = isRest ? scheme.sunken : fillOf({ step: stepOf(value) }, look);
    const rect: Mark = {
      kind: 'rect',
      x: x + 1,
      y: y + 1,
      width: wide - 2,
      height: ROW - 2,
      fill,
      radius: 2,
      title,
    };
    if (textWidth(write(value), 11) + 2 > wide) return [rect];
    return [
      rect,
      labelAt(look, x + wide / 2, y + ROW / 2, write(value), {
        anchor: 'middle',
        size: 11,
        fill: textOn(fill, scheme),
      }),
    ];
  });
}

/** Arrows to the name of the column, to that of the row, or to both. @param wide the width of the cell. */
function flowArrows(
  { workspace }: Look,
  flow: FlowDirection,
  [x, y]: [number, number],
  wide: number,
  { fill, title }: { fill: string; title: string },
): Mark[] {
  const size = flow === 'bidirectional' ? Math.min(5, wide / 5) : 5;
  const up = (at: number): Mark => ({
    kind: 'path',
    d: `M${px(at)} ${px(y - size)}L${px(at + size)} ${px(y + size)}L${px(at - size)} ${px(y + size)}Z`,
    fill,
    title: chartText(workspace, 'matrix.toColumn', { title }),
  });
  const left = (at: number): Mark => ({
    kind: 'path',
    d: `M${px(at - size)} ${px(y)}L${px(at + size)} ${px(y - size)}L${px(at + size)} ${px(y + size)}Z`,
    fill,
    title: chartText(workspace, 'matrix.toRow', { title }),
  });
  if (flow === 'bidirectional') return [left(x - size - 0.5), up(x + size + 0.5)];
  return [flow === 'forward' ? up(x) : left(x)];
}

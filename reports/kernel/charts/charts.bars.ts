import { textOn } from './charts.colours.ts';
import { fillOf, isNarrow } from './charts.look.ts';
import { type Look, line, type Mark, type Picture, standingFor } from './charts.marks.ts';
import { axisTitle, formatShare, numberWriter } from './charts.numbers.ts';
import {
  emptyStyle,
  heading,
  LABEL,
  type LegendEntry,
  label,
  labelAt,
  nothing,
  omittedNote,
  type Scale,
  scaleOf,
  seriesPaint,
  sumOf,
  valueAxisBelow,
  withNote,
} from './charts.parts.ts';
import { plain, shorten } from './charts.text.ts';
import { chartText } from './charts.texts.ts';
import { weight } from './charts.tokens.ts';
import type { BarsChart, Paint } from './charts.types.ts';
import { textWidth } from './charts.widths.ts';

const MOST = 200;
const ROW = 26;
const BAR = 16;
/** Height of a bar beside others in a row. */
const BESIDE = 14;
/** Rows from which the axis is drawn, since values stand beside the bars. */
const AXIS_FROM = 2;

type Item = BarsChart['items'][number] & { isRest?: boolean };

interface Columns {
  /** Right edges of the columns of share and running sum. */
  share: number;
  running: number | undefined;
}

interface Frame {
  look: Look;
  chart: BarsChart;
  items: Item[];
  paints: Paint[];
  write: (value: number) => string;
  left: number;
  right: number;
  top: number;
  row: number;
  scale: Scale;
  columns: Columns | undefined;
}

/** One row per item; the height follows from the number of rows, so that labels do not overlap. */
export function layoutBars(chart: BarsChart, look: Look): Picture {
  const { width, margin, scheme } = look;
  const items = shownItems(chart, look);
  const several = chart.series.length > 1;
  const isEmpty = items.every(({ values }) => values.every((value) => value === 0));
  const kept = chart.rest ? chart.series.length - 1 : chart.series.length;
  const paints = chart.series.map((_, at) => chart.paints?.[at] ?? seriesPaint(at, kept));
  const totals = chart.series.map((_, at) => sumOf(chart.items.map(({ values }) => values[at])));
  const writeTotal = numberWriter(totals, chart.unit, look.workspace);
  const legend = chart.series.map(
    (name, at): LegendEntry => ({
      name,
      paint: paints[at]!,
      ...(chart.beside || chart.sums === false || totals[at] === null
        ? {}
        : { extra: writeTotal(totals[at]!) }),
    }),
  );
  const note = withNote(
    chart.note,
    chart.shares ? undefined : omittedNote(look, items.length, chart.items.length),
  );
  const head = heading(look, { title: chart.title, note }, several && !isEmpty ? legend : []);
  if (isEmpty) {
    return {
      width,
      height: head.bottom + 40,
      marks: [...head.marks, nothing(look, head.bottom, chart.empty)],
      description: chart.title,
    };
  }
  const ends = items.flatMap((item) => endsOf(chart, item));
  // the longest bar decides the unit of values and axis, not the sum of the rest, which has no bar
  const bars = items.filter(({ isRest }) => !isRest).flatMap((item) => endsOf(chart, item));
  const largest = Math.max(...bars.map((value) => Math.abs(value ?? 0)));
  const write = numberWriter(bars, chart.unit, look.workspace);
  const runningRoom = Math.max(96, textWidth(chartText(look.workspace, 'bars.running'), LABEL) + 24);
  const share = width - margin - (isNarrow(look) ? 0 : runningRoom);
  const columns = chart.shares ? { share, running: isNarrow(look) ? undefined : width - margin } : undefined;
  const valueRoom = Math.max(...ends.map((value) => textWidth(value === null ? '–' : write(value), LABEL)));
  const names = Math.min(
    width * (isNarrow(look) ? (chart.parts ? 0.46 : 0.36) : 0.27),
    Math.max(60, ...items.map(nameWidth)),
  );
  const right = (columns ? columns.share - 48 : width - margin) - valueRoom - 10;
  const lanes = chart.beside && several ? chart.series.length : 1;
  const frame: Frame = {
    look,
    chart,
    items,
    paints,
    write,
    left: margin + names + 14,
    right,
    top: head.bottom + (columns || chart.itemAxis ? 22 : 0),
    row: Math.max(ROW, lanes * BESIDE + 12),
    scale: scaleFor(chart, items),
    columns,
  };
  const bottom = frame.top + items.length * frame.row;
  const isExact = !several && items.length < AXIS_FROM;
  const axis =
    chart.parts || isExact
      ? []
      : valueAxisBelow(
          look,
          frame.scale,
          chart.unit,
          { left: frame.left, right, top: frame.top, bottom },
          largest,
        );
  const meaning = axisTitle(chart.valueAxis, chart.unit, look.workspace);
  const isLong = textWidth(plain(meaning), LABEL) > width - margin - frame.left;
  const title = chart.parts
    ? []
    : [
        label(look, isLong ? margin : frame.left, bottom + (isExact ? 16 : 34), meaning, {
          fill: scheme.text2,
          room: width - 2 * margin,
        }),
      ];
  return {
    width,
    height: bottom + (chart.parts ? margin : 34 + margin),
    marks: [...head.marks, ...headersOf(frame), ...axis, ...rowsOf(frame), ...title],
    description: descriptionOf(frame),
  };
}

const nameWidth = ({ name, hint }: Item): number =>
  textWidth(plain(name), LABEL) + (hint ? 8 + textWidth(hint, LABEL) : 0);

/** The items in rows; with shares, those beyond the bound are combined. */
function shownItems(chart: BarsChart, look: Look): Item[] {
  const most = chart.most ?? MOST;
  if (chart.items.length <= most || !chart.shares) return chart.items.slice(0, most);
  const rest = chart.items.slice(most - 1);
  const values = chart.series.map((_, at) => sumOf(rest.map((item) => item.values[at])));
  return [
    ...chart.items.slice(0, most - 1),
    {
      isRest: true,
      name: chartText(look.workspace, 'other', { count: rest.length }),
      values,
      paint: 'others',
    },
  ];
}

/** The numbers written in a row: of each bar, or of the stack. */
const endsOf = ({ beside, series }: BarsChart, { values }: Item): (number | null)[] =>
  beside ? series.map((_, at) => values[at] ?? null) : [sumOf(values)];

function scaleFor(chart: BarsChart, items: Item[]): Scale {
  if (chart.parts) return { min: 0, max: 1, interval: 0.25 };
  // stacks of mixed signs grow in both directions
  const lengths = items.flatMap(({ values, isRest }) =>
    isRest
      ? []
      : chart.beside
        ? values.map((value) => value ?? 0)
        : [
            sumOf(values.map((value) => Math.max(0, value ?? 0)))!,
            sumOf(values.map((value) => Math.min(0, value ?? 0)))!,
          ],
  );
  return scaleOf(lengths, { zero: true, padded: false, whole: chart.unit === 'count', steps: 5 });
}

function headersOf({ look, chart, left, top, columns }: Frame): Mark[] {
  const fill = look.scheme.text2;
  const y = top - 10;
  const names = label(look, look.margin, y, chart.itemAxis, {
    fill,
    room: Math.max(220, left - look.margin - 8),
  });
  if (!columns) return [names];
  return [
    names,
    label(look, columns.share, y, chartText(look.workspace, 'bars.share'), { fill, anchor: 'end' }),
    ...(columns.running === undefined
      ? []
      : [
          label(look, columns.running, y, chartText(look.workspace, 'bars.running'), { fill, anchor: 'end' }),
        ]),
  ];
}

function rowsOf(frame: Frame): Mark[] {
  const { look, chart, items, left, right, top, row, scale, columns } = frame;
  const { scheme, margin } = look;
  const total = chart.items.reduce((sum, { values }) => sum + (sumOf(values) ?? 0), 0);
  const xOf = (value: number) => left + ((value - scale.min) / (scale.max - scale.min)) * (right - left);
  let running = 0;
  const marks = items.flatMap((item, at) => {
    const y = top + at * row + row / 2;
    const sum = sumOf(item.values);
    running += sum ?? 0;
    const hint = item.hint ? textWidth(item.hint, LABEL) + 8 : 0;
    const name = labelAt(look, margin, y, item.name, { room: left - margin - 14 - hint });
    const hints = item.hint
      ? [labelAt(look, margin + textWidth(name.text, LABEL) + 8, y, item.hint, { fill: scheme.text2 })]
      : [];
    const shares: Mark[] =
      columns && sum !== null && total > 0
        ? [
            labelAt(look, columns.share, y, formatShare(sum / total, look.workspace), {
              anchor: 'end',
              fill: scheme.text2,
            }),
            ...(columns.running === undefined
              ? []
              : [
                  labelAt(look, columns.running, y, formatShare(running / total, look.workspace), {
                    anchor: 'end',
                    fill: scheme.text2,
                  }),
                ]),
          ]
        : [];
    // the sum of many has no bar, which would make all others short
    const bars = item.isRest
      ? [labelAt(look, xOf(0) + 6, y, restText(frame, sum ?? 0))]
      : chart.beside && chart.series.length > 1
        ? lanesOf(frame, item, y, xOf)
        : stackOf(frame, item, y, xOf);
    return standingFor(item.id, [name, ...hints, ...bars, ...shares]);
  });
  const zero = xOf(0);
  return [...marks, line([zero, top], [zero, top + items.length * row], scheme.border)];
}

/** The sum of the rest, and that it has no bar where there is room to say so. */
function restText({ look, left, columns, write }: Frame, sum: number): string {
  const text = chartText(look.workspace, 'bars.noBar', { value: write(sum) });
  return columns && left + 6 + textWidth(text, LABEL) > columns.share - 48 ? write(sum) : text;
}

/** The bars of a row one below the other, each with its value. */
function lanesOf(
  { look, chart, paints, write }: Frame,
  { name, values }: Item,
  y: number,
  xOf: (value: number) => number,
): Mark[] {
  const zero = xOf(0);
  const first = y - (chart.series.length * BESIDE) / 2;
  return chart.series.flatMap((series, at) => {
    const value = values[at] ?? null;
    const center = first + (at + 0.5) * BESIDE;
    const end = xOf(value ?? 0);
    const text = labelAt(look, Math.max(zero, end) + 6, center, value === null ? '–' : write(value), {
      fill: value === null ? look.scheme.text3 : look.scheme.text,
    });
    if (!value) return [text];
    const bar: Mark = {
      kind: 'rect',
      x: Math.min(zero, end),
      y: center - (BESIDE - 3) / 2,
      width: Math.max(1, Math.abs(end - zero)),
      height: BESIDE - 3,
      fill: fillOf(paints[at]!, look),
      title: `${name}, ${series}: ${write(value)}`,
    };
    return [bar, text];
  });
}

/** The parts of a row one after the other, and their sum. */
function stackOf(
  frame: Frame,
  { name, values, paint }: Item,
  y: number,
  xOf: (value: number) => number,
): Mark[] {
  const { look, chart, paints, write } = frame;
  const sum = sumOf(values);
  const all = values.reduce<number>((size, value) => size + Math.abs(value ?? 0), 0);
  const several = chart.series.length > 1;
  const at = { up: 0, down: 0 };
  const marks: Mark[] = [];
  for (const [part, series] of chart.series.entries()) {
    const given = values[part] ?? 0;
    if (given === 0) continue;
    const value = chart.parts && all > 0 ? given / all : given;
    const side = value > 0 ? 'up' : 'down';
    const [from, to] = [xOf(at[side]), xOf(at[side] + value)];
    at[side] += value;
    const own = (several ? undefined : paint) ?? paints[part]!;
    const isNone = own === 'none';
    const fill = fillOf(own, look);
    const wide = Math.abs(to - from);
    const gap = several && wide > 3 ? 1 : 0;
    marks.push({
      kind: 'rect',
      x: Math.min(from, to),
      y: y - BAR / 2,
      width: Math.max(1, wide - gap),
      height: BAR,
      ...(isNone ? emptyStyle(look) : { fill }),
      ...(several ? {} : { radius: 2 }),
      title: several ? `${name}, ${series}: ${write(given)}` : `${name}: ${write(given)}`,
    });
    const text = write(given);
    if (several && wide > textWidth(text, 11) + 10) {
      marks.push(
        labelAt(look, (from + to) / 2, y, text, {
          anchor: 'middle',
          size: 11,
          fill: textOn(fill, look.scheme),
          ...(isNone ? { halo: look.scheme.panel } : {}),
        }),
      );
    }
  }
  const end = chart.parts ? frame.right : xOf(at.up);
  marks.push(
    labelAt(look, end + 6, y, sum === null ? '–' : write(sum), {
      fill: sum === null ? look.scheme.text3 : look.scheme.text,
      weight: several ? weight.emphasis : weight.regular,
      halo: look.scheme.panel,
    }),
  );
  return marks;
}

function descriptionOf({ look, chart, items, write }: Frame): string {
  const [first] = items;
  const most = first && sumOf(first.values);
  const values = {
    value: chart.valueAxis,
    shown: items.length,
    total: chart.items.length,
    axis: chart.itemAxis,
  };
  if (most === null || most === undefined) return chartText(look.workspace, 'bars.description', values);
  const name = shorten(first!.name, 400, LABEL);
  return chartText(look.workspace, 'bars.descriptionFirst', { ...values, name, most: write(most) });
}

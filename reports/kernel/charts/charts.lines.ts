import { mix } from './charts.colours.ts';
import { areaHeight, fillOf, isNarrow } from './charts.look.ts';
import { type Look, line, type Mark, type Picture, px } from './charts.marks.ts';
import { axisTitle, formatDate, formatMonth, numberWriter, tickWriter } from './charts.numbers.ts';
import { heading, LABEL, label, labelAt, nothing, scaleOf, seriesPaint, ticksOf } from './charts.parts.ts';
import { plain, shorten } from './charts.text.ts';
import { chartText } from './charts.texts.ts';
import { formatSpan, spanStarts } from './charts.time.ts';
import { type, weight } from './charts.tokens.ts';
import type { LinesChart } from './charts.types.ts';
import { textWidth } from './charts.widths.ts';

/** Number of series up to which their names stand at the ends of the lines. */
const DIRECT = 4;
const NAME_WIDTH = 140;

/** Lines over time, interrupted at missing values; of one point in time only the figures. */
export function layoutLines(chart: LinesChart, look: Look): Picture {
  const { width, workspace } = look;
  const kept = chart.rest ? chart.series.length - 1 : chart.series.length;
  const paints = chart.series.map(({ paint }, at) =>
    paint === 'none' ? 'others' : (paint ?? seriesPaint(at, kept)),
  );
  const fills = paints.map((paint) => fillOf(paint, look));
  const times = chart.times.map((time) => Date.parse(time));
  const isDirect = chart.series.length <= DIRECT;
  const legend = isDirect ? [] : chart.series.map(({ name }, at) => ({ name, paint: paints[at]! }));
  const known = chart.series.flatMap(({ values }) => values.filter((value) => value !== null));
  const head = heading(look, chart, legend);
  const description = chartText(workspace, 'lines.description', {
    value: chart.valueAxis,
    count: times.length,
  });
  if (known.length === 0)
    return {
      width,
      height: head.bottom + 40,
      marks: [...head.marks, nothing(look, head.bottom, chart.empty)],
      description,
    };
  if (times.length === 1) return figureOf(chart, look, head, description);
  const write = numberWriter(known, chart.unit, workspace);
  const scale = scaleOf(known, { padded: true, whole: chart.unit === 'count', steps: 5 });
  const ticks = ticksOf(scale);
  const writeTick = tickWriter(ticks, chart.unit, workspace);
  const left = look.margin + Math.max(...ticks.map((tick) => textWidth(writeTick(tick), LABEL))) + 10;
  const ends = isDirect ? chart.series.map((series) => endOf(series, write)) : [];
  const right = width - look.margin - (isDirect ? Math.max(0, ...ends.map(({ wide }) => wide)) + 10 : 8);
  const top = head.bottom + 22;
  const bottom = top + areaHeight(look, top, 30 + look.margin, isNarrow(look) ? 200 : 260);
  const [first, last] = [times[0]!, times.at(-1)!];
  const xOf = (time: number) =>
    last > first ? left + ((time - first) / (last - first)) * (right - left) : (left + right) / 2;
  const yOf = (value: number) => bottom - ((value - scale.min) / (scale.max - scale.min)) * (bottom - top);
  const { scheme } = look;
  const grid = ticks.flatMap((tick): Mark[] => [
    line([left, yOf(tick)], [right, yOf(tick)], tick === 0 ? scheme.border : scheme.hairline),
    labelAt(look, left - 8, yOf(tick), writeTick(tick), { anchor: 'end', fill: scheme.text2 }),
  ]);
  const isArea = chart.series.length === 1 && scale.min === 0;
  const lines = chart.series.flatMap(({ name, values }, at): Mark[] => {
    const stretches = stretchesOf(
      values.map((value, n) => (value === null ? null : [xOf(times[n]!), yOf(value)])),
    );
    const dots = stretches
      .filter(({ length }) => length === 1)
      .map(
        ([point]): Mark => ({ kind: 'circle', x: point![0]!, y: point![1]!, radius: 3, fill: fills[at]! }),
      );
    const long = stretches.filter(({ length }) => length > 1);
    const path = (points: number[][]) =>
      points.map(([x, y], n) => `${n === 0 ? 'M' : 'L'}${px(x!)} ${px(y!)}`).join('');
    return [
      ...(isArea
        ? long.map(
            (points): Mark => ({
              kind: 'path',
              d: `${path(points)}L${px(points.at(-1)![0]!)} ${px(bottom)}L${px(points[0]![0]!)} ${px(bottom)}Z`,
              fill: mix(scheme.panel, fills[at]!, 0.12),
            }),
          )
        : []),
      ...(long.length > 0
        ? [{ kind: 'path', d: long.map(path).join(''), stroke: fills[at]!, width: 2, title: name } as const]
        : []),
      ...dots,
    ];
  });
  return {
    width,
    height: bottom + 30 + look.margin,
    marks: [
      ...head.marks,
      label(look, look.margin, top - 10, axisTitle(chart.valueAxis, chart.unit, workspace), {
        fill: scheme.text2,
        room: right - look.margin,
      }),
      ...grid,
      ...timeTicks(chart, look, times, xOf, bottom),
      ...lines,
      ...endNames(
        look,
        ends.map((end, at) => ({
          ...end,
          y: end.value === null ? bottom : yOf(end.value),
          fill: fills[at]!,
        })),
        right,
        bottom,
      ),
    ],
    description,
  };
}

/** The only value of each series, as a figure. */
function figureOf(
  chart: LinesChart,
  look: Look,
  head: { marks: Mark[]; bottom: number },
  description: string,
): Picture {
  const { margin, scheme, workspace } = look;
  const marks = chart.series.flatMap(({ name, values }, at): Mark[] => {
    const y = head.bottom + 26 + at * 52;
    const value = values[0] ?? null;
    const text = value === null ? '–' : numberWriter([value], chart.unit, workspace)(value);
    return [
      label(look, margin, y, text, { size: type.greeting.size, weight: weight.title }),
      label(look, margin + textWidth(text, type.greeting.size, weight.title) + 10, y, name, {
        fill: scheme.text2,
      }),
    ];
  });
  const y = head.bottom + 26 + chart.series.length * 52 - 26;
  marks.push(label(look, margin, y, chartText(workspace, 'lines.first'), { fill: scheme.text2 }));
  return { width: look.width, height: y + 16 + margin, marks: [...head.marks, ...marks], description };
}

interface LineEnd {
  name: string;
  text: string;
  value: number | null;
  wide: number;
}

function endOf({ name, values }: LinesChart['series'][number], write: (value: number) => string): LineEnd {
  const value = values.findLast((one) => one !== null) ?? null;
  const text = value === null ? '–' : write(value);
  const short = shorten(plain(name), NAME_WIDTH, LABEL);
  return { name, text, value, wide: Math.max(textWidth(short, LABEL), textWidth(text, LABEL, weight.title)) };
}

/** Name and last value at the end of each line, moved apart. */
function endNames(
  look: Look,
  ends: (LineEnd & { y: number; fill: string })[],
  right: number,
  bottom: number,
): Mark[] {
  const sorted = ends.toSorted((a, b) => a.y - b.y);
  const height = 32;
  for (const [at, end] of sorted.entries()) if (at > 0) end.y = Math.max(end.y, sorted[at - 1]!.y + height);
  for (let at = sorted.length - 1; at >= 0; at -= 1) {
    sorted[at]!.y = Math.min(
      sorted[at]!.y,
      at === sorted.length - 1 ? bottom - 8 : sorted[at + 1]!.y - height,
    );
  }
  return sorted.flatMap(({ name, text, y, fill }) => [
    label(look, right + 10, y, text, { weight: weight.title }),
    { kind: 'rect', x: right + 3, y: y - 10, width: 3, height: 24, fill, radius: 1 } as const,
    label(look, right + 10, y + 14, name, { fill: look.scheme.text2, room: NAME_WIDTH }),
  ]);
}

/** Runs of points without gaps. */
function stretchesOf(points: (number[] | null)[]): number[][][] {
  const stretches: number[][][] = [];
  let open: number[][] | undefined;
  for (const point of points) {
    if (point === null) open = undefined;
    else if (open) open.push(point);
    else {
      open = [point];
      stretches.push(open);
    }
  }
  return stretches;
}

const DAY = 86_400_000;
/** Time from which ticks are at the first days of months. */
const MONTHS = 62 * DAY;

function timeTicks(
  { step }: LinesChart,
  look: Look,
  times: number[],
  xOf: (time: number) => number,
  bottom: number,
): Mark[] {
  const [first, last] = [times[0]!, times.at(-1)!];
  const most = isNarrow(look) ? 4 : 8;
  const isLong = step === undefined && last - first > MONTHS;
  const starts = step
    ? spanStarts(first, last, step, most)
    : isLong
      ? spanStarts(first, last, 'month', most + 1).filter((time) => time >= first)
      : Array.from(
          { length: Math.min(most, Math.floor((last - first) / DAY) + 1) },
          (_, at, all = Math.min(most, Math.floor((last - first) / DAY) + 1)) =>
            all === 1 ? first : first + ((last - first) * at) / (all - 1),
        );
  const write = (time: number) =>
    step
      ? formatSpan(time, step)
      : isLong
        ? formatMonth(time, look.workspace)
        : formatDate(time, look.workspace);
  let free = -Infinity;
  return starts.flatMap((time): Mark[] => {
    const text = write(time);
    const half = textWidth(text, LABEL) / 2;
    const x = Math.min(Math.max(xOf(time), look.margin + half), look.width - look.margin - half);
    if (x - half < free) return [];
    free = x + half + 10;
    return [label(look, x, bottom + 18, text, { anchor: 'middle', fill: look.scheme.text2 })];
  });
}

import { textOn } from './charts.colours.ts';
import { areaHeight, fillOf } from './charts.look.ts';
import { type Look, line, type Mark, type Picture, type TextMark } from './charts.marks.ts';
import { axisTitle, numberWriter, tickWriter } from './charts.numbers.ts';
import { heading, LABEL, label, labelAt, nothing, scaleOf, ticksOf } from './charts.parts.ts';
import { chartText } from './charts.texts.ts';
import { weight } from './charts.tokens.ts';
import type { ColumnsChart } from './charts.types.ts';
import { textWidth } from './charts.widths.ts';

const PLOT = 280;
/** Gap before and after columns that stand beside the axis. */
const APART = 28;
/** The room at the top of a column that is cut, in which its break is drawn. */
const BREAK = 28;

/** Stacked columns from left to right; those apart are separated by a gap. */
export function layoutColumns(chart: ColumnsChart, look: Look): Picture {
  const { scheme, margin, width, workspace } = look;
  const totals = chart.items.map(({ values }) => values.reduce((sum, value) => sum + value, 0));
  const bySeries = chart.series.map((_, at) => chart.items.reduce((sum, { values }) => sum + values[at]!, 0));
  const write = numberWriter(bySeries, chart.unit, workspace);
  const legend = chart.series.map(({ name, paint }, at) => ({ name, paint, extra: write(bySeries[at]!) }));
  const head = heading(look, chart, legend);
  if (totals.every((total) => total === 0)) {
    return {
      width,
      height: head.bottom + 40,
      marks: [...head.marks, nothing(look, head.bottom, chart.empty)],
      description: chart.title,
    };
  }
  // columns beside the axis are cut rather than flatten the others
  const inner = totals.filter((total, at) => total > 0 && !chart.items[at]!.apart);
  const scale = scaleOf(inner.length > 0 ? inner : totals, {
    zero: true,
    padded: false,
    whole: chart.unit === 'count',
    steps: 5,
  });
  const ticks = ticksOf(scale);
  const writeTick = tickWriter(ticks, chart.unit, workspace);
  const left = margin + Math.max(...ticks.map((tick) => textWidth(writeTick(tick), LABEL))) + 10;
  const lefts = leftsOf(chart, left + 6, width - margin - 6);
  // sums stand upright where columns are narrower than their numbers
  const isUpright = totals.some((total) => total > 0 && textWidth(write(total), LABEL) + 2 >= lefts.step);
  const top = head.bottom + (isUpright ? 40 : 22) + (chart.today ? TODAY : 0);
  const plot = areaHeight(look, top, 50 + margin, PLOT);
  const bottom = top + plot;
  const yOf = (value: number) =>
    bottom - ((Math.min(value, scale.max) - scale.min) / (scale.max - scale.min)) * plot;
  const grid = ticks.flatMap((tick): Mark[] => [
    line([left, yOf(tick)], [width - margin, yOf(tick)], tick === 0 ? scheme.border : scheme.hairline),
    labelAt(look, left - 8, yOf(tick), writeTick(tick), { anchor: 'end', fill: scheme.text2 }),
  ]);
  const inset = Math.min(lefts.step * 0.15, 10);
  const stacks = chart.items.flatMap((item, at) =>
    stackOf(chart, look, item, lefts.at[at]! + inset, lefts.step - 2 * inset, yOf, scale.max),
  );
  const sums = chart.items.flatMap((_, at) =>
    totals[at]! > 0
      ? [
          label(
            look,
            lefts.at[at]! + lefts.step / 2 + (isUpright ? LABEL / 3 : 0),
            yOf(totals[at]!) - 5,
            write(totals[at]!),
            {
              weight: weight.emphasis,
              halo: scheme.panel,
              ...(isUpright ? { turned: true } : { anchor: 'middle' }),
            },
          ),
        ]
      : [],
  );
  const below = names(chart, look, lefts, bottom);
  return {
    width,
    height: Math.max(bottom + 34, ...below.map(({ y }) => y)) + margin + 2,
    marks: [
      ...head.marks,
      label(look, margin, top - 10, axisTitle(chart.valueAxis, chart.unit, workspace), {
        fill: scheme.text2,
      }),
      ...grid,
      ...stacks,
      ...today(chart, look, lefts, top, bottom),
      ...sums,
      ...chart.items.flatMap((_, at) =>
        totals[at]! > scale.max
          ? [
              line(
                [lefts.at[at]! + inset - 2, top + 18],
                [lefts.at[at]! + lefts.step - inset + 2, top + 10],
                scheme.panel,
                { width: 4 },
              ),
            ]
          : [],
      ),
      ...below,
    ],
    description: chartText(workspace, 'columns.description', {
      value: chart.valueAxis,
      count: chart.items.length,
      total: write(totals.reduce((a, b) => a + b, 0)),
    }),
  };
}

interface Places {
  at: number[];
  step: number;
}

/** The left edges of the columns. */
function leftsOf({ items }: ColumnsChart, left: number, right: number): Places {
  const breaks = items.filter(
    ({ apart }, at) => at > 0 && Boolean(apart) !== Boolean(items[at - 1]!.apart),
  ).length;
  const step = Math.min(72, (right - left - breaks * APART) / items.length);
  let x = left;
  const at = items.map(({ apart }, index) => {
    if (index > 0 && Boolean(apart) !== Boolean(items[index - 1]!.apart)) x += APART;
    const from = x;
    x += step;
    return from;
  });
  return { at, step };
}

function stackOf(
  chart: ColumnsChart,
  look: Look,
  { name, values }: ColumnsChart['items'][number],
  x: number,
  width: number,
  yOf: (value: number) => number,
  most: number,
): Mark[] {
  const write = numberWriter(values, chart.unit, look.workspace);
  const total = values.reduce((all, value) => all + Math.max(0, value), 0);
  // the parts of a column that is cut keep their shares
  const share = total > most ? most / total : 1;
  let sum = 0;
  return values.flatMap((value, at): Mark[] => {
    if (value <= 0) return [];
    const from = yOf(sum);
    sum += value * share;
    const height = from - yOf(sum);
    const { name: series, paint } = chart.series[at]!;
    const fill = fillOf(paint, look);
    const rect: Mark = {
      kind: 'rect',
      x,
      y: yOf(sum),
      width,
      height: Math.max(1, height - (height > 3 ? 1 : 0)),
      fill,
      title: `${name}, ${series}: ${write(value)}`,
    };
    // a number would lie under the mark of the break
    const isAtBreak = share < 1 && yOf(sum) + height / 2 < yOf(most) + BREAK;
    const isShown =
      values.filter((one) => one > 0).length > 1 &&
      height > 18 &&
      !isAtBreak &&
      width > textWidth(write(value), 11) + 4;
    return isShown
      ? [
          rect,
          labelAt(look, x + width / 2, yOf(sum) + height / 2, write(value), {
            size: 11,
            anchor: 'middle',
            fill: textOn(fill, look.scheme),
          }),
        ]
      : [rect];
  });
}

/** Names below the columns: `Q1 2027` as quarter and year; where there is no room, only some. */
function names({ items }: ColumnsChart, look: Look, { at, step }: Places, bottom: number): TextMark[] {
  const fill = look.scheme.text2;
  let year = '';
  const free = { name: -Infinity, year: -Infinity };
  return items.flatMap(({ name }, index) => {
    const center = at[index]! + step / 2;
    const quarter = /^(Q\d) (\d{4})$/.exec(name);
    const marks: TextMark[] = [];
    const upper = quarter ? quarter[1]! : name;
    const half = textWidth(upper, LABEL) / 2;
    if (center - half > free.name) {
      marks.push(label(look, center, bottom + 17, upper, { anchor: 'middle', fill }));
      free.name = center + half + 4;
    } else if (!quarter) {
      // where years stand below quarters, names have room as well, else below the years
      const x = Math.min(center, look.width - look.margin - half);
      const isFree = x - half > free.year;
      marks.push(label(look, x, bottom + (isFree ? 34 : 51), upper, { anchor: 'middle', fill }));
      if (isFree) free.year = x + half + 4;
    }
    if (quarter && quarter[2] !== year && center - 16 > free.year) {
      year = quarter[2]!;
      free.year = center + 20;
      marks.push(label(look, center, bottom + 34, year, { anchor: 'middle', weight: weight.emphasis }));
    }
    return marks;
  });
}

/** Height of the line in which today is named. */
const TODAY = 14;

function today(
  { items, today: now }: ColumnsChart,
  look: Look,
  { at, step }: Places,
  top: number,
  bottom: number,
): Mark[] {
  const index = items.findIndex((item) => item.name === now?.name);
  if (index < 0) return [];
  const x = at[index]! - 1 + now!.passed * step;
  return [
    // above the sums of columns
    line([x, top - TODAY - 6], [x, bottom], look.scheme.accent, { dashed: true }),
    label(look, x + 4, top - TODAY - 8, chartText(look.workspace, 'today'), {
      fill: look.scheme.accent,
      size: 11,
    }),
  ];
}

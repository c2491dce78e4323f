import { textOn } from './charts.colours.ts';
import { fillOf, isNarrow } from './charts.look.ts';
import { type Look, line, type Mark, type Picture } from './charts.marks.ts';
import { formatCount } from './charts.numbers.ts';
import { heading, LABEL, label, labelAt, swatch, withNote } from './charts.parts.ts';
import { plain } from './charts.text.ts';
import { chartText } from './charts.texts.ts';
import { passedPart, spanAfter } from './charts.time.ts';
import { weight } from './charts.tokens.ts';
import type { RoadmapChart } from './charts.types.ts';
import { textWidth } from './charts.widths.ts';

const ROW = 30;
/** Maximum number of groups. */
const MOST = 24;
/** Number of groups up to which each phase has its own row. */
const BY_PHASE = 4;
/** Least number of quarters. */
const FEWEST = 5;

interface Row {
  name: string;
  paint: RoadmapChart['phases'][number]['paint'] | undefined;
  isGroup: boolean;
  counts: number[];
  total: number;
}

/** How many cards enter a phase in each quarter, by group; for many rows. */
export function layoutRoadmapCounts(
  chart: RoadmapChart,
  look: Look,
  period: { from: number; to: number; today: number },
): Picture {
  const { width, margin, scheme } = look;
  const start = spanAfter(
    Math.max(period.from, period.today - (isNarrow(look) ? 0.5 : 1.5) * 365 * 86_400_000),
    'quarter',
    0,
  );
  let quarters: number[] = [];
  for (
    let time = start;
    time < period.to && quarters.length < (isNarrow(look) ? 10 : 24);
    time = spanAfter(time, 'quarter', 1)
  )
    quarters.push(time);
  const nameRoom = (rows: Row[]) =>
    Math.min(
      width * 0.3,
      Math.max(90, ...rows.map(({ name }) => textWidth(plain(name), LABEL, weight.title) + 34)),
    );
  const right = width - margin - 52;
  const all = rowsOf(chart, look, quarters);
  const numbers = all.flatMap(({ counts }) => counts.map((count) => formatCount(count, look.workspace)));
  const widest = Math.max(...numbers.map((text) => textWidth(text, 11))) + 3;
  quarters = quarters.slice(0, Math.max(FEWEST, Math.floor((right - margin - nameRoom(all) - 8) / widest)));
  const rows = rowsOf(chart, look, quarters);
  const end = spanAfter(quarters.at(-1)!, 'quarter', 1);
  const outside = chart.items
    .flatMap(({ dates }) => dates)
    .filter((date) => date && (Date.parse(date) < start || Date.parse(date) >= end)).length;
  const note = withNote(
    withNote(chart.note, chartText(look.workspace, 'quarters.note')),
    outside > 0 ? chartText(look.workspace, 'quarters.outside', { count: outside }) : undefined,
  );
  const head = heading(look, { title: chart.title, note });
  const names = nameRoom(rows);
  const left = margin + names + 8;
  const wide = (right - left) / quarters.length;
  const top = head.bottom + 36;
  const marks: Mark[] = [];
  const largest = Math.max(1, ...rows.flatMap(({ counts }) => counts));
  for (const [at, { name, paint, isGroup, counts, total }] of rows.entries()) {
    const y = top + at * ROW + ROW / 2;
    if (isGroup)
      marks.push(line([margin, y - ROW / 2], [width - margin, y - ROW / 2], scheme.hairlineStrong));
    if (paint) marks.push(swatch(look, margin + 5 + (isGroup ? 0 : 10), y, paint, 'square'));
    marks.push(
      labelAt(look, margin + (paint ? 16 : 0) + (isGroup ? 0 : 10), y, name, {
        room: names - 30,
        weight: isGroup ? weight.title : weight.regular,
      }),
    );
    marks.push(
      labelAt(look, width - margin, y, formatCount(total, look.workspace), {
        anchor: 'end',
        fill: scheme.text2,
      }),
    );
    for (const [quarter, count] of counts.entries()) {
      if (count === 0) continue;
      const fill = fillOf({ step: Math.max(0, Math.round(6 * Math.sqrt(count / largest))) }, look);
      const x = left + quarter * wide;
      marks.push({
        kind: 'rect',
        x: x + 1,
        y: y - ROW / 2 + 3,
        width: wide - 2,
        height: ROW - 6,
        radius: 3,
        fill,
      });
      if (textWidth(formatCount(count, look.workspace), 11) + 2 <= wide)
        marks.push(
          labelAt(look, x + wide / 2, y, formatCount(count, look.workspace), {
            anchor: 'middle',
            size: 11,
            fill: textOn(fill, scheme),
          }),
        );
    }
  }
  const bottom = top + rows.length * ROW;
  const now = quarters.findIndex((time) => spanAfter(time, 'quarter', 1) > period.today);
  const x = left + (now + passedPart(period.today, quarters[now]!, 'quarter')) * wide;
  return {
    width,
    height: bottom + margin + 14,
    marks: [
      ...head.marks,
      ...quarterNames(look, quarters, left, wide, top),
      label(look, width - margin, top - 10, chartText(look.workspace, 'quarters.total'), {
        anchor: 'end',
        fill: scheme.text2,
      }),
      ...marks,
      line([x, top - 4], [x, bottom + 4], scheme.accent, { dashed: true }),
      label(look, x, bottom + 18, chartText(look.workspace, 'today'), {
        fill: scheme.accent,
        size: 11,
        anchor: 'middle',
      }),
    ],
    description: chartText(look.workspace, 'quarters.description', { count: chart.items.length }),
  };
}

function quarterNames(look: Look, quarters: number[], left: number, wide: number, top: number): Mark[] {
  return quarters.flatMap((time, at): Mark[] => {
    const date = new Date(time);
    const quarter = date.getUTCMonth() / 3 + 1;
    const x = left + at * wide;
    return [
      ...(wide > 20
        ? [
            label(look, x + wide / 2, top - 10, `Q${quarter}`, {
              anchor: 'middle',
              fill: look.scheme.text2,
              size: 11,
            }),
          ]
        : []),
      ...(quarter === 1 || (at === 0 && quarter < 4)
        ? [label(look, x + 3, top - 26, String(date.getUTCFullYear()), { weight: weight.emphasis })]
        : []),
    ];
  });
}

/** Groups, and the phases of each if there are few groups; phases without a change in the period are left out. */
function rowsOf(chart: RoadmapChart, { workspace }: Look, quarters: number[]): Row[] {
  const end = spanAfter(quarters.at(-1)!, 'quarter', 1);
  const groups = chart.groups ?? [
    { key: undefined, name: chartText(workspace, 'quarters.all'), paint: undefined },
  ];
  const count = (items: RoadmapChart['items'], phases: number[]) => {
    const counts = quarters.map(() => 0);
    let total = 0;
    for (const { dates } of items) {
      for (const phase of phases) {
        const date = dates[phase];
        if (!date) continue;
        const time = Date.parse(date);
        if (time < quarters[0]! || time >= end) continue;
        total += 1;
        counts[quarters.findLastIndex((from) => from <= time)]! += 1;
      }
    }
    return { counts, total };
  };
  const all = chart.phases.map((_, at) => at);
  const rows = groups
    .map(({ key, name, paint }) => {
      const items = key === undefined ? chart.items : chart.items.filter(({ group }) => group === key);
      return { items, row: { name, paint, isGroup: true, ...count(items, all) } };
    })
    .filter(({ items }) => items.length > 0);
  const most = Math.min(MOST, chart.most ?? MOST);
  if (rows.length * (1 + all.length) > Math.min(most, BY_PHASE * (1 + all.length)))
    return rows
      .map(({ row }) => row)
      .sort((a, b) => b.total - a.total)
      .slice(0, most);
  return rows.flatMap(({ items, row }) => [
    row,
    ...all
      .map((phase) => ({
        name: chart.phases[phase]!.name,
        paint: chart.phases[phase]!.paint,
        isGroup: false,
        ...count(items, [phase]),
      }))
      .filter(({ total }) => total > 0),
  ]);
}

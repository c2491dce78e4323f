import { textOn } from './charts.colours.ts';
import { MOST_GROUPS } from './charts.grouping.ts';
import { fillOf, isNarrow } from './charts.look.ts';
import { type Look, line, type Mark, type Picture, standingFor } from './charts.marks.ts';
import { formatCount, formatDate } from './charts.numbers.ts';
import {
  diamond,
  heading,
  LABEL,
  type LegendEntry,
  label,
  labelAt,
  nothing,
  omittedNote,
  withNote,
} from './charts.parts.ts';
import { layoutRoadmapCounts } from './charts.quarters.ts';
import { plain } from './charts.text.ts';
import { chartText, lowered } from './charts.texts.ts';
import { weight } from './charts.tokens.ts';
import type { RoadmapChart } from './charts.types.ts';
import { textWidth } from './charts.widths.ts';

/** Maximum number of rows; more are counted by group and quarter. */
const MOST = 200;
const ROW = 24;
const GROUP = 30;
const BAR = 12;
const DAY = 86_400_000;
const YEAR = 365.25 * DAY;
/** The drawn time around today in years; later and earlier dates are cut. */
const SPAN = { before: 3, after: 5 };

type Item = RoadmapChart['items'][number];

/** The drawn period in milliseconds since 1970. */
interface Period {
  from: number;
  to: number;
  today: number;
}

interface Frame extends Period {
  look: Look;
  chart: RoadmapChart;
  left: number;
  right: number;
}

/** One row per item with one bar per phase, up to the next phase, in groups; many items are counted instead. */
export function layoutRoadmap(chart: RoadmapChart, look: Look): Picture {
  if (chart.items.length > MOST) return layoutRoadmapCounts(chart, look, periodOf(chart));
  const { most = chart.items.length } = chart;
  if (chart.items.length > most) return layoutRoadmap(soonest(chart, most, look), look);
  const { width, margin } = look;
  const counts = chart.phases.map(
    (_, phase) => chart.items.filter(({ dates }) => phaseOf(dates, chart.today) === phase).length,
  );
  const legend = chart.phases.map(
    ({ name, paint }, at): LegendEntry => ({
      name,
      paint,
      ...(counts[at]! > 0 && chart.phases.length > 2
        ? { extra: formatCount(counts[at]!, look.workspace) }
        : {}),
      ...(at === chart.phases.length - 1
        ? { shape: 'diamond' }
        : isPlanned(chart, at)
          ? { shape: 'hatch' }
          : {}),
    }),
  );
  const period = periodOf(chart);
  const outside = chart.items.filter(({ dates }) => isOutside(dates, period)).length;
  const note = [
    chart.note,
    chart.items.length > 1 ? chartText(look.workspace, 'roadmap.order') : undefined,
    outside > 0 ? chartText(look.workspace, 'roadmap.outside', { count: outside }) : undefined,
  ].reduce(withNote, undefined);
  const head = heading(look, { title: chart.title, note }, chart.items.length > 0 ? legend : []);
  const description = chartText(look.workspace, 'roadmap.description', { count: chart.items.length });
  if (chart.items.length === 0) {
    return {
      width,
      height: head.bottom + 40,
      marks: [...head.marks, nothing(look, head.bottom, chart.empty)],
      description,
    };
  }
  const isLong = chart.items.length > MOST_GROUPS;
  const names = Math.min(
    width * (isNarrow(look) ? 0.34 : 0.24),
    Math.max(isLong ? 116 : 80, ...chart.items.map(({ name }) => textWidth(plain(name), LABEL))),
  );
  const frame: Frame = {
    ...period,
    look,
    chart,
    left: margin + names + 14,
    right: width - margin - 34,
  };
  const top = head.bottom + 24;
  const marks: Mark[] = [];
  let y = top;
  for (const { name, paint, items } of groupsOf(chart)) {
    if (name !== undefined) {
      marks.push(...groupMarks(frame, name, paint, items.length, y));
      y += GROUP;
    }
    const settled = isLong ? items.filter(({ dates }) => nextOf(dates, chart.today) === undefined) : [];
    const moving = settled.length > 1 ? items.slice(0, items.length - settled.length) : items;
    for (const item of moving) {
      marks.push(
        ...standingFor(item.id, [
          labelAt(look, margin, y + ROW / 2, item.name, { room: names }),
          ...barsOf(frame, item, y + ROW / 2),
        ]),
      );
      y += ROW;
    }
    if (moving.length < items.length) {
      marks.push(...settledMarks(frame, settled, names, y + ROW / 2));
      y += ROW;
    }
  }
  return {
    width,
    height: y + 24 + margin,
    marks: [...head.marks, ...axisMarks(frame, top, y), ...marks, ...todayMarks(frame, top, y)],
    description,
  };
}

/** Whether a phase is only planned, which is drawn hatched. */
const isPlanned = ({ phases }: RoadmapChart, phase: number): boolean => phase === 0 && phases.length > 2;

/** The phase on a day; -1 before the first. */
const phaseOf = (dates: readonly (string | null)[], today: string): number =>
  dates.findLastIndex((date) => date !== null && date <= today);

/** From three years before today to five after, less if no dates are there. */
function periodOf({ items, today }: RoadmapChart): Period {
  const now = Date.parse(today);
  const times = items.flatMap(({ dates }) =>
    dates.flatMap((date) => (date === null ? [] : [Date.parse(date)])),
  );
  const first = times.reduce((least, time) => Math.min(least, time), now);
  const last = times.reduce((most, time) => Math.max(most, time), now);
  const from = Math.max(now - SPAN.before * YEAR, Math.min(first - 60 * DAY, now - 0.5 * YEAR));
  const to = Math.min(now + SPAN.after * YEAR, Math.max(last + 120 * DAY, now + 1.5 * YEAR));
  return { from, to, today: now };
}

/** Whether the last phase begins before a period, or the first one after it. */
const isOutside = (dates: readonly (string | null)[], { from, to }: Period): boolean => {
  const last = dates.at(-1);
  const first = dates.find((date) => date !== null);
  return (last && Date.parse(last) < from) || (first && Date.parse(first) > to) || false;
};

/** The next date after a day. */
const nextOf = (dates: readonly (string | null)[], today: string): string | undefined =>
  dates.find((date): date is string => date !== null && date > today);

/** The items without change as one row: how many are in each phase. */
function settledMarks({ look, chart, left, right }: Frame, items: Item[], names: number, y: number): Mark[] {
  const fill = look.scheme.text2;
  const phases = chart.phases.flatMap(({ name }, phase) => {
    const count = items.filter(({ dates }) => phaseOf(dates, chart.today) === phase).length;
    const values = { count, phase: lowered(name, look.workspace) };
    return count > 0 ? [chartText(look.workspace, 'roadmap.inPhase', values)] : [];
  });
  return [
    labelAt(look, look.margin, y, chartText(look.workspace, 'roadmap.settled', { count: items.length }), {
      room: names,
      fill,
    }),
    labelAt(look, left + 8, y, phases.join(', '), { room: right - left - 8, fill, halo: look.scheme.panel }),
  ];
}

/** The items by next change. */
function sortedItems({ items, today }: RoadmapChart): Item[] {
  const next = ({ dates }: Item) => nextOf(dates, today) ?? '9999';
  const last = ({ dates }: Item) => dates.findLast((date) => date !== null) ?? '';
  return items.toSorted((a, b) => {
    const [one, other] = [next(a), next(b)];
    if (one !== other) return one < other ? -1 : 1;
    return last(a) > last(b) ? -1 : 1;
  });
}

/** Only the items that change next, without groups. */
function soonest(chart: RoadmapChart, most: number, look: Look): RoadmapChart {
  const { groups: _groups, groupAxis: _axis, most: _most, ...ungrouped } = chart;
  const items = sortedItems(chart).slice(0, most);
  const note = withNote(omittedNote(look, items.length, chart.items.length), chart.note);
  return { ...ungrouped, items, ...(note && { note }) };
}

/** The groups in order, their items by next change; without groups one of all items. */
function groupsOf(chart: RoadmapChart) {
  const { groups } = chart;
  const sorted = sortedItems(chart);
  if (!groups) return [{ name: undefined, paint: undefined, items: sorted }];
  return groups
    .map(({ key, name, paint }) => ({ name, paint, items: sorted.filter(({ group }) => group === key) }))
    .filter((group) => group.items.length > 0);
}

function groupMarks(
  { look, right }: Frame,
  name: string,
  paint: RoadmapChart['phases'][number]['paint'] | undefined,
  count: number,
  y: number,
): Mark[] {
  const { scheme, margin } = look;
  const center = y + GROUP / 2 + 3;
  const words = labelAt(look, margin + (paint ? 16 : 0), center, name, {
    weight: weight.title,
    room: right - margin - 60,
  });
  return [
    line([margin, y + 3], [right, y + 3], scheme.hairlineStrong),
    ...(paint
      ? [{ kind: 'circle', x: margin + 5, y: center, radius: 5, fill: fillOf(paint, look) } as const]
      : []),
    words,
    labelAt(
      look,
      words.x + textWidth(words.text, LABEL, weight.title) + 8,
      center,
      formatCount(count, look.workspace),
      {
        fill: scheme.text2,
      },
    ),
  ];
}

const xOf = ({ from, to, left, right }: Frame, time: number): number =>
  left + ((Math.min(to, Math.max(from, time)) - from) / (to - from)) * (right - left);

/** Years above and below, quarters as faint lines. */
function axisMarks(frame: Frame, top: number, bottom: number): Mark[] {
  const { look, from, to } = frame;
  const { scheme } = look;
  const marks: Mark[] = [];
  let free = -Infinity;
  for (let year = new Date(from).getUTCFullYear(); year <= new Date(to).getUTCFullYear(); year += 1) {
    for (let quarter = 0; quarter < 4; quarter += 1) {
      const time = Date.UTC(year, quarter * 3);
      if (time < from || time > to) continue;
      const x = xOf(frame, time);
      if (quarter === 0 || to - from < 4 * YEAR)
        marks.push(line([x, top], [x, bottom], quarter === 0 ? scheme.hairlineStrong : scheme.hairline));
      if (quarter > 0 || x > frame.right - 24 || x < free) continue;
      free = x + 36;
      for (const y of [top - 8, bottom + 18])
        marks.push(label(look, x + 3, y, String(year), { fill: scheme.text2 }));
    }
  }
  return marks;
}

function todayMarks(frame: Frame, top: number, bottom: number): Mark[] {
  const { look, today } = frame;
  const x = xOf(frame, today);
  const text = chartText(look.workspace, 'today.on', { date: formatDate(today, look.workspace) });
  const half = textWidth(text, 11) / 2;
  return [
    line([x, top - 2], [x, bottom + 4], look.scheme.accent, { dashed: true, width: 1.5 }),
    label(
      look,
      Math.max(look.margin + half, Math.min(x, look.width - look.margin - half)),
      bottom + 32,
      text,
      { anchor: 'middle', fill: look.scheme.accent, size: 11 },
    ),
  ];
}

/** The phases of a row within the period; what begins before or ends after it is cut, with the year. */
function barsOf(frame: Frame, { name, dates }: Item, y: number): Mark[] {
  const { look, chart, from, to, left, right } = frame;
  const known = dates.flatMap((date, phase): [number, number][] =>
    date === null ? [] : [[phase, Date.parse(date)]],
  );
  const point = chart.phases.length - 1;
  const marks: Mark[] = [];
  for (const [at, [phase, begin]] of known.entries()) {
    if (phase === point) continue;
    const end = known[at + 1]?.[1] ?? to;
    if (end <= from || begin >= to || end < begin) continue;
    const [x, edge] = [xOf(frame, begin), xOf(frame, end)];
    const { name: phaseName, paint } = chart.phases[phase]!;
    const fill = fillOf(paint, look);
    const planned = isPlanned(chart, phase);
    marks.push({
      kind: 'rect',
      x,
      y: y - BAR / 2,
      width: Math.max(2, edge - x - (at < known.length - 1 ? 1 : 0)),
      height: BAR,
      radius: 2,
      title: `${name}, ${phaseName}: ${formatDate(begin, look.workspace)}`,
      ...(planned ? { fill: look.scheme.panel, stroke: fill, hatch: fill } : { fill }),
    });
    const year = String(new Date(begin).getUTCFullYear());
    if (begin < from && edge - x > textWidth(`← ${year}`, 10) + 8) {
      marks.push(
        labelAt(look, x + 4, y, `← ${year}`, {
          size: 10,
          fill: planned ? look.scheme.text : textOn(fill, look.scheme),
          ...(planned ? { halo: look.scheme.panel } : {}),
        }),
      );
    }
  }
  const last = known.find(([phase]) => phase === point)?.[1];
  const fill = fillOf(chart.phases[point]!.paint, look);
  const year = (time: number) => String(new Date(time).getUTCFullYear());
  if (last !== undefined && last >= from && last <= to)
    marks.push(
      diamond(
        xOf(frame, last),
        y,
        BAR / 2 + 1,
        fill,
        `${name}, ${chart.phases[point]!.name}: ${formatDate(last, look.workspace)}`,
      ),
    );
  if (last !== undefined && last < from)
    marks.push(
      diamond(left + 7, y, 5, fill),
      labelAt(look, left + 16, y, chartText(look.workspace, 'roadmap.ended', { year: year(last) }), {
        size: 11,
        fill: look.scheme.text2,
      }),
    );
  if (last !== undefined && last > to)
    marks.push(labelAt(look, right + 4, y, `→ ${year(last)}`, { size: 10, fill: look.scheme.text2 }));
  const firstTime = known[0]?.[1];
  if (firstTime !== undefined && firstTime > to && last === undefined)
    marks.push(labelAt(look, right + 4, y, `→ ${year(firstTime)}`, { size: 10, fill: look.scheme.text2 }));
  return marks;
}

import { networkOf } from './plan.network.ts';
import type { Plan } from './plan.types.ts';

/** When the parts of a plan may and must happen: each column by part, days as `dayNumber` counts them. */
export interface Schedule {
  start: number;
  end: number;
  /** Of an item with something below these span what lies there. */
  earliestStart: Float64Array;
  earliestEnd: Float64Array;
  latestStart: Float64Array;
  latestEnd: Float64Array;
  /** Days that it may be late without making the plan late; 0 on the critical path. */
  slack: Float64Array;
  /** 1 where something lies below. */
  isSummary: Uint8Array;
  /** The parts by earliest start, then end; what has something below stands before it. */
  order: Uint32Array;
}

/**
 * Computes the critical path of a plan, undefined where something waits for itself: nothing starts before what it
 * depends on has ended, nor before its own start date. Starts on the day on which the first starts; `today` where no
 * start is known. Ends are reckoned as starts plus days, so that what follows may start on the day on which what it
 * waits for ends. Takes a time in proportion to parts and dependencies, but for the sorting.
 */
export function scheduleOf(plan: Plan, today: number): Schedule | undefined {
  const { ends, days, first, next, order } = networkOf(plan);
  if (order.length < days.length) return undefined;
  const parts = plan.ids.length;
  // an item with something below has the dates of that
  const ownStart = (part: number): number => (ends[part] === part ? plan.starts[part]! : Number.NaN);
  let start = Infinity;
  for (let part = 0; part < parts; part += 1) if (ownStart(part) < start) start = ownStart(part);
  if (start === Infinity) start = today;

  const early = new Float64Array(days.length).fill(start);
  for (let part = 0; part < parts; part += 1) if (ownStart(part) > start) early[part] = ownStart(part);
  let end = start;
  for (const node of order) {
    const done = early[node]! + days[node]!;
    if (done > end) end = done;
    for (let edge = first[node]!; edge < first[node + 1]!; edge += 1) {
      if (early[next[edge]!]! < done) early[next[edge]!] = done;
    }
  }
  const late = new Float64Array(days.length);
  for (let at = order.length - 1; at >= 0; at -= 1) {
    const node = order[at]!;
    let by = end;
    for (let edge = first[node]!; edge < first[node + 1]!; edge += 1) by = Math.min(by, late[next[edge]!]!);
    late[node] = by - days[node]!;
  }

  const schedule: Schedule = {
    start,
    end,
    earliestStart: new Float64Array(parts),
    earliestEnd: new Float64Array(parts),
    latestStart: new Float64Array(parts),
    latestEnd: new Float64Array(parts),
    slack: new Float64Array(parts),
    isSummary: new Uint8Array(parts),
    order: Uint32Array.from(plan.ids.keys()),
  };
  span(schedule, plan, { ends, days, early, late });
  sortByStart(schedule, plan.ids);
  return schedule;
}

interface Times {
  ends: Int32Array;
  days: Float64Array;
  early: Float64Array;
  late: Float64Array;
}

/** Sets the times of parts, those of items with something below to the span, and the least slack, of what lies there. */
function span(schedule: Schedule, { above }: Plan, { ends, days, early, late }: Times): void {
  const { earliestStart, earliestEnd, latestStart, latestEnd, slack, isSummary } = schedule;
  for (let part = 0; part < above.length; part += 1) {
    if (ends[part] === part) continue;
    isSummary[part] = 1;
    earliestStart[part] = latestStart[part] = slack[part] = Infinity;
    earliestEnd[part] = latestEnd[part] = -Infinity;
  }
  for (let part = 0; part < above.length; part += 1) {
    if (isSummary[part]) continue;
    const first = early[part]!;
    const last = first + days[part]!;
    const lateFirst = late[part]!;
    const lateLast = lateFirst + days[part]!;
    earliestStart[part] = first;
    earliestEnd[part] = last;
    latestStart[part] = lateFirst;
    latestEnd[part] = lateLast;
    slack[part] = lateFirst - first;
    for (let item = above[part]!; item >= 0; item = above[item]!) {
      if (first < earliestStart[item]!) earliestStart[item] = first;
      if (last > earliestEnd[item]!) earliestEnd[item] = last;
      if (lateFirst < latestStart[item]!) latestStart[item] = lateFirst;
      if (lateLast > latestEnd[item]!) latestEnd[item] = lateLast;
      if (slack[part]! < slack[item]!) slack[item] = slack[part]!;
    }
  }
}

function sortByStart({ order, earliestStart, earliestEnd, isSummary }: Schedule, ids: readonly string[]) {
  order.sort(
    (a, b) =>
      earliestStart[a]! - earliestStart[b]! ||
      earliestEnd[a]! - earliestEnd[b]! ||
      isSummary[b]! - isSummary[a]! ||
      (ids[a]! < ids[b]! ? -1 : 1),
  );
}

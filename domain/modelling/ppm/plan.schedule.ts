import { networkOf } from './plan.network.ts';
import type { Plan } from './plan.types.ts';

/** The earliest and latest dates of the parts of a plan: each column by part, days as `dayNumber` counts them. */
export interface Schedule {
  start: number;
  end: number;
  /** Those of an item with parts span its parts. */
  earliestStart: Float64Array;
  earliestEnd: Float64Array;
  latestStart: Float64Array;
  latestEnd: Float64Array;
  /** Days by which it may be late without delaying the plan; 0 on the critical path. */
  slack: Float64Array;
  /** 1 for an item with parts. */
  isSummary: Uint8Array;
  /** The parts by earliest start, then end; items come before their parts. */
  order: Uint32Array;
}

/**
 * Computes the schedule of a plan; undefined where something depends on itself. Nothing starts before its predecessors
 * have ended, nor before its own start date. The plan starts with the first start date; `today` where there is none.
 * Ends are starts plus days, so that a successor may start on the day on which its predecessor ends. The time is linear
 * in parts and dependencies, except for the sorting.
 */
export function scheduleOf(plan: Plan, today: number): Schedule | undefined {
  const { ends, days, first, next, order } = networkOf(plan);
  if (order.length < days.length) return undefined;
  const parts = plan.ids.length;
  // an item with parts has the dates of its parts
  const ownStart = (part: number): number => (ends[part] === part ? plan.starts[part]! : Number.NaN);
  let start = Infinity;
  for (let part = 0; part < parts; part += 1) if (ownStart(part) < start) start = ownStart(part);
  if (start === Infinity) start = today;

  const early = new Float64Array(days.length).fill(start);
  for (let part = 0; part < parts; part += 1) if (ownStart(part) > start) early[part] = ownStart(part);
  let end = start;
  for (const node of order) {
    const ended = early[node]! + days[node]!;
    if (ended > end) end = ended;
    for (let edge = first[node]!; edge < first[node + 1]!; edge += 1) {
      if (early[next[edge]!]! < ended) early[next[edge]!] = ended;
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
  setTimes(schedule, plan, { ends, days, early, late });
  sortByStart(schedule, plan.ids);
  return schedule;
}

interface Times {
  ends: Int32Array;
  days: Float64Array;
  early: Float64Array;
  late: Float64Array;
}

/** Sets the times of parts; items get the span, and the least slack, of their parts. */
function setTimes(schedule: Schedule, { parents }: Plan, { ends, days, early, late }: Times): void {
  const { earliestStart, earliestEnd, latestStart, latestEnd, slack, isSummary } = schedule;
  for (let part = 0; part < parents.length; part += 1) {
    if (ends[part] === part) continue;
    isSummary[part] = 1;
    earliestStart[part] = latestStart[part] = slack[part] = Infinity;
    earliestEnd[part] = latestEnd[part] = -Infinity;
  }
  for (let part = 0; part < parents.length; part += 1) {
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
    for (let item = parents[part]!; item >= 0; item = parents[item]!) {
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

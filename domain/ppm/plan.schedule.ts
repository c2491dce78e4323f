import { type Member, type Network, networkOf } from './plan.network.ts';
import { dayNumber, type Plan } from './plan.types.ts';

/** When something may and must happen, in days as `dayNumber` counts them. */
export interface Scheduled extends Pick<Member, 'id' | 'kind' | 'above'> {
  /** Days; of an item with something below those that it spans at the earliest. */
  duration: number;
  earliestStart: number;
  earliestEnd: number;
  latestStart: number;
  latestEnd: number;
  /** Days that it may be late without making the plan late. */
  slack: number;
  critical: boolean;
  /** Whether nothing lies below it. */
  leaf: boolean;
}

export interface Schedule {
  start: number;
  end: number;
  /** By earliest start, then end; what has something below stands before it. */
  members: Scheduled[];
}

/**
 * Computes the critical path of a plan, undefined where something waits for itself: nothing starts before what it depends on has ended, nor before
 * its own start date. Starts on the day on which the first starts; `today` where no start is known. Ends are reckoned
 * as starts plus days, so that what follows may start on the day on which what it waits for ends.
 */
export function scheduleOf(plan: Plan, today: number): Schedule | undefined {
  const network = networkOf(plan);
  const { members, days, after, order } = network;
  if (order.length < days.length) return undefined;
  const notBefore = earliestDays(plan, network);
  const known = notBefore.filter((day) => day !== undefined);
  const start = known.reduce((first, day) => Math.min(first, day), known.length > 0 ? Infinity : today);

  const early = days.map((_, node) => notBefore[node] ?? start);
  for (const node of order) {
    const end = early[node]! + days[node]!;
    for (const next of after[node]!) if (early[next]! < end) early[next] = end;
  }
  const end = order.reduce((last, node) => Math.max(last, early[node]! + days[node]!), start);
  const late = days.map((length) => end - length);
  for (let at = order.length - 1; at >= 0; at -= 1) {
    const node = order[at]!;
    for (const next of after[node]!) {
      if (late[node]! + days[node]! > late[next]!) late[node] = late[next]! - days[node]!;
    }
  }
  const scheduled = spanned(members.map((member) => ({ member, ...ownTimes(member, days, early, late) })));
  return { start, end, members: scheduled.sort(byStart) };
}

/** By node: the day before which it may not start by its own date. */
function earliestDays({ tasks, items }: Plan, { members }: Network): (number | undefined)[] {
  const dates = new Map([...tasks, ...items].map(({ id, start_date }) => [id, start_date]));
  const days: (number | undefined)[] = [];
  for (const { id, start, end, kind } of members) {
    const date = dates.get(id);
    // an item with something below has the dates of that
    if (date && (kind === 'task' || start === end)) days[start] = dayNumber(date);
    else days[start] = undefined;
    if (end !== start) days[end] = undefined;
  }
  return days;
}

interface Times {
  first: number;
  last: number;
  lateFirst: number;
  lateLast: number;
  slack: number;
}

const ownTimes = ({ start }: Member, days: number[], early: number[], late: number[]): Times => ({
  first: early[start]!,
  last: early[start]! + days[start]!,
  lateFirst: late[start]!,
  lateLast: late[start]! + days[start]!,
  slack: late[start]! - early[start]!,
});

/** Gives items the span, and the least slack, of what lies below them. */
function spanned(all: ({ member: Member } & Times)[]): Scheduled[] {
  const byId = new Map(all.map((one) => [one.member.id, one]));
  const spans = new Map<string, Times>();
  for (const one of all) {
    const { member } = one;
    if (member.start !== member.end) continue;
    for (let above = member.above; above !== null; above = byId.get(above)!.member.above) {
      const span = spans.get(above);
      if (!span) {
        spans.set(above, { ...one });
        continue;
      }
      span.first = Math.min(span.first, one.first);
      span.last = Math.max(span.last, one.last);
      span.lateFirst = Math.min(span.lateFirst, one.lateFirst);
      span.lateLast = Math.max(span.lateLast, one.lateLast);
      span.slack = Math.min(span.slack, one.slack);
    }
  }
  return all.map(({ member, ...own }) => {
    const { first, last, lateFirst, lateLast, slack } = spans.get(member.id) ?? own;
    return {
      id: member.id,
      kind: member.kind,
      above: member.above,
      duration: last - first,
      earliestStart: first,
      earliestEnd: last,
      latestStart: lateFirst,
      latestEnd: lateLast,
      slack,
      critical: slack === 0,
      leaf: member.start === member.end,
    };
  });
}

function byStart(a: Scheduled, b: Scheduled): number {
  return (
    a.earliestStart - b.earliestStart ||
    a.earliestEnd - b.earliestEnd ||
    Number(a.leaf) - Number(b.leaf) ||
    (a.id < b.id ? -1 : 1)
  );
}

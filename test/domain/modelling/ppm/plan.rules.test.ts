import fc from 'fast-check';
import { fiscalYearOf } from '../../../../domain/modelling/ppm/fiscal-years.ts';
import { placeError } from '../../../../domain/modelling/ppm/plan.queries.ts';
import {
  completionOf,
  computeProgress,
  dayNumber,
  daysBetween,
  dayText,
  hasCycle as networkHasCycle,
  type Plan as PlanColumns,
  type PlanItem,
  type PlanTask,
  partKind,
  scheduleOf as scheduleColumns,
} from '../../../../domain/modelling/ppm/plan.rules.ts';
import { forAll } from '../../../support/property.ts';

/** A plan as people think of it. */
type Plan = { items: PlanItem[]; tasks: PlanTask[]; dependencies: { pred: string; succ: string }[] };

/** The same as the rules take it. */
function columnsOf({ items, tasks, dependencies }: Plan): PlanColumns {
  const ids = [...items, ...tasks].map(({ id }) => id);
  const placeOf = (id: string | null) =>
    id === null || !items.some((one) => one.id === id) ? -1 : ids.indexOf(id);
  const start = ({ start_date }: PlanItem | PlanTask) =>
    start_date === null ? Number.NaN : dayNumber(start_date);
  return {
    ids,
    items: items.length,
    parents: Int32Array.from([
      ...items.map((one) => placeOf(one.parent_id)),
      ...tasks.map((one) => placeOf(one.wbs_id)),
    ]),
    starts: Float64Array.from([...items.map(start), ...tasks.map(start)]),
    days: Float64Array.from([
      ...items.map((one) => (one.is_milestone ? 0 : daysBetween(one.start_date, one.end_date))),
      ...tasks.map((one) => daysBetween(one.start_date, one.due_date)),
    ]),
    preds: Int32Array.from(dependencies, ({ pred }) => ids.indexOf(pred)),
    succs: Int32Array.from(dependencies, ({ succ }) => ids.indexOf(succ)),
  };
}
const hasCycle = (of: Plan) => networkHasCycle(columnsOf(of));

/** The schedule, each part with its own times. */
function scheduleOf(of: Plan, today: number) {
  const columns = columnsOf(of);
  const schedule = scheduleColumns(columns, today);
  if (!schedule) return undefined;
  const members = [...schedule.order].map((part) => ({
    id: columns.ids[part]!,
    kind: partKind(columns, part),
    above: columns.parents[part]! < 0 ? null : columns.ids[columns.parents[part]!]!,
    earliestStart: schedule.earliestStart[part]!,
    earliestEnd: schedule.earliestEnd[part]!,
    latestStart: schedule.latestStart[part]!,
    latestEnd: schedule.latestEnd[part]!,
    slack: schedule.slack[part]!,
    critical: schedule.slack[part] === 0,
    leaf: schedule.isSummary[part] === 0,
  }));
  return { start: schedule.start, end: schedule.end, members };
}

const item = (id: string, parent_id: string | null = null, more: Partial<PlanItem> = {}): PlanItem => ({
  id,
  parent_id,
  start_date: null,
  end_date: null,
  is_milestone: false,
  completion: 0,
  ...more,
});
const task = (id: string, wbs_id: string | null = null, more: Partial<PlanTask> = {}): PlanTask => ({
  id,
  wbs_id,
  status: 'todo',
  start_date: null,
  due_date: null,
  ...more,
});
/** A task that begins on a day of March 2026 and takes some days. */
const inMarch = (day: number, days: number, more: Partial<PlanTask> = {}): Partial<PlanTask> => ({
  start_date: `2026-03-${String(day).padStart(2, '0')}`,
  due_date: `2026-03-${String(day + days).padStart(2, '0')}`,
  ...more,
});
const plan = (more: Partial<Plan>): Plan => ({ items: [], tasks: [], dependencies: [], ...more });
const follows = (...pairs: string[]) =>
  pairs.map((pair) => {
    const [pred, succ] = pair.split(' ') as [string, string];
    return { pred, succ };
  });

it('days are counted from the first to the last, at least 1', () => {
  expect(daysBetween('2026-03-01', '2026-03-04')).toBe(3);
  expect(daysBetween('2026-03-01', '2026-03-01')).toBe(1);
  expect(daysBetween('2026-02-28', '2026-03-01')).toBe(1);
  expect(daysBetween('2026-03-04', '2026-03-01')).toBe(1);
  expect(daysBetween(null, '2026-03-01')).toBe(1);
  expect(dayText(dayNumber('2026-03-01') + 31)).toBe('2026-04-01');
  expect(dayText(dayNumber('9999-12-31'))).toBe('9999-12-31');
  expect(dayText(dayNumber('9999-12-31') + 1)).toBeNull();
  expect(dayText(1e12)).toBeNull();
});

it('days lie in fiscal years that are called after their ends', () => {
  expect(fiscalYearOf('2026-12-31', 1)).toBe(2026);
  expect(fiscalYearOf('2026-09-30', 10)).toBe(2026);
  expect(fiscalYearOf('2026-10-01', 10)).toBe(2027);
  expect(fiscalYearOf('2026-02-28', 2)).toBe(2027);
  expect(fiscalYearOf('2026-01-31', 2)).toBe(2026);
});

describe('completion', () => {
  it('is that of the worked example', () => {
    // Build has tasks of 9 days and 1 day of which the long one is done; Test, below it, a task of 10 days
    const items = [
      item('build'),
      item('test', 'build', { completion: 70 }),
      item('launch', null, { completion: 25 }),
      item('rollout'),
      item('pilot', 'rollout', { completion: 60 }),
      item('rest', 'rollout', { completion: 0 }),
    ];
    const tasks = [
      task('a', 'build', inMarch(1, 9, { status: 'done' })),
      task('b', 'build', inMarch(10, 0)),
      task('c', 'test', inMarch(1, 10, { status: 'in_progress' })),
      task('d', null, { status: 'done' }),
    ];
    const found = computeProgress(items, tasks);
    expect(found.get('build')).toMatchObject({ progress: 45, tasks: 3 });
    expect(found.get('test')).toMatchObject({ progress: 0, tasks: 1 });
    expect(found.get('rollout')).toMatchObject({ progress: 30, tasks: 0 });
    // (45 + 25 + 30) / 3
    expect(completionOf(items, tasks)).toBe(33.3);
    expect(completionOf([], tasks)).toBe(0);
  });

  it('of an item without tasks of its own is the plain mean of those below, whatever their size', () => {
    const items = [item('top'), item('left', 'top'), item('right', 'top')];
    const tasks = [
      task('long', 'left', inMarch(1, 20, { status: 'done' })),
      task('short', 'right', inMarch(1, 1)),
    ];
    expect(computeProgress(items, tasks).get('top')).toMatchObject({ progress: 50, tasks: 2 });
  });

  it('stays between 0 and 100, and is 100 just when every leaf is', () =>
    forAll(200, [plans()], ({ items, tasks }) => {
      const found = computeProgress(items, tasks);
      expect(found.size).toBe(items.length);
      for (const { progress } of found.values()) {
        expect(progress).toBeGreaterThanOrEqual(0);
        expect(progress).toBeLessThanOrEqual(100 + 1e-9);
      }
      const all = tasks.map((one): PlanTask => ({ ...one, status: 'done' }));
      const whole = items.map((one) => ({ ...one, completion: 100 }));
      expect(completionOf(whole, all)).toBe(items.length === 0 ? 0 : 100);
      expect(
        completionOf(
          items.map((one) => ({ ...one, completion: 0 })),
          tasks.map((one): PlanTask => ({ ...one, status: 'todo' })),
        ),
      ).toBe(0);
    }));
});

it('a circle is what waits for itself, also by what items imply', () => {
  const items = [item('p'), item('q')];
  const tasks = [task('a', 'p'), task('b', 'q'), task('c')];
  const circle = (...pairs: string[]) => hasCycle({ items, tasks, dependencies: follows(...pairs) });
  expect(circle('a b', 'b c')).toBe(false);
  expect(circle('a b', 'b c', 'c a')).toBe(true);
  // an item and what is part of it
  expect(circle('p a')).toBe(true);
  expect(circle('a p')).toBe(true);
  // p before q, and something of q before something of p
  expect(circle('p q')).toBe(false);
  expect(circle('p q', 'b a')).toBe(true);
  expect(circle('p q', 'a b')).toBe(false);
  expect(circle('p c', 'c q', 'b a')).toBe(true);
});

it('a circle of the work breakdown is found as well', () =>
  expect(hasCycle(plan({ items: [item('p', 'q'), item('q', 'p')] }))).toBe(true));

describe('a place in the work breakdown', () => {
  const chain = Array.from({ length: 10 }, (_, n) => ({
    id: `${n}`,
    parent_id: n === 0 ? null : `${n - 1}`,
  }));
  it('is refused below itself, below nothing known, and too deep', () => {
    expect(placeError(chain, null, 'x')?.code).toBe('unknown_value');
    expect(placeError(chain, '2', '5')?.code).toBe('parent_cycle');
    expect(placeError(chain, '2', '2')?.code).toBe('parent_cycle');
    expect(placeError(chain, null, '9')?.code).toBe('too_deep');
    expect(placeError(chain, null, '8')).toBeUndefined();
    expect(placeError([...chain, { id: 'r', parent_id: null }], '0', 'r')?.code).toBe('too_deep');
    expect(placeError([...chain, { id: 'r', parent_id: null }], '1', 'r')).toBeUndefined();
    expect(placeError(chain, '9', null)).toBeUndefined();
  });
});

describe('the critical path', () => {
  const today = dayNumber('2026-01-01');
  const told = (of: Plan) => {
    const schedule = scheduleOf(of, today)!;
    return Object.fromEntries(
      schedule.members.map((one) => [
        one.id,
        [one.earliestStart, one.earliestEnd, one.latestStart, one.latestEnd].map(
          (day) => day - schedule.start,
        ),
      ]),
    );
  };

  it('is that of the worked example', () => {
    // a (3 days) before b (4) and c (2), both before d (1)
    const tasks = [
      task('a', null, inMarch(2, 3)),
      task('b', null, { ...inMarch(1, 4), start_date: null, due_date: null }),
      task('c', null),
      task('d', null),
    ];
    // days come from dates alone: b and c get theirs without being bound to them later than they follow anyway
    Object.assign(tasks[1]!, { start_date: '2026-03-02', due_date: '2026-03-06' });
    Object.assign(tasks[2]!, { start_date: '2026-03-02', due_date: '2026-03-04' });
    const of = plan({ tasks, dependencies: follows('a b', 'a c', 'b d', 'c d') });
    expect(told(of)).toEqual({ a: [0, 3, 0, 3], b: [3, 7, 3, 7], c: [3, 5, 5, 7], d: [7, 8, 7, 8] });
    const { members, end, start } = scheduleOf(of, today)!;
    expect(members.filter(({ critical }) => critical).map(({ id }) => id)).toEqual(['a', 'b', 'd']);
    expect(members.find(({ id }) => id === 'c')!.slack).toBe(2);
    expect([dayText(start), dayText(end)]).toEqual(['2026-03-02', '2026-03-10']);
  });

  it('starts nothing before its own date, and with the day of asking where nothing is dated', () => {
    const late = plan({ tasks: [task('a', null, inMarch(1, 2)), task('b', null, inMarch(11, 2))] });
    expect(told(late)).toEqual({ a: [0, 2, 10, 12], b: [10, 12, 10, 12] });
    expect(scheduleOf(plan({ tasks: [task('a')] }), today)).toMatchObject({ start: today, end: today + 1 });
    expect(scheduleOf(plan({}), today)).toEqual({ start: today, end: today, members: [] });
  });

  it('lets what an item waits for hold up everything below it, and spans what lies below', () => {
    const of = plan({
      items: [item('p'), item('q'), item('gate', null, { is_milestone: true })],
      tasks: [task('a', 'p', inMarch(1, 5)), task('b', 'p', inMarch(1, 2)), task('c', 'q'), task('d', 'q')],
      dependencies: follows('p q', 'c d', 'q gate'),
    });
    expect(told(of)).toEqual({
      p: [0, 5, 0, 5],
      a: [0, 5, 0, 5],
      b: [0, 2, 3, 5],
      q: [5, 7, 5, 7],
      c: [5, 6, 5, 6],
      d: [6, 7, 6, 7],
      gate: [7, 7, 7, 7],
    });
  });

  it('is none where something waits for itself', () => {
    const tasks = [task('a'), task('b')];
    expect(scheduleOf(plan({ tasks, dependencies: follows('a b', 'b a') }), today)).toBeUndefined();
  });

  it('keeps every dependency, moves nothing by its slack beyond the end, and reaches the end without slack', () =>
    forAll(300, [plans()], (of) => {
      const schedule = scheduleOf(of, today);
      if (!schedule) {
        expect(hasCycle(of)).toBe(true);
        return;
      }
      const byId = new Map(schedule.members.map((one) => [one.id, one]));
      for (const { pred, succ } of of.dependencies) {
        expect(byId.get(succ)!.earliestStart).toBeGreaterThanOrEqual(byId.get(pred)!.earliestEnd);
        expect(byId.get(succ)!.latestStart).toBeGreaterThanOrEqual(byId.get(pred)!.latestEnd);
      }
      for (const one of schedule.members) {
        expect(one.slack).toBeGreaterThanOrEqual(0);
        expect(one.latestEnd).toBeLessThanOrEqual(schedule.end);
        const above = one.above === null ? undefined : byId.get(one.above);
        if (above) {
          expect(above.earliestStart).toBeLessThanOrEqual(one.earliestStart);
          expect(above.earliestEnd).toBeGreaterThanOrEqual(one.earliestEnd);
          expect(above.slack).toBeLessThanOrEqual(one.slack);
        }
      }
      if (schedule.members.length > 0)
        expect(schedule.members.some((one) => one.critical && one.earliestEnd === schedule.end)).toBe(true);
    }));

  it('of a chain is as long as a longest path, found by trying all', () =>
    forAll(200, [plans()], (of) => {
      const flat = plan({
        tasks: of.tasks.map((one) => ({ ...one, wbs_id: null, start_date: null })),
        dependencies: of.dependencies.filter(
          ({ pred, succ }) => pred.startsWith('t') && succ.startsWith('t') && pred < succ,
        ),
      });
      const length = (id: string): number =>
        1 +
        Math.max(0, ...flat.dependencies.filter(({ pred }) => pred === id).map(({ succ }) => length(succ)));
      const longest = Math.max(0, ...flat.tasks.map(({ id }) => length(id)));
      const { start, end } = scheduleOf(flat, today)!;
      expect(end - start).toBe(longest);
    }));
});

/** Small plans of any kind; dependencies may close circles. */
function plans(): fc.Arbitrary<Plan> {
  const day = fc.option(
    fc.integer({ min: 1, max: 28 }).map((n) => `2026-03-${String(n).padStart(2, '0')}`),
    { nil: null },
  );
  const index = fc.integer({ min: -1, max: 7 });
  const items = fc
    .array(
      fc.record({
        above: index,
        completion: fc.integer({ min: 0, max: 100 }),
        start_date: day,
        end_date: day,
        is_milestone: fc.boolean(),
      }),
      { maxLength: 6 },
    )
    .map((list) =>
      list.map(({ above, ...more }, n) => item(`w${n}`, above >= 0 && above < n ? `w${above}` : null, more)),
    );
  const tasks = fc
    .array(
      fc.record({
        above: index,
        status: fc.constantFrom('todo' as const, 'done' as const),
        start_date: day,
        due_date: day,
      }),
      { maxLength: 8 },
    )
    .map((list) => list.map(({ above, ...more }, n) => task(`t${n}`, above >= 0 ? `w${above}` : null, more)));
  return fc
    .tuple(items, tasks, fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 8 }))
    .map(([w, t, ends]) => {
      const ids = [...w, ...t].map(({ id }) => id);
      const dependencies =
        ids.length === 0
          ? []
          : ends.map(([a, b]) => ({ pred: ids[a % ids.length]!, succ: ids[b % ids.length]! }));
      return { items: w, tasks: t, dependencies };
    });
}

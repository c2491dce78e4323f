import type {
  QueryDimension,
  QueryMeasure,
  ReportQuery,
} from '../../../../domain/inventory/reports/report.job.ts';
import {
  COST_LIMIT,
  guardCost,
  runQuery,
  withQuerySnapshot,
} from '../../../../reports/analysis/query/query.run.ts';
import { closeAfterAll, createTestApp } from '../../../support/harness.ts';
import { type App, type Component, sequence, storeLandscape } from './query.fixture.ts';

const t = closeAfterAll(await createTestApp());
const apps = await storeLandscape(t);

/** One way through the landscape: a card with one each of what is linked to it. */
type Way = { app: App; link?: App['components'][number]; provider?: string; tag?: string; option?: string };

interface KnownField {
  field: string;
  /** Which part of a way the field needs. */
  needs: ('link' | 'provider' | 'tag' | 'option')[];
  read(way: Way): unknown;
  /** What is counted once in a group. */
  entity(way: Way): unknown;
  numeric?: true;
}

const own = ({ app }: Way) => app.id;
const component = ({ link }: Way): Component | undefined => link?.card;
const phaseOn = (day: string, app: App) =>
  !app.lifecycle ? 'none' : app.lifecycle.active! <= day ? 'active' : 'plan';

const known: (KnownField & { dimension?: Partial<QueryDimension> })[] = [
  {
    field: 'attributes.businessCriticality',
    needs: [],
    read: ({ app }) => app.attributes.businessCriticality,
    entity: own,
  },
  {
    field: 'attributes.costTotalAnnual',
    needs: [],
    read: ({ app }) => app.attributes.costTotalAnnual,
    entity: own,
    numeric: true,
  },
  {
    field: 'attributes.reviewedOn',
    dimension: { bucket: 'quarter' },
    needs: [],
    read: ({ app }) => {
      const day = app.attributes.reviewedOn as string | undefined;
      return day && `${day.slice(0, 4)}-Q${Math.ceil(Number(day.slice(5, 7)) / 3)}`;
    },
    entity: own,
  },
  {
    field: 'phase',
    dimension: { at: '2024-01-01' },
    needs: [],
    read: ({ app }) => phaseOn('2024-01-01', app),
    entity: own,
  },
  { field: 'attributes.channels', needs: ['option'], read: ({ option }) => option, entity: own },
  { field: 'tags.Region', needs: ['tag'], read: ({ tag }) => tag, entity: own },
  {
    field: 'relation.relAppToITC.target.subtype',
    needs: ['link'],
    read: (way) => component(way)?.subtype,
    entity: (way) => component(way)?.id,
  },
  {
    field: 'relation.relAppToITC.target.name',
    needs: ['link'],
    read: (way) => component(way)?.name,
    entity: (way) => component(way)?.id,
  },
  {
    field: 'relation.relAppToITC.attributes.costTotalAnnual',
    needs: ['link'],
    read: ({ link }) => link?.cost,
    entity: ({ link }) => link?.relation,
    numeric: true,
  },
  {
    field: 'relation.relAppToITC.target.relation.relProviderToITC.source.name',
    needs: ['link', 'provider'],
    read: ({ provider }) => provider,
    entity: ({ provider }) => provider,
  },
];

const orNone = <T>(items: T[]): (T | undefined)[] => (items.length > 0 ? items : [undefined]);

/** All ways from a card to what the fields need. */
function waysFrom(app: App, needs: ReadonlySet<string>): Way[] {
  let ways: Way[] = [{ app }];
  const extend = (need: string, more: (way: Way) => Partial<Way>[]) => {
    if (needs.has(need)) ways = ways.flatMap((way) => orNone(more(way)).map((part) => ({ ...way, ...part })));
  };
  extend('link', () => app.components.map((link) => ({ link })));
  extend('provider', ({ link }) => (link?.card.providers ?? []).map((provider) => ({ provider })));
  extend('tag', () => app.tags.map((tag) => ({ tag })));
  extend('option', () => ((app.attributes.channels as string[]) ?? []).map((option) => ({ option })));
  return ways;
}

const isPresent = (value: unknown) => value !== undefined && value !== null;

function computed(measure: QueryMeasure, field: KnownField | undefined, ways: Way[]): unknown {
  if (!field) return new Set(ways.map(own)).size;
  const entities = new Map<unknown, Set<unknown>>();
  for (const way of ways) {
    const [entity, value] = [field.entity(way), field.read(way)];
    if (!isPresent(entity) || !isPresent(value)) continue;
    entities.set(entity, (entities.get(entity) ?? new Set()).add(value));
  }
  const values = [...entities.values()].flatMap((set) => [...set]);
  const numbers = (values as number[]).sort((a, b) => a - b);
  const sum = numbers.reduce((total, value) => total + value, 0);
  switch (measure.fn) {
    case 'count':
      return entities.size;
    case 'distinct':
      return new Set(values).size;
    case 'sum':
      return numbers.length === 0 ? null : sum;
    case 'avg':
      return numbers.length === 0 ? null : Number((sum / numbers.length).toFixed(6));
    case 'min':
      return numbers[0] ?? null;
    case 'max':
      return numbers.at(-1) ?? null;
    case 'percentile': {
      if (numbers.length === 0) return null;
      const place = measure.p! * (numbers.length - 1);
      const [low, high] = [numbers[Math.floor(place)]!, numbers[Math.ceil(place)]!];
      return low + (high - low) * (place - Math.floor(place));
    }
  }
}

function expected(dimensions: QueryDimension[], measures: QueryMeasure[]): unknown[][] {
  const fieldOf = (path: string | undefined) => known.find(({ field }) => field === path);
  const fields = [...dimensions, ...measures].flatMap(({ field }) => fieldOf(field) ?? []);
  const needs = new Set<string>(fields.flatMap((field) => field.needs));
  const groups = new Map<string, Way[]>();
  for (const way of apps.flatMap((app) => waysFrom(app, needs))) {
    const key = JSON.stringify(dimensions.map(({ field }) => fieldOf(field)!.read(way) ?? null));
    groups.set(key, [...(groups.get(key) ?? []), way]);
  }
  return [...groups].map(([key, ways]) => [
    ...JSON.parse(key),
    ...measures.map((measure) => computed(measure, fieldOf(measure.field), ways)),
  ]);
}

const inOrder = (rows: unknown[][]) => rows.map((row) => JSON.stringify(row)).sort();

async function ask(query: Partial<ReportQuery>) {
  const whole = { from: ['Application'], filter: '', dimensions: [], measures: [], having: [], sort: [] };
  return JSON.parse(await runQuery(await t.ctx(), { ...whole, ...query }, { page: 1, page_size: 10_000 }));
}

it('queries agree with a computation over the loaded cards, whatever is put together', async () => {
  const pick = sequence(11);
  for (let round = 0; round < 60; round += 1) {
    const dimensions = known
      .filter(() => pick(4) === 0)
      .slice(0, 3)
      .map(({ field, dimension }) => ({ field, ...dimension }));
    const measures: QueryMeasure[] = [{ fn: 'count' }];
    const measurable = known.filter((field) => !field.dimension);
    for (let n = pick(4); n > 0; n -= 1) {
      const field = measurable[pick(measurable.length)]!;
      const fns = field.numeric
        ? (['sum', 'avg', 'min', 'max', 'percentile', 'count', 'distinct'] as const)
        : (['count', 'distinct'] as const);
      const fn = fns[pick(fns.length)]!;
      measures.push({
        fn,
        field: field.field,
        as: `m${measures.length}`,
        ...(fn === 'percentile' ? { p: 0.25 } : {}),
      });
    }
    const answer = await ask({ dimensions, measures });
    const rows = expected(dimensions, measures);
    expect(inOrder(answer.rows), JSON.stringify({ dimensions, measures })).toEqual(inOrder(rows));
    expect(answer.total_groups).toBe(rows.length);
  }
});

it('queries find the first and last days and moments beside what relations add up to', async () => {
  const measures: QueryMeasure[] = [
    { fn: 'max', field: 'lifecycle.active' },
    { fn: 'min', field: 'created_at' },
    { fn: 'count', field: 'relation.relAppToITC' },
  ];
  const days = apps.flatMap(({ lifecycle }) => lifecycle?.active ?? []).sort();
  const [first] = (
    await t.services.db.raw(`select utc(min(created_at)) as at from cards where type = 'Application'`)
  ).rows;
  const links = apps.flatMap(({ components }) => components).length;
  expect((await ask({ measures })).rows).toEqual([[days.at(-1), first.at, links]]);
  expect((await ask({ measures, filter: 'name = "no such application"' })).rows).toEqual([[null, null, 0]]);
});

it('guard refuses what the planner expects to take long, and names the way to get it all the same', () => {
  expect(() => guardCost(COST_LIMIT)).not.toThrow();
  expect(() => guardCost(COST_LIMIT + 1)).toThrow(/respond-async/);
});

it('guard ends a statement at its limit', async () => {
  const sleep = withQuerySnapshot(t.services.db, { asOf: undefined, costs: true }, 20, (snapshot) =>
    snapshot.query('select pg_sleep(9)'),
  );
  await expect(sleep).rejects.toMatchObject({ code: 'query_too_heavy' });
});

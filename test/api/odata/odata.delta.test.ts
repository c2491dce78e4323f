import fc from 'fast-check';
import { type Landscape, randomChanges } from '../../reports/exchange/extraction/random-changes.ts';
import type { TestResponse } from '../../support/harness.ts';
import { forAllAsync } from '../../support/property.ts';
import { ask, createLandscape, follow } from './odata.fixture.ts';

const { t, admin, ids } = await createLandscape();

afterAll(() => t.close());

type Entity = { id: string; '@removed'?: { reason: string } } & Record<string, unknown>;

/** A copy of a set, as a client keeps it. */
class Copy {
  entities = new Map<string, Entity>();
  link: string | undefined;
  size: string;
  path: string;
  options: Record<string, string>;

  constructor(path: string, options: Record<string, string> = {}, size = '2') {
    this.path = path;
    this.options = options;
    this.size = size;
  }

  /** Reads on, from the start or from where it stood; `between` runs between pages. */
  async update(between?: () => Promise<unknown>): Promise<void> {
    const prefer = { prefer: `track-changes, maxpagesize=${this.size}` };
    let answer: TestResponse =
      this.link === undefined
        ? await ask(admin, this.path, this.options, prefer)
        : await follow(admin, this.link, prefer);
    for (;;) {
      expect([answer.status, answer.body]).toEqual([200, expect.anything()]);
      for (const entity of answer.body.value as Entity[]) {
        if (entity['@removed']) this.entities.delete(entity.id);
        else this.entities.set(entity.id, entity);
      }
      const next = answer.body['@odata.nextLink'];
      if (next === undefined) break;
      await between?.();
      answer = await follow(admin, next, prefer);
    }
    this.link = answer.body['@odata.deltaLink'];
    expect(this.link).toBeDefined();
  }

  async expectEqual(): Promise<void> {
    const { body } = await ask(admin, this.path, this.options);
    const now = new Map((body.value as Entity[]).map((entity) => [entity.id, entity]));
    expect([...this.entities.values()].sort((a, b) => (a.id < b.id ? -1 : 1))).toEqual(
      [...now.values()].sort((a, b) => (a.id < b.id ? -1 : 1)),
    );
  }
}

const post = async (path: string, body: unknown = undefined) => {
  const answer = await admin.post(`/api/v1${path}`, body);
  expect(answer.status).toBeLessThan(300);
  return answer.body;
};

/** RUNS and SEED of fast-check, to look for more, and to see a failure again. */
const RUNS = Number(process.env.DELTA_RUNS ?? 3);
const SEED = process.env.DELTA_SEED === undefined ? {} : { seed: Number(process.env.DELTA_SEED) };

it(
  'keeps copies equal whatever changes, and whenever they are brought up to date',
  async () => {
    const copies = [
      new Copy('/Application'),
      new Copy('/Application', { $filter: "timeModel eq 'invest'", $select: 'id,name,timeModel' }),
      new Copy('/RelAppToITC', {}, '1'),
    ];
    for (const copy of copies) await copy.update();
    const group = await post('/tag-groups', { name: 'Area' });
    const tag = await post(`/tag-groups/${group.id}/tags`, { name: 'North' });
    const { userId } = await t.as('member', 'renamed');
    const there: Landscape = {
      cards: Object.entries(ids).flatMap(([name, id]) => (name.includes('-') ? [] : [id])),
      tags: [tag.id],
      groups: [group.id],
      users: [userId],
      relations: [ids['Alpha-Database']!, ids['Alpha-Server']!],
      stakeholders: [userId],
      merges: [],
    };
    /** A change, then a copy that is brought up to date, perhaps while more changes; 3 is none. */
    const step = fc.record({ copy: fc.integer({ min: 0, max: 3 }), meanwhile: fc.boolean() });
    await forAllAsync(
      { numRuns: RUNS, endOnFailure: true, ...SEED },
      [fc.nat(), fc.array(step, { minLength: 25, maxLength: 40 })],
      async (seed, steps) => {
        const writer = randomChanges(admin, seed, { metamodel: false });
        for (const { copy, meanwhile } of steps) {
          await writer.change(there);
          await copies[copy]?.update(meanwhile ? () => writer.change(there) : undefined);
        }
        for (const copy of copies) {
          await copy.update();
          await copy.expectEqual();
        }
      },
    );
  },
  60_000 + RUNS * 5_000,
);

it('tells of what is gone, and why', async () => {
  const one = await post('/cards', { type: 'Application', name: 'Passing' });
  const two = await post('/cards', { type: 'Application', name: 'Resting' });
  const start = await ask(admin, '/Application', {}, { prefer: 'odata.track-changes' });
  expect(start.headers['preference-applied']).toBe('odata.track-changes');
  const link = start.body['@odata.deltaLink'];
  await admin.delete(`/api/v1/cards/${one.id}`);
  await post(`/cards/${two.id}/archive`);
  const { body } = await follow(admin, link);
  expect(body['@odata.context']).toMatch(/#Application\/\$delta$/);
  const removed = (id: string, reason: string) => ({
    '@removed': { reason },
    '@odata.id': expect.stringContaining(`/Application(${id})`),
    id,
  });
  expect(body.value).toEqual([removed(one.id, 'deleted'), removed(two.id, 'changed')]);
  expect((await follow(admin, link, { 'odata-maxversion': '4.0' })).body.value[0]).toEqual({
    '@odata.context': expect.stringMatching(/#Application\/\$deletedEntity$/),
    id: expect.stringContaining(one.id),
    reason: 'deleted',
  });
  expect((await follow(admin, body['@odata.deltaLink'])).body.value).toEqual([]);
});

it('ends when the feed does not reach back, and when the properties of the set have changed', async () => {
  const link = (await ask(admin, '/ITComponent', {}, { prefer: 'track-changes' })).body['@odata.deltaLink'];
  const other = await ask(admin, '/ITComponent', {
    $filter: "name eq 'x'",
    $deltatoken: new URL(link).searchParams.get('$deltatoken')!,
  });
  expect([other.status, other.body.error.code]).toEqual([400, 'odata_invalid_query']);
  const { body: type } = await admin.get('/api/v1/metamodel/types/ITComponent');
  const [first, ...rest] = type.fields_schema;
  const fields = [...first.fields, { key: 'brandNew', label: 'New', type: 'text', weight: 0 }];
  await admin.patch('/api/v1/metamodel/types/ITComponent', {
    fields_schema: [{ ...first, fields }, ...rest],
  });
  const changed = await follow(admin, link);
  expect([changed.status, changed.body.error.code]).toEqual([410, 'position_expired']);
  const again = await ask(admin, '/ITComponent', {}, { prefer: 'track-changes' });
  await post('/cards', { type: 'ITComponent', name: 'One more' });
  const { max } = (await t.services.db('events').max('position').first()) as { max: number };
  await t.services
    .db('settings')
    .insert({ key: 'events.purged_through', value: JSON.stringify(max) })
    .onConflict('key')
    .merge();
  const expired = await follow(admin, again.body['@odata.deltaLink']);
  expect([expired.status, expired.body.error.code]).toEqual([410, 'position_expired']);
  await t.services.db('settings').where({ key: 'events.purged_through' }).delete();
});

it('does not promise changes where the feed does not tell of all', async () => {
  for (const options of [
    { $expand: 'RelAppToITC' },
    { $filter: 'RelAppToITC/any()' },
    { $filter: 'created_at lt now()' },
    { $top: '1' },
  ]) {
    const answer = await ask(admin, '/Application', options as unknown as Record<string, string>, {
      prefer: 'track-changes',
    });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.headers).not.toHaveProperty('preference-applied');
    expect(answer.body).not.toHaveProperty('@odata.deltaLink');
  }
});

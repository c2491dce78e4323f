import fc from 'fast-check';
import { openApp, type TestResponse } from '../../support/harness.ts';
import { forAllAsync } from '../../support/property.ts';
import { card } from '../../support/writes.ts';

const { db, admin } = await openApp(['admin']);

const times = <T>(n: number, work: (index: number) => T): T[] => Array.from({ length: n }, (_, i) => work(i));
const together = (n: number, work: (index: number) => Promise<TestResponse>) => Promise.all(times(n, work));
const statuses = (answers: TestResponse[]) => {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

/** Adds one to the users of a card under If-Match until it succeeds, and notes the statuses. */
function counter(id: string) {
  const seen = new Set<number>();
  const add = async () => {
    for (;;) {
      const read = await admin.get(card(id));
      const attributes = { numberOfUsers: read.body.attributes.numberOfUsers + 1 };
      const answer = await admin.patch(card(id), { attributes }, { 'if-match': read.headers.etag! });
      seen.add(answer.status);
      if (answer.status === 200) return;
    }
  };
  return { add, seen };
}

describe('writing one card from many sides', () => {
  it('loses none of 50 patches: each starts from what the one before has left', async () => {
    const { id } = await admin.card({ description: 'start' });
    const answers = await together(50, (n) => admin.patch(card(id), { description: `patch ${n}` }));
    expect(statuses(answers)).toEqual({ 200: 50 });
    const events = await db('events').where({ card_id: id }).orderBy('position').select('data');
    const chain = events.slice(1).map((event) => event.data.changes.description);
    expect(chain).toHaveLength(50);
    let last = 'start';
    for (const change of chain) {
      expect(change.old).toBe(last);
      last = change.new;
    }
    expect((await admin.get(card(id))).body.description).toBe(last);
  });

  it('counts to 50 under If-Match, with no refusal but 412', async () => {
    const { id } = await admin.card({ attributes: { numberOfUsers: 0 } });
    const { add, seen } = counter(id);
    // ten counters at a time: each round of all of them lets at least one through
    for (let round = 0; round < 5; round += 1) await Promise.all(times(10, add));
    expect((await admin.get(card(id))).body.attributes.numberOfUsers).toBe(50);
    expect([...seen].sort()).toEqual([200, 412]);
  });

  it('loses nothing of 200 writers at once, with If-Match or without, and shows none of them a deadlock', async () => {
    const { id } = await admin.card({ attributes: { numberOfUsers: 0 } });
    const part = await admin.card({ type: 'ITComponent' });
    const { add, seen } = counter(id);
    // most of 200 that start at once lose the first round: those who lost go on by twenties
    const first = await admin.get(card(id));
    const together200 = await together(200, () =>
      admin.patch(card(id), { attributes: { numberOfUsers: 1 } }, { 'if-match': first.headers.etag! }),
    );
    expect(statuses(together200)).toEqual({ 200: 1, 412: 199 });
    for (let round = 0; round < 3; round += 1) await Promise.all(times(20, add));
    expect((await admin.get(card(id))).body.attributes.numberOfUsers).toBe(61);
    expect([...seen].sort()).toEqual([200, 412]);

    // writers of every kind meet on the card: none sees a deadlock or a time-out
    const mixed = await together(200, (n) => {
      if (n % 5 === 0) {
        const ids = n % 2 ? [id, part.id] : [part.id, id];
        return admin.patch('/api/v1/cards/bulk', { ids, updates: { alias: `bulk ${n}` } });
      }
      if (n % 5 === 1) {
        return admin.post('/api/v1/relations', { type: 'relAppToITC', source_id: id, target_id: part.id });
      }
      if (n % 5 === 2) return admin.post(card(id, '/approval-status?action=approve'));
      return admin.patch(card(id), { description: `writer ${n}` });
    });
    for (const { status, body } of mixed) expect([200, 201, 409], JSON.stringify(body)).toContain(status);
    expect(
      mixed.filter(({ status }) => status === 409).every(({ body }) => body.code === 'duplicate_relation'),
    ).toBe(true);
    const events = await db('events').where({ card_id: id }).orderBy('position').select('data');
    let last: unknown = null;
    for (const { data } of events) {
      const change = data.changes.description;
      if (!change) continue;
      expect(change.old).toBe(last);
      last = change.new;
    }
    expect((await admin.get(card(id))).body.description).toBe(last);
  });

  it('archives it once', async () => {
    const { id } = await admin.card();
    expect(statuses(await together(10, () => admin.post(card(id, '/archive'))))).toEqual({ 200: 1, 409: 9 });
  });
});

describe('races for a name or a key', () => {
  it('creates one of 20 siblings of one name, and one card of an external id', async () => {
    const sibling = { type: 'Application', name: 'One seat' };
    const answers = await together(20, () => admin.post('/api/v1/cards', sibling));
    expect(statuses(answers)).toEqual({ 201: 1, 409: 19 });
    const winner = answers.find((answer) => answer.status === 201)!.body.id;
    for (const { status, body } of answers) {
      if (status === 409) expect(body).toMatchObject({ code: 'sibling_name_taken', existing_id: winner });
    }
    const keyed = await together(20, (n) =>
      admin.post('/api/v1/cards', { type: 'Application', name: `Keyed ${n}`, external_id: 'ONE' }),
    );
    expect(statuses(keyed)).toEqual({ 201: 1, 409: 19 });
    expect(new Set(keyed.map((answer) => answer.body.code))).toEqual(
      new Set([undefined, 'external_id_taken']),
    );
  });

  it('renames, moves and restores one to a name', async () => {
    const parent = await admin.card();
    const named = await Promise.all(times(5, (n) => admin.card({ name: `Rename ${n}` })));
    const renamed = await together(5, (n) => admin.patch(card(named[n]!.id), { name: 'Wanted' }));
    expect(statuses(renamed)).toEqual({ 200: 1, 409: 4 });

    const places = await Promise.all(times(5, () => admin.card()));
    const same = await Promise.all(places.map((place) => admin.card({ name: 'Same', parent_id: place.id })));
    const moved = await together(5, (n) => admin.patch(card(same[n]!.id), { parent_id: parent.id }));
    expect(statuses(moved)).toEqual({ 200: 1, 409: 4 });

    const archived: { id: string }[] = [];
    for (let n = 0; n < 5; n += 1) {
      const made = await admin.card({ name: 'Asleep' });
      await admin.post(card(made.id, '/archive'));
      archived.push(made);
    }
    const restored = await together(5, (n) => admin.post(card(archived[n]!.id, '/restore')));
    expect(statuses(restored)).toEqual({ 200: 1, 409: 4 });
  });
});

describe('races around relations', () => {
  it('lets one of many through where the type allows one, and one of equal ones', async () => {
    await db('relation_types').where({ key: 'relOrgToApp' }).update({ cardinality: '1:n' });
    await db.raw(`select raise_topics(array['metamodel'])`);
    const app = await admin.card();
    const orgs = await Promise.all(times(10, (n) => admin.card({ type: 'Organization', name: `Org ${n}` })));
    const body = (source: { id: string }) => ({
      type: 'relOrgToApp',
      source_id: source.id,
      target_id: app.id,
    });
    const single = await together(10, (n) => admin.post('/api/v1/relations', body(orgs[n]!)));
    expect(statuses(single)).toEqual({ 201: 1, 409: 9 });
    const bulk = await together(10, (n) =>
      admin.post('/api/v1/relations/bulk', {
        operations: orgs.map((org, row_index) => ({
          row_index,
          action: n % 2 ? 'upsert' : 'delete',
          type: 'relOrgToApp',
          source: { id: org.id },
          target: { id: app.id },
        })),
      }),
    );
    expect(statuses(bulk)).toEqual({ 200: 10 });
    const left = await db('relations').where({ type: 'relOrgToApp', target_id: app.id });
    expect(left.length).toBeLessThanOrEqual(1);

    const part = await admin.card({ type: 'ITComponent' });
    const equal = { type: 'relAppToITC', source_id: app.id, target_id: part.id };
    expect(statuses(await together(10, () => admin.post('/api/v1/relations', equal)))).toEqual({
      201: 1,
      409: 9,
    });
  });

  it('leaves no relation to a card that is deleted meanwhile', async () => {
    const apps = await Promise.all(times(10, () => admin.card()));
    const part = await admin.card({ type: 'ITComponent' });
    const [deleted, ...related] = await Promise.all([
      admin.delete(card(part.id)),
      ...apps.map((app) =>
        admin.post('/api/v1/relations', { type: 'relAppToITC', source_id: app.id, target_id: part.id }),
      ),
    ]);
    expect(deleted!.status).toBe(200);
    for (const { status } of related) expect([201, 422]).toContain(status);
    expect(await db('relations').where({ target_id: part.id })).toEqual([]);
  });
});

type TreeRow = { id: string; parent_id: string | null; status: string; level: string };

/** Checks that the cards form a forest of at most five levels, each with its level, nothing active below archived. */
function expectForest(rows: TreeRow[]): void {
  const byId = new Map(rows.map((row) => [row.id, row]));
  for (const row of rows) {
    let depth = 1;
    for (let at = row; at.parent_id !== null; depth += 1) {
      const parent = byId.get(at.parent_id)!;
      if (at.status === 'ACTIVE') expect(parent.status).toBe('ACTIVE');
      at = parent;
      expect(depth).toBeLessThanOrEqual(5);
    }
    expect(row.level).toBe(`L${depth}`);
  }
}

it('concurrent moves close no circle, keep levels, and leave nothing active below archived cards', async () => {
  const cards = await Promise.all(
    times(12, (n) => admin.card({ type: 'BusinessCapability', name: `Tree ${n}` })),
  );
  const act = fc.record({
    kind: fc.constantFrom('move', 'move', 'move', 'root', 'archive', 'restore', 'create'),
    card: fc.nat(cards.length - 1),
    parent: fc.nat(cards.length - 1),
    strategy: fc.constantFrom('cascade', 'disconnect', 'reparent'),
  });
  let serial = 0;
  await forAllAsync(
    { numRuns: 12, endOnFailure: true },
    [fc.array(act, { minLength: 20, maxLength: 30 })],
    async (acts) => {
      const answers = await Promise.all(
        acts.map(({ kind, card: n, parent, strategy }) => {
          const { id } = cards[n]!;
          const parent_id = cards[parent]!.id;
          if (kind === 'move') return admin.patch(card(id), { parent_id });
          if (kind === 'root') return admin.patch(card(id), { parent_id: null });
          if (kind === 'archive') return admin.post(card(id, '/archive'), { child_strategy: strategy });
          if (kind === 'restore') return admin.post(card(id, '/restore'));
          serial += 1;
          const body = { type: 'BusinessCapability', name: `Leaf ${serial}`, parent_id };
          return admin.post('/api/v1/cards', body);
        }),
      );
      for (const { status } of answers) expect([200, 201, 409, 422]).toContain(status);
      expectForest(
        await db('cards')
          .where({ type: 'BusinessCapability' })
          .select('id', 'parent_id', 'status', db.raw(`attributes ->> 'capabilityLevel' as level`)),
      );
    },
  );
});

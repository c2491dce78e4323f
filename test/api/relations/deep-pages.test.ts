import { openApp, pluck } from '../../support/harness.ts';

/* Pages far from both ends of a list, which are read from an anchor. */
const { db, admin } = await openApp(['admin']);
await db.raw(`
  with apps as (insert into cards (type, name) select 'Application', 'App ' || n from generate_series(1, 60) n returning id),
  parts as (insert into cards (type, name, status) select 'ITComponent', 'Part ' || n,
    case when n % 10 = 0 then 'ARCHIVED' else 'ACTIVE' end from generate_series(1, 60) n returning id)
  insert into relations (type, source_id, target_id, created_at)
  select 'relAppToITC', a.id, p.id, now() - (random() * 50)::int * interval '1 day' from apps a cross join parts p`);
await db.raw(
  `insert into cards (type, name) select 'Provider', 'Provider ' || n from generate_series(1, 2600) n`,
);
await db.raw(`select raise_topics(array['relations:relAppToITC', 'cards:Provider'])`);

/** All ids by cursor, which is the order of the pages. */
async function idsOf(list: string): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body } = await admin.get(`${list}&fields=id&page_size=200&cursor=${cursor}`);
    ids.push(...pluck(body.items, 'id'));
    cursor = body.next_cursor;
  }
  return ids;
}

it.each([
  '/api/v1/relations?sort_by=created_at',
  '/api/v1/relations?sort_by=created_at&sort_dir=desc',
  '/api/v1/relations?sort_by=target',
  '/api/v1/cards?type=Provider&sort_by=number&sort_dir=desc',
  '/api/v1/cards?type=Provider&sort_by=name',
  '/api/v1/cards?type=Provider&sort_by=data_quality&sort_dir=desc',
])('%s', async (list) => {
  const ids = await idsOf(list);
  expect(ids.length).toBeGreaterThan(2500);
  for (const page of [1, 26, 27, 30, 31, Math.ceil(ids.length / 50)]) {
    const { body } = await admin.get(`${list}&fields=id&page_size=50&page=${page}`);
    expect(body.total).toBe(ids.length);
    expect(pluck(body.items, 'id')).toEqual(ids.slice((page - 1) * 50, page * 50));
  }
});

it('are read anew after a change', async () => {
  const list = '/api/v1/cards?type=Provider&sort_by=name&page_size=50&fields=id,name&page=27';
  const { body: before } = await admin.get(list);
  await admin.card({ type: 'Provider', name: 'Aaa' });
  const { body: after } = await admin.get(list);
  expect(after.items[1]).toEqual(before.items[0]);
});

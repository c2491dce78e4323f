import { expect, it } from 'vitest';
import { expectProblem, ok, openApp, refusal } from '../../support/harness.ts';
import { riskWorld, url } from './risks.fixture.ts';

const { t, db, admin, member } = await openApp(['admin', 'member']);
const w = riskWorld(t, admin);

const send = (items: object[], dry_run = false) =>
  member.post(`${url}/bulk-import`, {
    items: items.map((item, n) => ({ row_index: n + 1, ...item })),
    dry_run,
  });

it('a try tells what the import does, row by row, and writes nothing', async () => {
  const card = await w.card({ name: 'Wages' });
  const there = await w.risk({ title: 'Flood' });
  const rows = [
    {
      title: 'Theft',
      owner_email: admin.email.toUpperCase(),
      card_names: ['wages', 'Nowhere'],
      status: 'in_progress',
    },
    { title: 'flood' },
    { title: 'Other', reference: there.reference },
    { title: 'Storm', category: 'weather' },
    {
      title: 'Quake',
      residual_probability: 'low',
      residual_impact: 'medium',
      target_resolution_date: '2031-01-01',
    },
  ];
  const since = await admin.position();
  const tried = await ok(send(rows, true));
  expect(await admin.changes(since, 'risk')).toEqual([]);
  const done = await send(rows);
  const plain = (body: typeof done.body) => ({
    ...body,
    dry_run: null,
    results: body.results.map((row: { status: string }) => ({
      ...row,
      ...(row.status === 'created' ? { id: null } : {}),
    })),
  });
  expect(plain(tried)).toEqual(plain(done.body));
  expect(tried.results[0].id).toBeNull();
  expect(done.body).toMatchObject({ created: 2, skipped: 2, failed: 1, dry_run: false });
  const [theft, flood, other, storm, quake] = done.body.results;
  expect(theft).toMatchObject({
    row_index: 1,
    status: 'created',
    warnings: ['no active card is called Nowhere'],
  });
  expect([flood.id, other.id]).toEqual([there.id, there.id]);
  expect(storm).toMatchObject({ status: 'failed', id: null, error: expect.stringContaining('category') });
  expect((await member.get(`${url}/${theft.id}`)).body).toMatchObject({
    reference: theft.reference,
    status: 'in_progress',
    owner_id: admin.userId,
    created_by: member.userId,
    cards: [{ card_id: card, role: 'affected' }],
  });
  expect((await member.get(`${url}/${quake.id}`)).body.residual_level).toBe('low');
  expect(await w.asked(admin.userId)).toEqual([`See to the risk ${theft.reference}: Theft`]);
  // once more: everything is there
  expect((await send(rows)).body).toMatchObject({ created: 0, skipped: 4, failed: 1 });
});

it('refuses what is no import', async () => {
  expect(await refusal(send([]))).toContain('items');
  expect(await refusal(send([{ title: 'T', target_resolution_date: 'soon' }]))).toContain(
    'items.0.target_resolution_date',
  );
  expect(await refusal(send([{ title: 'T', unknown: 1 }]))).toContain('validation_failed');
  await expectProblem(
    (await t.as('viewer')).post(`${url}/bulk-import`, { items: [{ row_index: 1, title: 'T' }] }),
    403,
  );
});

it('takes two thousand rows in a fixed number of statements, and undoes them', async () => {
  const before = await db('risks').count({ n: '*' }).first();
  const rows = Array.from({ length: 2000 }, (_, n) => ({
    title: `Many ${n}`,
    owner_email: member.email,
    card_names: ['wages'],
  }));
  let statements = 0;
  const count = () => {
    statements += 1;
  };
  db.on('query', count);
  const done = await send(rows);
  db.off('query', count);
  expect(done.body, done.text.slice(0, 500)).toMatchObject({ created: 2000, failed: 0 });
  expect(statements).toBeLessThan(40);
  const numbers = done.body.results.map(({ reference }: { reference: string }) => Number(reference.slice(2)));
  expect(numbers).toEqual(numbers.map((_: number, n: number) => numbers[0] + n));
  expect(await db('todos').where({ assigned_to: member.userId, topic: 'risk' })).toHaveLength(2000);
  expect(before).toBeDefined();
});

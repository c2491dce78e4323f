import { randomUUID } from 'node:crypto';
import {
  answered,
  expectInvalid,
  expectProblem,
  ok,
  openApp,
  pluck,
  refusal,
} from '../../support/harness.ts';
import { merge } from '../cards/merge.fixture.ts';
import { deciding, ids, url } from './adr.fixture.ts';

const { t, db, admin } = await openApp(['admin']);
const d = deciding(admin);
const [member, viewer] = await t.clients('member', 'viewer');

describe('a decision', () => {
  it('is written, read, changed and deleted, with an event for each', async () => {
    const since = await admin.position();
    const content = {
      title: ' Take orders in one place ',
      context: 'Orders come in\r\nby four systems.\n\n',
      decision: 'One desk',
      related_decisions: ['ADR-003', ' ADR-003 ', ''],
      confirmation: '',
    };
    const made = await answered(admin.post(url, content), 201);
    expect(made.body).toMatchObject({
      title: 'Take orders in one place',
      status: 'draft',
      context: 'Orders come in\nby four systems.',
      decision: 'One desk',
      consequences: null,
      confirmation: null,
      related_decisions: ['ADR-003'],
      created_by: admin.userId,
      signatories: [],
      signed_at: null,
      revision_number: 1,
      parent_id: null,
      linked_cards: [],
      rejection: null,
      content_hash: null,
      integrity: null,
    });
    expect(made.body.reference_number).toMatch(/^ADR-\d{3}$/);
    const { id } = made.body;
    const read = await viewer.get(`${url}/${id}`);
    expect(read.body).toEqual(made.body);
    expect(read.headers.etag).toBe(made.headers.etag);
    const patched = await member.patch(
      `${url}/${id}`,
      { decision: 'Two desks', context: null, status: 'draft' },
      { 'if-match': read.headers.etag! },
    );
    expect(patched.body).toMatchObject({ decision: 'Two desks', context: null });
    expect((await member.patch(`${url}/${id}`, { decision: 'Two desks' })).body).toEqual(patched.body);
    expect((await admin.delete(`${url}/${id}`)).status).toBe(204);
    const reference_number = made.body.reference_number;
    expect(await d.told(since, viewer)).toMatchObject([
      { event_type: 'adr.created', data: { id, reference_number, changes: { status: { new: 'draft' } } } },
      {
        event_type: 'adr.updated',
        data: { changes: { decision: { old: 'One desk', new: 'Two desks' }, context: { new: null } } },
      },
      { event_type: 'adr.deleted', data: { changes: { title: { new: null } } } },
    ]);
    await admin.undo();
    const { body } = await viewer.get(`${url}/${id}`);
    expect(body).toMatchObject({ reference_number, decision: 'Two desks' });
  });

  it('is refused where it does not fit', async () => {
    const { id } = await d.adr();
    const unknown = randomUUID();
    await expectInvalid(admin.post(url, { title: '  ' }), 'title');
    await expectInvalid(admin.post(url, { title: 'A\nB' }), 'title');
    expect(await refusal(admin.post(url, { title: 'A', status: 'draft' }))).toContain(422);
    await expectProblem(admin.patch(`${url}/${id}`, { status: 'signed' }), 422, 'use_operation', 'status');
    await expectInvalid(admin.get(`${url}?date_from=yesterday`), 'date_from');
    for (const act of [
      admin.post(`${url}/${id}/cards`, { card_id: unknown }),
      admin.delete(`${url}/${id}/cards/${(await d.card()).id}`),
    ])
      await expectProblem(act, 404, 'not_found');
    const own = await d.adr({}, member);
    expect((await member.delete(`${url}/${id}`)).body).toMatchObject({ permission: 'adr.delete' });
    expect((await member.delete(`${url}/${own.id}`)).status).toBe(204);
  });

  it('gets the next number, also where many are written at once', async () => {
    const highest = async () => Number((await d.adr()).reference_number.slice(4));
    const before = await highest();
    const made = await Promise.all(Array.from({ length: 12 }, () => d.adr()));
    const numbers = made.map(({ reference_number }) => Number(reference_number.slice(4)));
    expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 12 }, (_, n) => before + 1 + n));
    // past 999 nothing breaks
    await db('adrs').where({ id: made[11]!.id }).update({ number: 1000 });
    expect((await d.adr()).reference_number).toBe('ADR-1001');
    const { items } = await ok(admin.get(`${url}?sort_by=reference_number&sort_dir=desc&page_size=2`));
    expect(pluck(items, 'reference_number')).toEqual(['ADR-1001', 'ADR-1000']);
  });

  it('is found by its filters, its texts and its cards', async () => {
    const { id: initiative } = await d.card({ type: 'Initiative' });
    const one = await d.adr({ title: 'Zebra crossing', consequences: 'Wídér ways' });
    const other = await d.adr({ title: 'Zebra farm', related_decisions: ['https://wiki.example/42'] });
    await admin.create(`${url}/${one.id}/cards`, { card_id: initiative });
    const list = async (query: string) => ids(await ok(viewer.get(`${url}?${query}`)));
    expect(await list('search=zebra&sort_by=title')).toEqual([one.id, other.id]);
    expect(await list('search=wider%20WAYS')).toEqual([one.id]);
    expect(await list('search=wiki.example')).toEqual([other.id]);
    expect(await list(`search=${one.reference_number}`)).toEqual([one.id]);
    expect(await list(`initiative_id=${initiative}`)).toEqual([one.id]);
    expect(await list(`card_id=${initiative}`)).toEqual([one.id]);
    expect(await list('card_type=Initiative')).toEqual([one.id]);
    expect(await list('search=zebra&status=signed')).toEqual([]);
    const today = new Date().toISOString().slice(0, 10);
    const days = (name: string) => `search=zebra&sort_by=title&${name}_from=${today}&${name}_to=${today}`;
    expect(await list(days('date'))).toEqual([one.id, other.id]);
    expect(await list(days('modified'))).toEqual([one.id, other.id]);
    expect(await list(days('signed'))).toEqual([]);
    expect(await list('search=zebra&date_to=2020-01-01')).toEqual([]);
    const rows = await ok(viewer.get(`${url}?search=zebra&sort_by=title&fields=title,linked_cards`));
    expect(rows.items[0]).toEqual({
      title: 'Zebra crossing',
      linked_cards: [{ id: initiative, name: expect.any(String), type: 'Initiative' }],
    });
    const whole = (await ok(viewer.get(`${url}?search=zebra`))).items[0];
    expect(Object.keys(whole)).not.toEqual(expect.arrayContaining(['context']));
    expect(whole).toHaveProperty('decision');
    const seen = new Set<string>();
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: { items: { id: string }[]; next_cursor: string | null } = await ok(
        viewer.get(`${url}?page_size=5&cursor=${cursor}`),
      );
      for (const { id } of page.items) seen.add(id);
      cursor = page.next_cursor;
    }
    expect(seen.size).toBe((await ok(viewer.get(`${url}?page_size=1`))).total);
  });

  it('is copied with its texts and cards, under a number of its own', async () => {
    const { id: card_id } = await d.card();
    const from = await d.adr({ context: 'Why', pros_and_cons: 'For' });
    await admin.create(`${url}/${from.id}/cards`, { card_id });
    const copy = await member.create(`${url}/${from.id}/duplicate`);
    expect(copy).toMatchObject({
      title: from.title,
      context: 'Why',
      pros_and_cons: 'For',
      status: 'draft',
      revision_number: 1,
      parent_id: null,
      created_by: member.userId,
      linked_cards: [{ id: card_id }],
    });
    expect(copy.reference_number).not.toBe(from.reference_number);
  });
});

it('a card is linked once, shows the decisions it is linked to, and has both in its history', async () => {
  const { id: card_id } = await d.card();
  const id = await d.signed();
  const since = await admin.position();
  expect(await admin.create(`${url}/${id}/cards`, { card_id })).toMatchObject({
    linked_cards: [{ id: card_id }],
    integrity: 'intact',
  });
  await expectProblem(admin.post(`${url}/${id}/cards`, { card_id }), 409, 'duplicate_link');
  expect(ids(await ok(viewer.get(`${url}/by-card/${card_id}`)))).toEqual([id]);
  // a link has no ETag: a condition on it counts for nothing
  const unlinked = await admin.delete(`${url}/${id}/cards/${card_id}`, undefined, { 'if-match': '"x"' });
  expect(unlinked.status).toBe(204);
  await admin.undo();
  expect(ids(await ok(viewer.get(`${url}/by-card/${card_id}?status=signed`)))).toEqual([id]);
  expect(await d.told(since, viewer)).toMatchObject([
    { event_type: 'adr_card.created', card_id, data: { adr_id: id } },
    { event_type: 'adr_card.deleted', card_id },
    { event_type: 'adr_card.created', card_id },
  ]);
  const history = (await ok(viewer.get(`/api/v1/cards/${card_id}/history`))).items;
  expect(pluck(history, 'event_type')).toContain('adr_card.created');
});

it('a card takes its links along when it is merged, and leaves the decision when it is deleted', async () => {
  const [one, other] = [(await d.card()).id, (await d.card()).id];
  const [both, alone] = [await d.adr(), await d.adr()];
  for (const card_id of [one, other]) await admin.create(`${url}/${both.id}/cards`, { card_id });
  await admin.create(`${url}/${alone.id}/cards`, { card_id: other });
  const merged = await answered(merge(admin, one, [other]));
  expect(ids(await ok(viewer.get(`${url}/by-card/${one}?sort_dir=asc`)))).toEqual([both.id, alone.id]);
  await ok(admin.post(`/api/v1/card-merges/${merged.body.merge_id}/undo`));
  expect(ids(await ok(viewer.get(`${url}/by-card/${one}`)))).toEqual([both.id]);
  expect(ids(await ok(viewer.get(`${url}/by-card/${other}?sort_dir=asc`)))).toEqual([both.id, alone.id]);
  await ok(admin.post(`/api/v1/cards/${other}/archive`));
  await ok(admin.delete(`/api/v1/cards/${other}`));
  expect(await ok(viewer.get(`${url}/${alone.id}`))).toMatchObject({ linked_cards: [] });
  await admin.undo();
  expect(await ok(viewer.get(`${url}/${alone.id}`))).toMatchObject({ linked_cards: [{ id: other }] });
});

it('events and personal data are shown to those alone who may read decisions', async () => {
  const since = await admin.position();
  const { id } = await d.adr();
  await ok(admin.post(`${url}/${id}/request-signatures`, { user_ids: [member.userId] }));
  const clerk = 'clerk';
  await db('roles').insert({
    key: clerk,
    label: 'Clerk',
    permissions: JSON.stringify({ 'inventory.view': true }),
  });
  expect(await d.told(since, await t.as(clerk))).toEqual([]);
  expect(await d.told(since, viewer)).toHaveLength(2);
  const kept = (await ok(admin.get(`/api/v1/accounts/${member.userId}/personal-data`))).decisions;
  expect(pluck(kept, 'written')).toContain(false);
});

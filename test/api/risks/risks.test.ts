import { randomUUID } from 'node:crypto';
import type { TestClient } from '../../support/harness.ts';
import {
  eventKinds,
  expectInvalid,
  expectProblem,
  ok,
  openApp,
  pluck,
  refusal,
} from '../../support/harness.ts';
import { tellAll } from '../../support/notifications.ts';
import { merge } from '../cards/merge.fixture.ts';
import { riskWorld, url } from './risks.fixture.ts';
import expectedMetrics from './risks.metrics.json' with { type: 'json' };

const { t, db, admin, member, viewer } = await openApp(['admin', 'member', 'viewer']);
const w = riskWorld(t, admin);

const history = async (card: string) =>
  pluck((await viewer.get(`/api/v1/cards/${card}/history`)).body.items, 'event_type').filter((type: string) =>
    type.startsWith('risk'),
  );

describe('a risk', () => {
  it('is written, read, changed and deleted, with its events in the histories of its cards', async () => {
    const [one, two] = [await w.card({ name: 'Alpha' }), await w.card({ name: 'Beta' })];
    const since = await admin.position();
    const made = await admin.post(url, {
      title: ' Fire ',
      category: 'operational',
      initial_probability: 'low',
      initial_impact: 'critical',
      card_ids: [two, one, one.toUpperCase()],
    });
    expect(made.status, made.text).toBe(201);
    const { id } = made.body;
    expect(made.body).toMatchObject({
      reference: expect.stringMatching(/^R-\d{6}$/),
      title: 'Fire',
      source_type: 'manual',
      initial_level: 'medium',
      residual_level: null,
      status: 'identified',
      created_by: admin.userId,
      cards: [
        { card_id: one, card_name: 'Alpha', card_type: 'Application', role: 'affected' },
        { card_id: two, role: 'affected' },
      ],
    });
    const read = await viewer.get(`${url}/${id}`);
    expect(read.body).toEqual(made.body);
    expect(read.headers.etag).toBe(made.headers.etag);

    const patched = await admin.patch(
      `${url}/${id}`,
      { residual_probability: 'low', residual_impact: 'low', description: 'Smoke.' },
      { 'if-match': read.headers.etag! },
    );
    expect(patched.body).toMatchObject({ residual_level: 'low', description: 'Smoke.' });
    expect((await admin.patch(`${url}/${id}`, { description: 'Smoke.' })).body).toEqual(patched.body);
    expect((await admin.patch(`${url}/${id}`, { description: null })).body.description).toBe('');
    await ok(admin.delete(`${url}/${id}`), 204);
    await expectProblem(admin.get(`${url}/${id}`), 404);

    const events = await viewer.changes(since, 'risk');
    expect(events.map(({ event_type, card_id }) => [event_type, card_id])).toEqual([
      ['risk.created', null],
      ['risk.added', expect.any(String)],
      ['risk.added', expect.any(String)],
      ['risk.updated', null],
      ['risk.updated', null],
      ['risk.removed', expect.any(String)],
      ['risk.removed', expect.any(String)],
      ['risk.deleted', null],
    ]);
    expect(events[3].data).toMatchObject({
      risk_id: id,
      level: 'low',
      card_ids: expect.arrayContaining([one, two]),
      changes: { residual_impact: { old: null, new: 'low' }, description: { old: '', new: 'Smoke.' } },
    });
    expect(await history(one)).toEqual(['risk.removed', 'risk.updated', 'risk.updated', 'risk.added']);

    await admin.undo();
    expect((await admin.get(`${url}/${id}`)).body).toMatchObject({
      cards: [{ card_id: one }, { card_id: two }],
    });
  });

  it('is refused where it does not fit', async () => {
    const unknown = randomUUID();
    const body = { title: ' ', owner_id: unknown, card_ids: [unknown] };
    await expectInvalid(admin.post(url, body), 'title', 'owner_id', 'card_ids.0');
    expect(await refusal(admin.post(url, { title: 'T', category: 'weather' }))).toContain('category');
    expect(await refusal(admin.post(url, { title: 'T', status: 'closed' }))).toContain('status');
  });

  it('gets the next reference, without gaps, also when many are written at once', async () => {
    const { reference } = await w.risk();
    await expectProblem(admin.post(url, { title: 'T', owner_id: randomUUID() }), 422);
    const made = await Promise.all(Array.from({ length: 12 }, () => w.risk()));
    const numbers = made.map((risk) => Number(risk.reference.slice(2)));
    const first = Number(reference.slice(2)) + 1;
    expect(numbers.sort((a, b) => a - b)).toEqual(numbers.map((_, n) => first + n));
  });
});

describe('the status of a risk', () => {
  it('is refused a move with what is allowed instead', async () => {
    const { id } = await w.risk();
    expect((await member.patch(`${url}/${id}`, { status: 'closed' })).body).toMatchObject({
      code: 'wrong_state',
      risk_status: 'identified',
      allowed: ['analysed', 'accepted'],
    });
  });

  it('accepted needs a rationale, and is stamped until it is left', async () => {
    const { id } = await w.risk();
    for (const acceptance_rationale of [undefined, null, ' '])
      await expectInvalid(
        admin.patch(`${url}/${id}`, { status: 'accepted', acceptance_rationale }),
        'acceptance_rationale',
      );
    const accepted = await member.patch(`${url}/${id}`, {
      status: 'accepted',
      acceptance_rationale: 'Small.',
    });
    expect(accepted.body).toMatchObject({ status: 'accepted', accepted_by: member.userId });
    expect(accepted.body.accepted_at).not.toBeNull();
    expect(await refusal(admin.patch(`${url}/${id}`, { acceptance_rationale: null }))).toContain(
      'acceptance_rationale',
    );
    const kept = (await member.get(`/api/v1/accounts/${member.userId}/personal-data`)).body;
    expect(kept.risks).toMatchObject([{ id, owned: false, accepted: true }]);
    const left = await admin.patch(`${url}/${id}`, { status: 'in_progress' });
    expect(left.body).toMatchObject({ acceptance_rationale: null, accepted_by: null, accepted_at: null });
  });

  it('closed makes it read-only apart from being opened again', async () => {
    const card = await w.card();
    const { id } = await w.risk({ card_ids: [card] });
    const task = (await admin.post(`${url}/${id}/mitigation-tasks`, { title: 'Do' })).body;
    await db('risks').where({ id }).update({ status: 'closed' });
    const at = `/api/v1/mitigation-tasks/${task.id}`;
    for (const act of [
      admin.patch(`${url}/${id}`, { title: 'Other' }),
      admin.patch(`${url}/${id}`, { title: 'Other', status: 'in_progress' }),
      admin.post(`${url}/${id}/cards`, { card_ids: [card] }),
      admin.delete(`${url}/${id}/cards/${card}`),
      admin.post(`${url}/${id}/mitigation-tasks`, { title: 'More' }),
      admin.patch(at, { title: 'More' }),
      admin.delete(at),
      admin.post(`${at}/occurrences/${task.occurrences[0].id}/complete`),
    ])
      await expectProblem(act, 409, 'wrong_state');
    await ok(admin.patch(`${url}/${id}`, {}));
    expect((await admin.patch(`${url}/${id}`, { status: 'in_progress' })).body.status).toBe('in_progress');
  });
});

describe('the owner of a risk', () => {
  it('is asked for as long as there is something to see to, and told of what others do', async () => {
    const risk = await w.risk({ owner_id: member.userId });
    const { id, reference, title } = risk;
    const todo = `See to the risk ${reference}: ${title}`;
    expect(risk.owner_name).not.toBeNull();
    expect(await w.asked(member.userId)).toEqual([todo]);
    for (const status of ['analysed', 'mitigation_planned', 'in_progress', 'mitigated']) {
      expect(await w.asked(member.userId)).toEqual([todo]);
      await ok(admin.patch(`${url}/${id}`, { status }));
    }
    expect(await w.asked(member.userId)).toEqual([]);
    await admin.patch(`${url}/${id}`, { status: 'in_progress' });
    expect(await w.asked(member.userId)).toEqual([todo]);
    await admin.patch(`${url}/${id}`, { owner_id: viewer.userId, title: 'Renamed' });
    expect(await w.asked(member.userId)).toEqual([]);
    expect(await w.asked(viewer.userId)).toEqual([`See to the risk ${reference}: Renamed`]);

    await tellAll(t.services);
    const kinds = async (client: TestClient) =>
      pluck(
        (await client.get('/api/v1/notifications')).body.items.filter(
          ({ link }: { link: string }) => link === `/risks/${id}`,
        ),
        'type',
      );
    expect(await kinds(member)).toEqual([...Array(5).fill('risk_status_changed'), 'risk_assigned']);
    expect(await kinds(viewer)).toEqual(['risk_assigned']);
    // the assignment is told once, not by its to-do as well
    const others = (await viewer.get('/api/v1/notifications')).body.items;
    expect(pluck(others, 'type')).not.toContain('todo_assigned');

    await admin.delete(`${url}/${id}`);
    expect(await w.asked(viewer.userId)).toEqual([]);
  });

  it('who is deleted owns nothing any more', async () => {
    const leaver = await t.as('member', 'leaver');
    const { id } = await w.risk({ owner_id: leaver.userId, card_ids: [await w.card()] });
    const task = { title: 'Do', owner_id: leaver.userId };
    const made = (await admin.post(`${url}/${id}/mitigation-tasks`, task)).body;
    expect(made.occurrences).toMatchObject([{ status: 'open', assigned_owner_id: leaver.userId }]);
    const since = await admin.position();
    await ok(admin.delete(`/api/v1/users/${leaver.userId}`), 204);
    expect((await admin.get(`${url}/${id}`)).body.owner_id).toBeNull();
    expect((await admin.changes(since, 'risk')).map(({ event_type }) => event_type)).toEqual([
      'risk.updated',
      'risk_mitigation_task.updated',
      'risk_mitigation_task.occurrence_updated',
    ]);
  });
});

describe('the cards of a risk', () => {
  it('are linked in a role, and taken off', async () => {
    const [one, two] = [await w.card(), await w.card()];
    const { id } = await w.risk({ card_ids: [one] });
    const since = await admin.position();
    const linked = await ok(admin.post(`${url}/${id}/cards`, { card_ids: [one, two], role: 'contributing' }));
    expect(linked.cards).toHaveLength(2);
    expect(new Set(pluck(linked.cards, 'role'))).toEqual(new Set(['contributing']));
    await admin.post(`${url}/${id}/cards`, { card_ids: [one, two], role: 'contributing' });
    expect(pluck((await admin.delete(`${url}/${id}/cards/${one}`)).body.cards, 'card_id')).toEqual([two]);
    expect(eventKinds(await admin.changes(since, 'risk'), 'risk')).toBe('role_changed added removed');
    expect((await viewer.get(`/api/v1/cards/${two}/risks`)).body.items).toMatchObject([{ id }]);
    expect((await viewer.get(`/api/v1/cards/${one}/risks`)).body.items).toEqual([]);
    await admin.undo();
    expect((await viewer.get(`/api/v1/cards/${one}/risks`)).body.total).toBe(1);
  });

  it('that the caller does not see are neither shown nor linked', async () => {
    const hidden = await w.card({ type: 'Platform' });
    const { id } = await w.risk({ card_ids: [hidden] });
    const hide = async (is_hidden: boolean) => {
      await db('card_types').where({ key: 'Platform' }).update({ is_hidden });
      await db.raw(`select raise_topics(array['metamodel'])`);
    };
    await hide(true);
    expect((await admin.get(`${url}/${id}`)).body.cards).toEqual([]);
    expect((await admin.get(`${url}?card_id=${hidden}`)).body.items).toEqual([]);
    expect(await refusal(admin.post(`${url}/${id}/cards`, { card_ids: [hidden] }))).toContain('card_ids.0');
    await expectProblem(admin.delete(`${url}/${id}/cards/${hidden}`), 404, 'not_found');
    await hide(false);
  });

  it('leave it when they are deleted, move with a merge, and come back with either', async () => {
    const [gone, survivor, other] = [await w.card(), await w.card(), await w.card()];
    const { id } = await w.risk({ card_ids: [gone, survivor, other] });
    const cards = async () => pluck((await admin.get(`${url}/${id}`)).body.cards, 'card_id').sort();
    await ok(admin.delete(`/api/v1/cards/${other}`));
    expect(await cards()).toEqual([gone, survivor].sort());
    await admin.undo();
    expect(await cards()).toEqual([gone, survivor, other].sort());
    const merged = await ok(merge(admin, survivor, [gone]));
    // both were linked: one link is left
    expect(await cards()).toEqual([survivor, other].sort());
    await ok(admin.post(`/api/v1/card-merges/${merged.merge_id}/undo`));
    expect(await cards()).toEqual([gone, survivor, other].sort());
  });
});

it('the register is filtered, sorted, searched and counted', async () => {
  const card = await w.card();
  const on = (more: object) => w.risk({ card_ids: [card], ...more });
  const past = '2020-01-01';
  const a = await on({ title: 'Quagga one', initial_probability: 'very_high', initial_impact: 'critical' });
  const b = await on({
    title: 'Quagga two',
    category: 'security',
    target_resolution_date: past,
    owner_id: admin.userId,
  });
  const c = await on({ title: 'Third', target_resolution_date: past });
  await admin.patch(`${url}/${a.id}`, { residual_probability: 'low', residual_impact: 'low' });
  await admin.patch(`${url}/${c.id}`, { status: 'accepted', acceptance_rationale: 'Small.' });
  const found = async (query: string) =>
    pluck((await viewer.get(`${url}?card_id=${card}&${query}`)).body.items, 'id');
  expect(await found('sort_by=reference&sort_dir=asc')).toEqual([a.id, b.id, c.id]);
  expect(await found('')).toEqual([c.id, a.id, b.id]);
  // what is left of it counts
  expect(await found('level=low')).toEqual([a.id]);
  expect(await found('level=critical')).toEqual([]);
  expect(await found('level=low&level=medium&sort_by=level')).toEqual(
    expect.arrayContaining([a.id, b.id, c.id]),
  );
  expect(await found('status=identified&status=accepted&sort_by=status')).toHaveLength(3);
  expect(await found('category=security&category=financial')).toEqual([b.id]);
  expect(await found('overdue=true')).toEqual([b.id]);
  expect(await found(`owner_id=${admin.userId}`)).toEqual([b.id]);
  expect(await found('source_type=compliance')).toEqual([]);
  expect(await found('search=QUAGGA&sort_by=title')).toEqual([a.id, b.id]);
  expect(await found(`search=${b.reference.toLowerCase()}`)).toEqual([b.id]);
  expect(await refusal(viewer.get(`${url}?status=open`))).toContain('validation_failed');
  const page = await viewer.get(`${url}?card_id=${card}&page_size=2&cursor=&fields=reference`);
  expect(page.body.items).toEqual([{ reference: c.reference }, { reference: a.reference }]);
  const of = await viewer.get(`/api/v1/cards/${card}/risks?status=accepted`);
  expect(of.body.items).toMatchObject([{ id: c.id }]);

  const metrics = await viewer.get(`${url}/metrics?card_id=${card}`);
  expect(metrics.body).toMatchObject(expectedMetrics);
  expect(metrics.body.residual_matrix[3]).toEqual([0, 0, 0, 1]);
  expect((await viewer.get(`${url}/metrics?card_id=${card}&search=quagga`)).body.total).toBe(2);
});

it('the register shows to those alone who may read it, its events too', async () => {
  const card = await w.card();
  const since = await admin.position();
  const { id } = await w.risk({ card_ids: [card] });
  const reader = await t.holding('inventory.view');
  expect(await reader.changes(since, 'risk')).toEqual([]);
  expect((await reader.get(`/api/v1/cards/${card}/history`)).text).not.toContain('risk.');
  await expectProblem(reader.get(`${url}/${id}`), 403, 'risks.view');
});

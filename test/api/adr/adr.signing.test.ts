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
import { deciding, ids, url } from './adr.fixture.ts';

const { t, db, admin } = await openApp(['admin']);
const d = deciding(admin);
const [member, viewer] = await t.clients('member', 'viewer');

const todosOf = async (client: TestClient, id: string) =>
  (await db('todos').where({ subject_id: id, assigned_to: client.userId })).map(({ status }) => status);

it('goes from a draft over review to a signed decision that stays as it is', async () => {
  const { id } = await d.adr({ context: 'Why' }, member);
  const since = await admin.position();
  await expectInvalid(
    admin.post(`${url}/${id}/request-signatures`, { user_ids: [viewer.userId, randomUUID()] }),
    'user_ids.0',
    'user_ids.1',
  );
  const asked = await ok(
    admin.post(`${url}/${id}/request-signatures`, {
      user_ids: [member.userId, admin.userId],
      message: 'Before Friday',
    }),
  );
  expect(asked).toMatchObject({
    status: 'in_review',
    signatories: [
      { user_id: member.userId, email: member.email, status: 'pending', signed_at: null },
      { user_id: admin.userId, status: 'pending' },
    ],
  });
  expect(await todosOf(member, id)).toEqual(['open']);
  for (const act of [
    admin.patch(`${url}/${id}`, { decision: 'x' }),
    admin.delete(`${url}/${id}`),
    admin.post(`${url}/${id}/request-signatures`, { user_ids: [admin.userId] }),
    admin.post(`${url}/${id}/revise`),
  ])
    await expectProblem(act, 409, 'wrong_state');
  const once = await ok(member.post(`${url}/${id}/sign`));
  expect(once).toMatchObject({ status: 'in_review', signed_at: null, integrity: 'intact' });
  expect(await todosOf(member, id)).toEqual(['done']);
  await expectProblem(member.post(`${url}/${id}/sign`), 409, 'wrong_state');
  const done = await ok(admin.post(`${url}/${id}/sign`));
  expect(done).toMatchObject({ status: 'signed', integrity: 'intact' });
  expect(done.signed_at).toBe(done.signatories[1].signed_at);
  expect(pluck(done.signatories, 'content_hash')).toEqual([done.content_hash, done.content_hash]);
  for (const body of [{ decision: 'x' }, { related_decisions: [] }, { status: 'draft' }, {}]) {
    const refused = await admin.patch(`${url}/${id}`, body);
    expect([refused.status, refused.body]).toMatchObject([
      403,
      { code: 'document_signed', state: 'signed', allowed: ['revise'] },
    ]);
    expect(refused.body.detail).toContain('revise');
  }
  for (const act of [
    admin.delete(`${url}/${id}`),
    admin.post(`${url}/${id}/sign`),
    admin.post(`${url}/${id}/recall-signatures`),
    admin.post(`${url}/${id}/reject`, { comment: 'Late' }),
  ])
    await expectProblem(act, 409, 'wrong_state');
  expect(eventKinds(await d.told(since), 'adr')).toBe(
    'signatures_requested todo.created signed signed todo.updated',
  );
  // written past the service
  await db('adrs').where({ id }).update({ decision: 'Something else' });
  expect(await ok(viewer.get(`${url}/${id}`))).toMatchObject({ status: 'signed', integrity: 'changed' });
});

it('is recalled, or rejected with a reason', async () => {
  const { id } = await d.adr();
  const ask = () =>
    ok(admin.post(`${url}/${id}/request-signatures`, { user_ids: [member.userId, admin.userId] }));
  await ask();
  await ok(admin.post(`${url}/${id}/sign`));
  const recalled = await ok(member.post(`${url}/${id}/recall-signatures`));
  expect(recalled).toMatchObject({ status: 'draft', signatories: [], integrity: null });
  expect(await todosOf(member, id)).toEqual([]);
  await ask();
  const bystander = await t.as('member', 'bystander');
  await expectProblem(bystander.post(`${url}/${id}/sign`), 403, 'not_signatory');
  await expectProblem(bystander.post(`${url}/${id}/reject`, { comment: 'No' }), 403, 'not_signatory');
  await expectInvalid(member.post(`${url}/${id}/reject`, {}), 'comment');
  await expectInvalid(member.post(`${url}/${id}/reject`, { comment: ' ' }), 'comment');
  expect(await ok(member.post(`${url}/${id}/reject`, { comment: 'Too dear' }))).toMatchObject({
    status: 'draft',
    signatories: [],
    rejection: { user_id: member.userId, comment: 'Too dear' },
  });
  expect(await todosOf(member, id)).toEqual([]);
  expect(await ask()).toMatchObject({ status: 'in_review', rejection: null });
});

it('is followed by revisions, one after the other, with the same number', async () => {
  const { id: card_id } = await d.card();
  const first = await d.signed({ title: 'Revised', decision: 'A', context: 'Why' });
  await admin.create(`${url}/${first}/cards`, { card_id });
  await expectInvalid(admin.get(`${url}/${first}/comparison`), 'with');
  const second = await ok(member.post(`${url}/${first}/revise`));
  const before = await ok(admin.get(`${url}/${first}`));
  expect(second).toMatchObject({
    status: 'draft',
    revision_number: 2,
    parent_id: first,
    reference_number: before.reference_number,
    decision: 'A',
    linked_cards: [{ id: card_id }],
    signatories: [],
    created_by: member.userId,
  });
  const { body } = await admin.post(`${url}/${first}/revise`);
  expect(body).toMatchObject({ code: 'wrong_state', latest_id: second.id });
  await ok(admin.patch(`${url}/${second.id}`, { decision: 'B', confirmation: 'Reviewed' }));
  expect(ids(await ok(viewer.get(`${url}/${second.id}/revisions`)))).toEqual([first, second.id]);
  const changes = [
    { field: 'confirmation', old: null, new: 'Reviewed' },
    { field: 'decision', old: 'A', new: 'B' },
  ];
  const compared = await ok(viewer.get(`${url}/${second.id}/comparison`));
  expect(compared).toMatchObject({ from: { id: first }, to: { id: second.id, revision_number: 2 } });
  expect(compared.changes).toHaveLength(2);
  expect(compared.changes).toEqual(expect.arrayContaining(changes));
  expect(await ok(viewer.get(`${url}/${first}/comparison?with=${second.id}`))).toEqual(compared);
  expect(await refusal(viewer.get(`${url}/${first}/comparison?with=${(await d.adr()).id}`))).toContain(422);
  const both = await Promise.all(
    [0, 1].map(async () => (await refusal(admin.post(`${url}/${await d.signed()}/revise`)))[0]),
  );
  expect(both).toEqual([200, 200]);
});

it('of which the same draft is revised twice at once leaves one revision', async () => {
  const first = await d.signed();
  const answers = await Promise.all([0, 1, 2].map(() => admin.post(`${url}/${first}/revise`)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
});

it('notifies those who are asked, and all of its end', async () => {
  const { id, reference_number, title } = await d.adr({}, member);
  await ok(admin.post(`${url}/${id}/request-signatures`, { user_ids: [member.userId], message: 'Soon' }));
  await tellAll(t.services);
  await ok(member.post(`${url}/${id}/reject`, { comment: 'Why?' }));
  await ok(member.post(`${url}/${id}/request-signatures`, { user_ids: [admin.userId] }));
  await ok(admin.post(`${url}/${id}/sign`));
  await tellAll(t.services);
  const of = async (client: TestClient) =>
    (await ok(client.get('/api/v1/notifications?page_size=200'))).items
      .filter(({ link }: { link: string }) => link === `/adr/${id}`)
      .map(({ type, title: told, message }: Record<string, string>) => [type, told, message]);
  const name = `${reference_number} ${title}`;
  expect(await of(member)).toEqual([
    ['adr_signed', `${name} was signed`, expect.any(String)],
    ['adr_sign_requested', `You are asked to sign ${name}`, expect.stringMatching(/: Soon$/)],
  ]);
  expect((await of(admin)).map(([type]: string[]) => type)).toEqual(['adr_sign_requested']);
});

it('does not wait for ever for somebody who is gone', async () => {
  const leaver = await t.as('member', 'leaver');
  const other = await t.as('member', 'other signer');
  const users = '/api/v1/users';
  const { id } = await d.adr({}, member);
  await ok(admin.post(`${url}/${id}/request-signatures`, { user_ids: [leaver.userId, admin.userId] }));
  await ok(admin.post(`${url}/${id}/sign`));
  const asked = async (client: TestClient) =>
    (await db('todos').where({ subject_id: id, topic: 'adr_signatory_gone' }))
      .filter((todo) => todo.assigned_to === client.userId)
      .map(({ status, description }) => [status, description.startsWith('Somebody who was to sign ADR-')]);
  const active = (is_active: boolean) => ok(admin.patch(`${users}/${leaver.userId}`, { is_active }));
  await active(false);
  expect(await asked(member)).toEqual([['open', true]]);
  const { signatories } = await ok(member.get(`${url}/${id}`));
  expect(signatories).toMatchObject([{ user_id: leaver.userId, is_active: false }, { is_active: true }]);
  await tellAll(t.services);
  const notified = (await ok(member.get('/api/v1/notifications'))).items;
  expect(notified[0]).toMatchObject({ type: 'todo_assigned' });
  expect(JSON.stringify(notified[0])).toContain('Somebody who was to sign ADR-');
  await active(true);
  expect(await asked(member)).toEqual([]);
  await active(false);
  expect((await admin.delete(`${users}/${leaver.userId}`)).status).toBe(204);
  expect(await asked(member)).toEqual([['open', true]]);
  const replace = (user_id: string, new_user_id: string) =>
    member.post(`${url}/${id}/replace-signatory`, { user_id, new_user_id, message: 'For the leaver' });
  await expectInvalid(replace(leaver.userId, viewer.userId), 'new_user_id');
  await expectInvalid(replace(leaver.userId, leaver.userId), 'new_user_id');
  await expectInvalid(replace(member.userId, other.userId), 'user_id');
  await expectProblem(replace(admin.userId, other.userId), 409, 'wrong_state');
  const since = await admin.position();
  expect(await ok(replace(leaver.userId.toUpperCase(), other.userId))).toMatchObject({
    status: 'in_review',
    signatories: [
      { user_id: other.userId, status: 'pending', is_active: true },
      { user_id: admin.userId, status: 'signed' },
    ],
  });
  expect(await asked(member)).toEqual([]);
  expect(await todosOf(other, id)).toEqual(['open']);
  expect(pluck(await d.told(since), 'event_type')).toEqual(['adr.signatory_replaced']);
  await admin.undo();
  expect(await asked(member)).toEqual([['open', true]]);
  await ok(replace(leaver.userId, other.userId));
  await tellAll(t.services);
  expect((await ok(other.get('/api/v1/notifications'))).items[0]).toMatchObject({
    type: 'adr_sign_requested',
    message: expect.stringMatching(/: For the leaver$/),
  });
  expect(await ok(other.post(`${url}/${id}/sign`))).toMatchObject({ status: 'signed', integrity: 'intact' });
  await expectProblem(replace(other.userId, member.userId), 409, 'wrong_state');
});

it('whose author is gone too is seen to by the others who sign, else by whoever closed the accounts', async () => {
  const [author, leaver] = [await t.as('member', 'author'), await t.as('member', 'second leaver')];
  const { id } = await d.adr({}, author);
  const alone = (await d.adr({}, author)).id;
  await ok(author.post(`${url}/${id}/request-signatures`, { user_ids: [leaver.userId, member.userId] }));
  await ok(author.post(`${url}/${alone}/request-signatures`, { user_ids: [leaver.userId] }));
  const closing = { ids: [author.userId, leaver.userId], updates: { is_active: false } };
  expect(await ok(admin.patch('/api/v1/users/bulk', closing))).toMatchObject({ updated: 2 });
  const asked = await db('todos')
    .where({ topic: 'adr_signatory_gone', status: 'open' })
    .whereIn('subject_id', [id, alone])
    .select('subject_id', 'assigned_to');
  expect(new Map(asked.map((todo) => [todo.subject_id, todo.assigned_to]))).toEqual(
    new Map([
      [id, member.userId],
      [alone, admin.userId],
    ]),
  );
  await ok(admin.post(`${url}/${alone}/recall-signatures`));
  expect(await db('todos').where({ subject_id: alone, topic: 'adr_signatory_gone' })).toEqual([]);
});

it('does not wait for ever for somebody whose role no longer lets him sign', async () => {
  const rights = { 'adr.view': true, 'adr.manage': true, 'adr.sign': true };
  await db('roles').insert({ key: 'signer', label: 'S', permissions: JSON.stringify(rights) });
  const signer = await t.as('signer');
  const writer = await t.as('member', 'writer');
  const { id } = await d.adr({}, writer);
  await ok(writer.post(`${url}/${id}/request-signatures`, { user_ids: [signer.userId, admin.userId] }));
  const role = (permissions: object) => ok(admin.patch('/api/v1/roles/signer', { permissions }));
  const asked = (client: TestClient) =>
    db('todos')
      .where({ subject_id: id, assigned_to: client.userId, status: 'open' })
      .orderBy('id')
      .pluck('topic');
  const can = async () => pluck((await ok(admin.get(`${url}/${id}`))).signatories, 'can_sign');
  expect([await asked(signer), await asked(writer), await can()]).toEqual([
    ['adr_signature'],
    [],
    [true, true],
  ]);
  await role({ ...rights, 'adr.sign': false });
  for (const act of [
    signer.post(`${url}/${id}/sign`),
    signer.post(`${url}/${id}/reject`, { comment: 'No' }),
  ]) {
    const { status, body } = await act;
    expect([status, body.code, body.permission]).toEqual([403, 'forbidden', 'adr.sign']);
  }
  const lost = [[], ['adr_signatory_gone'], [false, true]];
  expect([await asked(signer), await asked(writer), await can()]).toEqual(lost);
  // what changes nothing asks nobody anew
  const since = await admin.position();
  await role({ ...rights, 'adr.sign': false, 'adr.delete': false });
  expect(await d.told(since)).toEqual([]);
  await role(rights);
  expect([await asked(signer), await asked(writer)]).toEqual([['adr_signature'], []]);
  await ok(admin.post('/api/v1/roles/signer/archive'));
  expect([await asked(signer), await asked(writer)]).toEqual(lost.slice(0, 2));
  await ok(admin.post('/api/v1/roles/signer/restore'));
  expect([await asked(signer), await asked(writer)]).toEqual([['adr_signature'], []]);
  await ok(admin.patch(`/api/v1/users/${signer.userId}`, { role: 'viewer' }));
  expect([await asked(signer), await asked(writer), await can()]).toEqual(lost);
  // an author who can no longer see to it leaves that to the others, and takes it back
  const make = (role: string) =>
    ok(admin.patch('/api/v1/users/bulk', { ids: [writer.userId], updates: { role } }));
  await make('viewer');
  expect([await asked(writer), await asked(admin)]).toEqual([[], ['adr_signature', 'adr_signatory_gone']]);
  await make('member');
  expect([await asked(writer), await asked(admin)]).toEqual([['adr_signatory_gone'], ['adr_signature']]);
  await ok(admin.post(`${url}/${id}/recall-signatures`));
  expect([await asked(writer), await asked(admin)]).toEqual([[], []]);
});

it('is undone with its to-dos, and leaves what was signed alone', async () => {
  const { id } = await d.adr();
  await ok(admin.post(`${url}/${id}/request-signatures`, { user_ids: [member.userId] }));
  const before = await ok(admin.get(`${url}/${id}`));
  await ok(member.post(`${url}/${id}/sign`));
  await admin.undo();
  expect(await ok(admin.get(`${url}/${id}`))).toEqual({ ...before, updated_at: expect.any(String) });
  expect(await todosOf(member, id)).toEqual(['open']);
  const edited = await d.adr({ decision: 'A' });
  await ok(admin.patch(`${url}/${edited.id}`, { decision: 'B' }));
  const { batch_id } = await db('events').orderBy('position', 'desc').first('batch_id');
  await ok(admin.post(`${url}/${edited.id}/request-signatures`, { user_ids: [admin.userId] }));
  await ok(admin.post(`${url}/${edited.id}/sign`));
  const rollback = `/api/v1/mutation-batches/${batch_id}/rollback`;
  await expectProblem(admin.post(rollback, { dry_run: false }), 409, 'rollback_conflicts');
  await ok(admin.post(rollback, { dry_run: false, force: true }));
  expect(await ok(admin.get(`${url}/${edited.id}`))).toMatchObject({ decision: 'B', integrity: 'intact' });
});

import { randomUUID } from 'node:crypto';
import { answered, expectProblem, ok, openApp, pluck, refusal } from '../../support/harness.ts';
import { tellAll } from '../../support/notifications.ts';
import { merge } from '../cards/merge.fixture.ts';

const url = '/api/v1/soaw';

const { t, db, admin, member, viewer } = await openApp(['admin', 'member', 'viewer']);

const soaw = (more: object = {}) => admin.create(url, { name: randomUUID(), ...more });
const card = async (type = 'Initiative') => (await admin.card({ type })).id;
const told = async (since: string) => await viewer.changes(since, 'soaw.');
const ids = (body: { items: { id: string }[] }) => body.items.map(({ id }) => id);

it('a statement is written, cleaned, read, changed and deleted, with an event for each', async () => {
  const initiative_id = await card();
  const since = await admin.position();
  const made = await admin.post(url, {
    name: 'One order desk',
    initiative_id: initiative_id.toUpperCase(),
    document_info: { prepared_by: 'Ann' },
    version_history: [{ version: '0.1', date: '2026-11-22' }],
    sections: {
      '2.1': { table_data: { columns: ['Role'], rows: [['<Sponsor>']] }, togaf_data: { RM: 'Yes', H: 'No' } },
      '1.1': { content: '<p onclick="x">Why<script>alert(1)</script></p>', hidden: true },
    },
    status: 'draft',
  });
  expect(made.status, made.text).toBe(201);
  expect(made.body).toMatchObject({
    initiative_id,
    initiative_name: expect.any(String),
    status: 'draft',
    document_info: { prepared_by: 'Ann', review_date: null, reviewed_by: null },
    version_history: [{ version: '0.1', date: '2026-11-22', revised_by: null, description: null }],
    sections: {
      '1.1': { content: '<p>Why</p>', hidden: true },
      '2.1': {
        content: '',
        hidden: false,
        table_data: { columns: ['Role'], rows: [['<Sponsor>']] },
        togaf_data: { RM: 'Yes', H: 'No' },
      },
    },
    revision_number: 1,
    parent_id: null,
    signatories: [],
    integrity: null,
  });
  const { id } = made.body;
  const read = await viewer.get(`${url}/${id}`);
  expect(read.body).toEqual(made.body);
  expect(read.headers.etag).toBe(made.headers.etag);
  const patched = await member.patch(
    `${url}/${id}`,
    { sections: { '1.2': { content: 'New' } }, status: 'approved', document_info: null },
    { 'if-match': read.headers.etag! },
  );
  expect(patched.body).toMatchObject({
    status: 'approved',
    sections: { '1.2': { content: 'New', hidden: false } },
    document_info: { prepared_by: null },
  });
  expect((await admin.delete(`${url}/${id}`)).status).toBe(204);
  expect(await told(since)).toMatchObject([
    { event_type: 'soaw.created', card_id: initiative_id, data: { id, name: 'One order desk' } },
    { event_type: 'soaw.updated', data: { changes: { status: { old: 'draft', new: 'approved' } } } },
    { event_type: 'soaw.deleted', card_id: initiative_id },
  ]);
});

it('it is refused where it does not fit', async () => {
  const { id } = await soaw();
  for (const [body, ...fields] of [
    [{ name: ' ' }, 'name'],
    [{ name: 'A', sections: { '8.1': {} } }, 'sections.8.1'],
    [{ name: 'A', sections: { '1.1': { colour: 'red' } } }, 'sections.1.1.colour'],
    [{ name: 'A', document_info: { review_date: 'soon' } }, 'document_info.review_date'],
    [{ name: 'A', initiative_id: randomUUID() }, 'initiative_id'],
    [{ name: 'A', initiative_id: await card('Application') }, 'initiative_id'],
    [
      { name: 'A', sections: { '1.1': { table_data: { columns: ['a'], rows: [['b', 'c']] } } } },
      'sections.1.1.table_data.rows.0',
    ],
  ] as [object, string][]) {
    const [status, code, ...named] = await refusal(admin.post(url, body));
    expect([status, code, named[0]]).toEqual([422, 'validation_failed', ...fields]);
  }
  for (const status of ['approved', 'signed'])
    await expectProblem(admin.post(url, { name: 'A', status }), 422, 'use_operation', 'status');
  await expectProblem(admin.patch(`${url}/${id}`, { status: 'in_review' }), 422, 'use_operation', 'status');
});

it('it goes its way to its signatures, is told of, revised, compared and deleted', async () => {
  const { id, name } = await soaw({ sections: { '1.1': { content: 'A' } } });
  await ok(admin.patch(`${url}/${id}`, { status: 'approved' }));
  const asked = { user_ids: [member.userId, admin.userId] };
  expect(await ok(admin.post(`${url}/${id}/request-signatures`, asked))).toMatchObject({
    status: 'in_review',
  });
  await expectProblem(admin.patch(`${url}/${id}`, { name: 'x' }), 409, 'wrong_state');
  await ok(member.post(`${url}/${id}/reject`, { comment: 'No costs' }));
  expect(await ok(admin.post(`${url}/${id}/request-signatures`, asked))).toMatchObject({
    status: 'in_review',
  });
  expect(await ok(admin.post(`${url}/${id}/recall-signatures`))).toMatchObject({ status: 'draft' });
  await ok(admin.post(`${url}/${id}/request-signatures`, asked));
  await ok(member.post(`${url}/${id}/sign`));
  const signed = await ok(admin.post(`${url}/${id}/sign`));
  expect(signed).toMatchObject({ status: 'signed', integrity: 'intact' });
  for (const body of [
    { name: 'x' },
    { sections: {} },
    { version_history: [] },
    { initiative_id: null },
    { status: 'draft' },
  ])
    await expectProblem(admin.patch(`${url}/${id}`, body), 403, 'document_signed');
  expect(await ok(admin.get(`${url}/${id}`))).toEqual(signed);
  await tellAll(t.services);
  const types = pluck(
    (await ok(member.get('/api/v1/notifications?page_size=200'))).items.filter(
      ({ link }: { link: string }) => link === `/soaw/${id}`,
    ),
    'type',
  );
  expect(types).toEqual([
    'soaw_signed',
    'soaw_sign_requested',
    'soaw_sign_recalled',
    'soaw_sign_requested',
    'soaw_sign_requested',
  ]);

  const second = await ok(member.post(`${url}/${id}/revise`));
  expect(second).toMatchObject({ name, status: 'draft', revision_number: 2, parent_id: id });
  await ok(member.patch(`${url}/${second.id}`, { sections: { '1.1': { content: 'B' }, '1.2': {} } }));
  expect((await ok(viewer.get(`${url}/${id}/comparison?with=${second.id}`))).changes).toEqual([
    { field: 'sections.1.1.content', old: 'A', new: 'B' },
    { field: 'sections.1.2', old: null, new: { content: '', hidden: false } },
  ]);
  expect(ids(await ok(viewer.get(`${url}/${id}/revisions`)))).toEqual([id, second.id]);
  await db('soaws').where({ id }).update({ name: 'Something else' });
  expect(await ok(viewer.get(`${url}/${id}`))).toMatchObject({ integrity: 'changed' });
  expect((await member.delete(`${url}/${id}`)).status).toBe(204);
  expect(ids(await ok(viewer.get(`${url}/${second.id}/revisions`)))).toEqual([second.id]);
});

it('one that is deleted in review asks nobody any more', async () => {
  const { id } = await soaw();
  await ok(admin.post(`${url}/${id}/request-signatures`, { user_ids: [member.userId] }));
  expect((await admin.delete(`${url}/${id}`)).status).toBe(204);
  expect(await db('todos').where({ subject_id: id })).toEqual([]);
  await admin.undo();
  expect(await db('todos').where({ subject_id: id })).toHaveLength(1);
  expect(await ok(member.post(`${url}/${id}/sign`))).toMatchObject({ status: 'signed' });
});

it('it is found by all that it says', async () => {
  const initiative_id = await card();
  const { id } = await soaw({
    initiative_id,
    sections: {
      '1.1': { content: '<p>Zebra</p><p>cros<b>sing</b> &amp; Giraffe</p>' },
      '3.2': { table_data: { columns: ['Okapi'], rows: [] }, togaf_data: { B: 'Quagga' } },
    },
    version_history: [{ revised_by: 'Zorilla' }],
  });
  const list = async (query: string) => ids(await ok(viewer.get(`${url}?${query}`)));
  for (const words of ['crossing', 'zebra cross', '& giraffe', 'okapi', 'quagga', 'zorilla'])
    expect(await list(`search=${encodeURIComponent(words)}`), words).toEqual([id]);
  expect(await list('search=zebracrossing')).toEqual([]);
  expect(await list(`initiative_id=${initiative_id}`)).toEqual([id]);
  expect(await list('search=okapi&status=signed')).toEqual([]);
  const item = (await ok(viewer.get(`${url}?search=okapi&fields=id,name`))).items[0];
  expect(item).toEqual({ id, name: expect.any(String) });
});

it('it moves with its initiative when that is merged, and outlives it when it is deleted', async () => {
  const [one, other] = [await card(), await card()];
  const { id } = await soaw({ initiative_id: other });
  const merged = await answered(merge(admin, one, [other]));
  expect(await ok(viewer.get(`${url}/${id}`))).toMatchObject({ initiative_id: one });
  await ok(admin.post(`/api/v1/card-merges/${merged.body.merge_id}/undo`));
  expect(await ok(viewer.get(`${url}/${id}`))).toMatchObject({ initiative_id: other });
  const since = await admin.position();
  await ok(admin.post(`/api/v1/cards/${other}/archive`));
  await ok(admin.delete(`/api/v1/cards/${other}`));
  expect(await ok(viewer.get(`${url}/${id}`))).toMatchObject({ initiative_id: null, initiative_name: null });
  expect(await told(since)).toMatchObject([
    { event_type: 'soaw.updated', data: { changes: { initiative_id: { old: other, new: null } } } },
  ]);
  await admin.undo();
  expect(await ok(viewer.get(`${url}/${id}`))).toMatchObject({ initiative_id: other });
});

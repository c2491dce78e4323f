import { systemCaller } from '../../../../domain/kernel/context.ts';
import { startWorkers } from '../../../../workers/runtime.ts';
import { chain } from '../../../api/bpm/models.ts';
import { changeRows, preview } from '../../../support/archive-rows.ts';
import {
  applyArchive,
  contentOf,
  exportArchive,
  manifestOf,
  onEmptyService,
  type Parts,
  pack,
  rewrite,
  unpack,
  uploadArchive,
} from '../../../support/archives.ts';
import { closeAfterAll, openApp } from '../../../support/harness.ts';

/* A service takes its own archive with other roles in it. */

const { t, db, admin } = await openApp(['admin']);
closeAfterAll(await startWorkers(t.services));

it('follows roles and owners that an archive changes: nothing waits for who can no longer see to it', async () => {
  const ctx = await t.ctx();
  const rights = { 'adr.view': true, 'adr.sign': true, 'bpm.approve_flows': true };
  const signers = { key: 'signers', label: 'Signers', color: '#000000', permissions: rights };
  expect((await admin.post('/api/v1/roles', signers)).status).toBe(201);
  const signer = await t.as('signers');
  const { body: adr } = await admin.post('/api/v1/adr', { title: 'Waits' });
  await admin.post(`/api/v1/adr/${adr.id}/request-signatures`, { user_ids: [signer.userId] });
  const { body: process } = await admin.post('/api/v1/cards', { type: 'BusinessProcess', name: 'Waits' });
  const flow = `/api/v1/bpm/processes/${process.id}/flow`;
  const { body: draft } = await admin.post(`${flow}/drafts`, { bpmn_xml: chain({ a: 'A' }) });
  expect((await admin.post(`${flow}/versions/${draft.id}/submit`)).status).toBe(200);
  const asked = async (subject_id: string) =>
    await db('todos').where({ subject_id, status: 'open' }).select('topic', 'assigned_to');
  expect(await asked(adr.id)).toEqual([{ topic: 'adr_signature', assigned_to: signer.userId }]);
  expect((await asked(draft.id)).map(({ assigned_to }) => assigned_to)).toContain(signer.userId);
  const { body: before } = await signer.get('/api/v1/auth/me');
  expect(before.permissions).toMatchObject({ 'adr.sign': true });

  const own = await unpack(await exportArchive(t.services, ctx));
  const change = (values: object) =>
    changeRows(own, 'roles', ({ key }) => (key === 'signers' ? values : undefined));
  const bring = async (changed: Parts) => await applyArchive(ctx, (await preview(t, changed)).id);
  await bring(change({ permissions: { 'adr.view': true } }));
  expect(await asked(adr.id)).toEqual([{ topic: 'adr_signatory_gone', assigned_to: admin.userId }]);
  expect((await asked(draft.id)).map(({ assigned_to }) => assigned_to)).not.toContain(signer.userId);
  expect((await asked(draft.id)).length).toBeGreaterThan(0);
  expect((await signer.post(`/api/v1/adr/${adr.id}/sign`)).body.permission).toBe('adr.sign');
  await bring(change({ permissions: rights }));
  expect(await asked(adr.id)).toEqual([{ topic: 'adr_signature', assigned_to: signer.userId }]);
  await bring(change({ is_archived: true, archived_at: '2026-01-15T00:00:00.000Z' }));
  expect(await asked(adr.id)).toEqual([{ topic: 'adr_signatory_gone', assigned_to: admin.userId }]);
  expect((await signer.get('/api/v1/auth/me')).status).toBe(401);

  // the default stays one that newcomers can be given
  const lost = changeRows(own, 'roles', ({ key }) => (key === 'member' ? { is_archived: true } : undefined));
  expect((await preview(t, lost)).diff!.conflicts).toContainEqual(
    expect.objectContaining({ kind: 'roles', key: 'member', field: 'is_archived', code: 'conflict' }),
  );
}, 60_000);

it('changes nothing that is signed here, whether it was when the archive was read or is only now', async () => {
  const ctx = await t.ctx();
  const sign = async (id: string) => {
    await admin.post(`/api/v1/adr/${id}/request-signatures`, { user_ids: [admin.userId] });
    expect((await admin.post(`/api/v1/adr/${id}/sign`)).body.status).toBe('signed');
  };
  const make = async (title: string): Promise<string> => (await admin.post('/api/v1/adr', { title })).body.id;
  const [signed, draft] = [await make('Signed'), await make('Draft')];
  await sign(signed);
  const changed = changeRows(await unpack(await exportArchive(t.services, ctx)), 'adrs', ({ title }) =>
    ['Signed', 'Draft'].includes(title) ? { title: 'Another' } : undefined,
  );
  const { id, diff } = await preview(t, changed);
  expect(diff!.kinds.adrs).toMatchObject({ update: 1, conflict: 1 });
  expect(diff!.conflicts).toMatchObject([{ kind: 'adrs', field: 'status', code: 'document_signed' }]);
  await sign(draft);
  const { result } = await applyArchive(ctx, id);
  expect(result!.left.map(({ code }) => code)).toEqual(['document_signed', 'document_signed']);
  const titles = await db('adrs').whereIn('id', [signed, draft]).orderBy('number').pluck('title');
  expect(titles).toEqual(['Signed', 'Draft']);
});

it('asks others at once where those who are to approve or sign have no account that is in use here', async () => {
  const rights = { 'adr.view': true, 'adr.sign': true, 'bpm.approve_flows': true };
  const role = { key: 'approvers', label: 'Approvers', color: '#000000', permissions: rights };
  expect((await admin.post('/api/v1/roles', role)).status).toBe(201);
  const approver = await t.as('approvers');
  const { body: adr } = await admin.post('/api/v1/adr', { title: 'Brought' });
  await admin.post(`/api/v1/adr/${adr.id}/request-signatures`, { user_ids: [approver.userId] });
  const { body: process } = await admin.post('/api/v1/cards', { type: 'BusinessProcess', name: 'Brought' });
  const flow = `/api/v1/bpm/processes/${process.id}/flow`;
  const { body: draft } = await admin.post(`${flow}/drafts`, { bpmn_xml: chain({ b: 'B' }) });
  expect((await admin.post(`${flow}/versions/${draft.id}/submit`)).status).toBe(200);
  const parts = await unpack(await exportArchive(t.services, await t.ctx()));

  await onEmptyService(async (other) => {
    const { db } = other.services;
    const keeper = await other.as('admin', 'keeper');
    const here = await other.ctx({ ...systemCaller, userId: keeper.userId });
    const { id } = await uploadArchive(other.services, here, await pack(parts));
    expect((await applyArchive(here, id)).status).toBe('applied');
    const active: string[] = await db('users').where({ is_active: true }).pluck('id');
    expect(await db('process_flow_versions').where({ id: draft.id }).pluck('status')).toEqual(['pending']);
    const asked = await db('todos')
      .where({ is_system: true })
      .whereNot({ status: 'done' })
      .select('subject_id', 'topic', 'assigned_to');
    const of = (subject: string) => asked.filter(({ subject_id }) => subject_id === subject);
    expect(of(draft.id).length).toBeGreaterThan(0);
    for (const { assigned_to, topic } of of(draft.id))
      expect([topic, active.includes(assigned_to)]).toEqual(['process_flow_approval', true]);
    expect(of(adr.id)).toEqual([
      { subject_id: adr.id, topic: 'adr_signatory_gone', assigned_to: keeper.userId },
    ]);
    // that others are asked here makes no other workspace of it
    expect(contentOf(await unpack(await exportArchive(other.services, here)))).toEqual(contentOf(parts));
  });
}, 60_000);

it('lets no archive close what somebody is asked to approve', async () => {
  const ctx = await t.ctx();
  const { body: process } = await admin.post('/api/v1/cards', { type: 'BusinessProcess', name: 'Asked' });
  const flow = `/api/v1/bpm/processes/${process.id}/flow`;
  const { body: draft } = await admin.post(`${flow}/drafts`, { bpmn_xml: chain({ c: 'C' }) });
  expect((await admin.post(`${flow}/versions/${draft.id}/submit`)).status).toBe(200);
  const asked = async () =>
    await db('todos')
      .where({ subject_id: draft.id })
      .whereNot({ status: 'done' })
      .orderBy('assigned_to')
      .pluck('assigned_to');
  const before = await asked();
  const own = await unpack(await exportArchive(t.services, ctx));
  // archives hold none of it, since it is asked anew where they go; this one was made by hand
  expect(own.get('content/todos.ndjson')!.includes(draft.id)).toBe(false);
  const todos = await db('todos as t').where({ subject_id: draft.id }).select(db.raw('to_jsonb(t) as row'));
  const { columns } = manifestOf(own).files.find(({ kind }) => kind === 'todos')!;
  const closed = rewrite(own, 'content/todos.ndjson', (rows) => [
    ...rows,
    ...todos.map(({ row }) =>
      JSON.stringify({ ...Object.fromEntries(columns!.map((key) => [key, row[key]])), status: 'done' }),
    ),
  ]);
  const { id, diff } = await preview(t, closed);
  expect(diff!.kinds.todos).toMatchObject({ update: before.length });
  await applyArchive(ctx, id);
  expect(await asked()).toEqual(before);
}, 60_000);

import { randomUUID } from 'node:crypto';
import { type FlowStatus, flowStatuses } from '../../../domain/modelling/bpm/bpm.model.ts';
import { type FlowAction, flowActions, nextStatus } from '../../../domain/modelling/bpm/flow.approvers.ts';
import { expectInvalid, expectProblem, ok, openApp, pluck, type TestClient } from '../../support/harness.ts';
import { tellAll } from '../../support/notifications.ts';
import { chain } from './models.ts';

const { t, db } = await openApp();
const [admin, approver, member, viewer] = await t.clients('admin', 'bpm_admin', 'member', 'viewer');

const card = async (type = 'BusinessProcess'): Promise<string> => (await admin.card({ type })).id;
const of = (process: string) => `/api/v1/bpm/processes/${process}`;
const one = (process: string, version: string) => `${of(process)}/flow/versions/${version}`;
const draft = async (process: string, bpmn_xml = chain({ a: 'A', b: 'B' }), more: object = {}) =>
  await member.create(`${of(process)}/flow/drafts`, { bpmn_xml, ...more });
async function does(client: TestClient, process: string, version: string, action: FlowAction) {
  const url = one(process, version);
  if (action === 'edit') return await client.patch(url, { bpmn_xml: chain({ a: 'Edited' }) });
  if (action === 'delete') return await client.delete(url);
  return await client.post(`${url}/${action}`);
}
async function bring(process: string, version: string, status: FlowStatus): Promise<void> {
  if (status === 'draft') return;
  await does(admin, process, version, 'submit');
  if (status === 'pending') return;
  await does(admin, process, version, 'approve');
  if (status === 'published') return;
  const { id } = await draft(process);
  await bring(process, id, 'published');
}
const plan = async (process: string, version: string, element: string, body: object) =>
  await ok(member.put(`${one(process, version)}/draft-elements/${element}`, body));
const told = async (since: string): Promise<string[]> => pluck(await viewer.changes(since), 'event_type');

describe('each status, action and role', () => {
  // who may: drafts are written by members, decisions made by those who may approve
  const may: Record<string, (action: FlowAction) => boolean> = {
    admin: () => true,
    bpm_admin: () => true,
    member: (action) => !['approve', 'reject'].includes(action),
    viewer: () => false,
  };
  it.each(flowStatuses)('from %s', async (status) => {
    const process = await card();
    for (const action of flowActions) {
      for (const [role, allowed] of Object.entries(may)) {
        const { id } = await draft(process);
        await bring(process, id, status);
        const answer = await does(await t.as(role), process, id, action);
        const next = nextStatus(action, status);
        const expected = !allowed(action) ? 403 : next === undefined ? 409 : next === null ? 204 : 200;
        expect(answer.status, `${role} ${action} ${status}: ${answer.text}`).toBe(expected);
        if (expected === 200) expect(answer.body.status).toBe(next);
        if (expected === 409) expect(answer.body).toMatchObject({ code: 'wrong_state', flow_status: status });
      }
      // few stay open at a time
      await db('process_flow_versions')
        .where({ process_id: process })
        .whereNot({ status: 'published' })
        .delete();
    }
  });
});

describe('a flow', () => {
  it('is drafted, submitted, given back, approved and replaced, and people are told', async () => {
    const [process, crm, erp] = [await card(), await card('Application'), await card('Application')];
    const first = await draft(process);
    expect(first).toMatchObject({
      status: 'draft',
      revision: 1,
      created_by: member.userId,
      created_by_name: 'member',
      draft_element_links: null,
      submitted_at: null,
    });
    const planned = await plan(process, first.id, 'a', { application_id: crm });
    expect(planned).toMatchObject({ bpmn_element_id: 'a', application_id: crm, is_planned: true });
    const { rows: none } = await db.raw('select from relations where source_id = ?', [process]);
    expect(none).toHaveLength(0);

    let since = await admin.position();
    const submitted = await does(member, process, first.id, 'submit');
    expect(submitted.body).toMatchObject({ status: 'pending', submitted_by: member.userId });
    expect(await told(since)).toContain('process_flow.submitted');
    const todos = await db('todos').where({ subject_id: first.id, status: 'open' });
    expect(pluck(todos, 'assigned_to').sort()).toEqual([admin.userId, approver.userId].sort());
    since = await admin.position();
    const reason = 'The approval step is missing.';
    const rejected = await approver.post(`${one(process, first.id)}/reject`, { reason: ` ${reason} ` });
    expect(rejected.body).toMatchObject({
      status: 'draft',
      submitted_by: null,
      submitted_at: null,
      rejection_reason: reason,
    });
    const [event] = await viewer.changes(since, 'process_flow.rejected');
    expect(event.data.changes.rejection_reason).toEqual({ old: null, new: reason });
    await tellAll(t.services);
    const { items } = (await member.get('/api/v1/notifications')).body;
    expect(items[0]).toMatchObject({
      type: 'process_flow_rejected',
      message: `bpm_admin has rejected revision 1: ${reason}`,
    });
    expect(await db('todos').where({ subject_id: first.id, status: 'open' })).toEqual([]);

    expect((await does(member, process, first.id, 'submit')).body.rejection_reason).toBeNull();
    since = await admin.position();
    const approved = await does(approver, process, first.id, 'approve');
    expect(approved.body).toMatchObject({ status: 'published', approved_by: approver.userId });
    expect(approved.body.draft_element_links).toMatchObject({ a: { application_id: crm } });
    expect(await told(since)).toEqual(
      expect.arrayContaining(['process_flow.approved', 'process_diagram.saved', 'relation.created']),
    );
    expect((await viewer.get(`${of(process)}/flow/published`)).body).toEqual(approved.body);
    const elements = (await viewer.get(`${of(process)}/elements`)).body.items;
    expect(pluck(elements, 'application_id')).toEqual([crm, null]);

    const second = await draft(process, chain({ a: 'A', b: 'B', c: 'C' }), { based_on_id: first.id });
    expect(second).toMatchObject({
      revision: 2,
      based_on_id: first.id,
      draft_element_links: { a: { application_id: crm } },
    });
    await plan(process, second.id, 'a', {});
    await plan(process, second.id, 'c', { application_id: erp });
    await does(member, process, second.id, 'submit');
    await does(approver, process, second.id, 'approve');
    const archived = (await viewer.get(`${of(process)}/flow/archived`)).body.items;
    expect(archived).toMatchObject([{ id: first.id, status: 'archived' }]);
    expect(archived[0].archived_at).not.toBeNull();
    const now2 = (await viewer.get(`${of(process)}/elements?linked=true`)).body.items;
    expect(now2).toMatchObject([{ bpmn_element_id: 'c', application_id: erp }]);
    const { rows } = await db.raw('select target_id from relations where source_id = ?', [process]);
    expect(rows).toEqual([{ target_id: erp }]);

    await admin.undo();
    expect((await viewer.get(`${of(process)}/flow/published`)).body.id).toBe(first.id);
    expect((await viewer.get(`${of(process)}/elements?linked=true`)).body.items).toMatchObject([
      { bpmn_element_id: 'a', application_id: crm },
    ]);
  });

  it('asks those who hold an approving role on the process, and lets a process owner act', async () => {
    const process = await card();
    const owner = await t.as('viewer', 'owner');
    await db('stakeholders').insert({ card_id: process, user_id: owner.userId, role: 'process_owner' });
    const { id } = await draft(process);
    await does(member, process, id, 'submit');
    expect(await db('todos').where({ subject_id: id }).pluck('assigned_to')).toEqual([owner.userId]);
    const permissions = (client: TestClient) => client.get(`${of(process)}/flow/permissions`);
    const forOwner = (await permissions(owner)).body;
    expect(forOwner).toEqual({ can_view_drafts: true, can_edit_draft: true, can_approve: true });
    const forViewer = (await permissions(viewer)).body;
    expect(forViewer).toEqual({ can_view_drafts: true, can_edit_draft: false, can_approve: false });
    await ok(does(owner, process, id, 'approve'));
  });

  it('is compared, element by element, with what it plans', async () => {
    const [process, crm] = [await card(), await card('Application')];
    const base = await draft(process, chain({ a: 'A', b: 'B', z: 'Z' }));
    const other = await draft(process, chain({ b: 'B2', c: 'C', z: 'Z' }));
    await plan(process, other.id, 'b', { application_id: crm });
    const { body } = await viewer.get(`${of(process)}/flow/compare?base_id=${base.id}&other_id=${other.id}`);
    expect(body).toMatchObject({
      base: { id: base.id, revision: 1 },
      other: { id: other.id, revision: 2 },
      added: [{ bpmn_element_id: 'c' }],
      removed: [{ bpmn_element_id: 'a', name: 'A' }],
      changed: [
        {
          bpmn_element_id: 'b',
          changes: {
            name: { old: 'B', new: 'B2' },
            next_element_ids: { old: ['z'], new: ['c'] },
            application_id: { old: null, new: crm },
          },
        },
      ],
      counts: { added: 1, removed: 1, changed: 1, unchanged: 1 },
      unchanged: 1,
    });
    const keys = Object.keys(body.changed[0].changes).sort();
    expect(keys).toEqual(['application_id', 'name', 'next_element_ids']);
    const stranger = (await draft(await card())).id;
    await expectProblem(
      viewer.get(`${of(process)}/flow/compare?base_id=${base.id}&other_id=${stranger}`),
      404,
      'not_found',
    );
  });

  it('is refused where it does not fit', async () => {
    const [process, crm] = [await card(), await card('Application')];
    const { id } = await draft(process);
    await expectInvalid(member.post(`${of(process)}/flow/drafts`, { bpmn_xml: 'no' }), 'bpmn_xml');
    const unknown = { bpmn_xml: chain({ a: 'A' }), based_on_id: randomUUID() };
    await expectInvalid(member.post(`${of(process)}/flow/drafts`, unknown), 'based_on_id');
    await expectProblem(viewer.get(one(process, randomUUID())), 404, 'not_found');
    await expectInvalid(
      member.put(`${one(process, id)}/draft-elements/a`, { application_id: process }),
      'application_id',
    );
    const { headers } = await viewer.get(one(process, id));
    await plan(process, id, 'a', { application_id: crm });
    await expectProblem(
      member.post(`${one(process, id)}/submit`, undefined, { 'if-match': headers.etag! }),
      412,
      'precondition_failed',
    );
    await does(member, process, id, 'submit');
    await admin.post(`/api/v1/cards/${crm}/archive`);
    const { body } = await does(approver, process, id, 'approve');
    expect(body).toMatchObject({ code: 'wrong_state', inactive: [{ bpmn_element_id: 'a', card_id: crm }] });
  });

  it('keeps planned links of elements that stay, goes with its links, and comes back', async () => {
    const [process, crm] = [await card(), await card('Application')];
    const { id } = await draft(process, undefined, {
      svg_thumbnail: '<svg xmlns="http://www.w3.org/2000/svg"/>',
    });
    await plan(process, id, 'a', { application_id: crm });
    await plan(process, id, 'b', { application_id: crm });
    const patched = await member.patch(one(process, id), { bpmn_xml: chain({ b: 'B' }) });
    expect(patched.body).toMatchObject({ svg_thumbnail: null });
    expect(Object.keys(patched.body.draft_element_links)).toEqual(['b']);
    await ok(member.delete(one(process, id)), 204);
    expect((await viewer.get(`${of(process)}/flow/drafts`)).body.items).toEqual([]);
    await admin.undo();
    expect((await viewer.get(one(process, id))).body).toEqual(patched.body);
    expect((await viewer.get(`${of(process)}/flow/drafts?fields=id,status`)).body.items).toEqual([
      { id, status: 'draft' },
    ]);
  });
});

describe('assessments and templates', () => {
  it('are made, clamped, changed, deleted and brought back', async () => {
    const url = `${of(await card())}/assessments`;
    const scores = { overall_score: 9, efficiency: -1, effectiveness: 3, compliance: 5, automation: 1 };
    const made = await member.post(url, {
      assessment_date: '2026-02-28',
      ...scores,
      action_items: [{ text: 'Do it' }],
    });
    expect(made.status, made.text).toBe(201);
    expect(made.body).toMatchObject({
      assessor_id: member.userId,
      assessor_name: 'member',
      assessment_date: '2026-02-28',
      overall_score: 5,
      efficiency: 1,
      notes: null,
      action_items: [{ text: 'Do it' }],
    });
    const changed = await member.put(
      `${url}/${made.body.id}`,
      { overall_score: 0, notes: 'Seen.' },
      { 'if-match': made.headers.etag! },
    );
    expect(changed.body).toMatchObject({
      overall_score: 1,
      efficiency: 1,
      notes: 'Seen.',
      action_items: [{ text: 'Do it' }],
    });
    expect((await member.get(url)).body.items).toEqual([changed.body]);
    await expectProblem(
      member.put(`${url}/${made.body.id}`, {}, { 'if-match': made.headers.etag! }),
      412,
      'precondition_failed',
    );
    await expectInvalid(member.post(url, { assessment_date: '2026-02-30', ...scores }), 'assessment_date');
    const since = await admin.position();
    await ok(member.delete(`${url}/${made.body.id}`), 204);
    expect(await told(since)).toEqual([]);
    await expectProblem(member.delete(`${url}/${made.body.id}`), 404, 'not_found');
    await admin.undo();
    expect((await member.get(url)).body.items).toEqual([changed.body]);
  });

  it('templates are listed, searched and read', async () => {
    const url = '/api/v1/bpm/templates';
    expect((await viewer.get(`${url}?page_size=2`)).body).toMatchObject({
      total: 6,
      items: [{ key: 'blank' }, { key: 'simple-approval', category: 'General' }],
    });
    expect((await viewer.get(`${url}?search=incident`)).body.items).toMatchObject([
      { key: 'incident-management', category: 'ITIL' },
    ]);
    expect((await viewer.get(`${url}?cursor=&page_size=4`)).body.items).toHaveLength(4);
    const one = await viewer.get(`${url}/order-to-cash`);
    const saved = await member.put(`${of(await card())}/diagram`, { bpmn_xml: one.body.bpmn_xml });
    expect(saved.body).toMatchObject({ element_count: 13, warnings: [] });
  });

  it('of a process are told to the person whom they name', async () => {
    const data = (await admin.get(`/api/v1/accounts/${member.userId}/personal-data`)).body;
    expect(data.process_assessments.length).toBeGreaterThan(0);
    expect(data.process_flows.length).toBeGreaterThan(0);
  });
});

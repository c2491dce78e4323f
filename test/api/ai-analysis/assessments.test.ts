import { randomUUID } from 'node:crypto';
import {
  eventKinds,
  expectInvalid,
  expectProblem,
  ok,
  openApp,
  type TestClient,
} from '../../support/harness.ts';

const { t } = await openApp();
const [admin, member, viewer] = [await t.as('admin'), await t.as('member'), await t.as('viewer')];

const url = '/api/v1/ai-analysis/assessments';
const given = (more: object = {}) => ({
  title: `Session ${randomUUID()}`,
  requirement: 'One way to take orders',
  sessionData: { phase: 1, objectiveIds: [], notes: { mine: ['kept', null] } },
  ...more,
});
const made = (more: object = {}) => admin.create(url, given(more));
const told = async (client: TestClient, id: string) =>
  (await client.get('/api/v1/changes?limit=10000')).body.items.filter(
    (event: { data: { id: string } }) => event.data.id === id,
  );

it('is kept, listed, changed and deleted', async () => {
  const body = given();
  const { body: session, headers } = await admin.post(url, body);
  expect(session).toMatchObject({
    title: body.title,
    requirement: body.requirement,
    status: 'saved',
    initiative_id: null,
    initiative_name: null,
    created_by: admin.userId,
    session_data: body.sessionData,
    decision_draft: null,
  });
  const one = `${url}/${session.id}`;
  expect((await member.get(one)).body).toEqual(session);
  await ok(member.get(one, { 'if-none-match': headers.etag as string }), 304);
  const list = (await member.get(`${url}?status=saved&sort_by=title&search=session`)).body;
  expect(list.items).toContainEqual({ ...session, session_data: null });
  expect((await member.get(`${url}?status=committed`)).body.total).toBe(0);
  expect((await member.get(`${url}?cursor=&fields=id`)).body.items).toContainEqual({ id: session.id });

  const changed = await admin.patch(one, { title: ' Other ', sessionData: { phase: 2 } });
  expect(changed.body).toMatchObject({ title: 'Other', session_data: { phase: 2 } });
  expect((await admin.patch(one, { title: 'Other' })).body).toEqual(changed.body);
  await ok(admin.delete(one), 204);
  for (const answer of [await admin.get(one), await admin.patch(one, {}), await admin.delete(one)])
    expect(answer.status).toBe(404);
  expect(eventKinds(await told(admin, session.id), 'assessment')).toBe('created updated deleted');
  // whoever may not read analyses is not told of them
  expect(await told(viewer, session.id)).toEqual([]);
});

it('shows no costs to those who see none, neither itself nor in its events', async () => {
  const card = { id: 'new-1', change: 'new', type: 'Application', name: 'New' };
  const attributes = { costTotalAnnual: 12, hostingType: 'hybrid' };
  const sessionData = {
    options: [{ id: 'replace', facts: { annual_cost: 100, applications: 2 } }],
    architecture: { cards: [{ ...card, annual_cost: 5, attributes }] },
  };
  const { id } = await made({ sessionData });
  expect((await member.get(`${url}/${id}`)).body.session_data).toEqual(sessionData);
  const planner = await t.holding('inventory.view', 'ai_analysis.view');
  expect((await planner.get(`${url}/${id}`)).body.session_data).toEqual({
    options: [{ id: 'replace', facts: { applications: 2 } }],
    architecture: { cards: [{ ...card, attributes: { hostingType: 'hybrid' } }] },
  });
  const [event] = await told(planner, id);
  expect(event.data.changes).not.toHaveProperty('session_data');
  expect(event.data.changes.title.new).toEqual(expect.any(String));
});

it('is refused where it is not what the description says', async () => {
  const refused = (more: object, ...fields: [string, ...string[]]) =>
    expectInvalid(admin.post(url, given(more)), ...fields);
  await refused({ title: ' ' }, 'title');
  await refused({ requirement: '' }, 'requirement');
  await refused({ sessionData: [] }, 'sessionData');
  await refused({ sessionData: { objectiveIds: ['x'] } }, 'sessionData.objectiveIds.0');
  const cards = [{ id: 'a' }];
  const at = 'sessionData.architecture.cards.0';
  await refused({ sessionData: { architecture: { cards } } }, `${at}.change`, `${at}.type`, `${at}.name`);
  await refused({ sessionData: { a: 'x'.repeat(200_000) } }, 'sessionData');
  await refused({ session_data: {} }, 'session_data');
  await expectProblem(member.post(url, given()), 403, 'ai_analysis.manage');
  await expectProblem(viewer.get(url), 403, 'ai_analysis.view');
});

it('comes back when its batch is rolled back', async () => {
  const session = await made();
  const { body: batch } = await admin.post('/api/v1/mutation-batches', { tool_name: 'Sessions' });
  const joined = { 'x-mutation-batch': batch.id };
  await ok(admin.patch(`${url}/${session.id}`, { title: 'Other' }, joined));
  await ok(admin.request({ method: 'DELETE', url: `${url}/${session.id}`, headers: joined }), 204);
  await admin.post(`/api/v1/mutation-batches/${batch.id}/commit`, {});
  await admin.undo(batch.id);
  const { updated_at: _, ...before } = session;
  expect((await admin.get(`${url}/${session.id}`)).body).toMatchObject(before);
});

it('is away with its module', async () => {
  await admin.patch('/api/v1/settings/ai-analysis-enabled', { enabled: false });
  expect((await admin.get(url)).body.code).toBe('module_disabled');
  await admin.patch('/api/v1/settings/ai-analysis-enabled', { enabled: true });
});

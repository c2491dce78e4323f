// @redis

/** An answer that is given again. */

import { expectProblem, ok, openApp, type TestResponse } from '../../support/harness.ts';

const costs = '/api/v1/reports/cost?type=Application';
const workspace = '/api/v1/reports/my-workspace';
const dashboard = '/api/v1/reports/dashboard';

const { t, admin, viewer } = await openApp(['admin', 'viewer']);
const made = await admin.post('/api/v1/cards', {
  type: 'Application',
  name: 'Ledger',
  attributes: { costTotalAnnual: 100 },
});
const card: string = made.body.id;

/** Answers given from what the process holds. */
const hits = (report: string) =>
  t.app.reportFigures.all().find((figure) => figure.report === report)?.hits ?? 0;

/** Headers but for those that differ from answer to answer. */
function lasting({ headers }: TestResponse): Record<string, string> {
  const { date: _date, 'x-request-id': _id, ...others } = headers;
  return others;
}

it('is the same to the letter, and counts as one that was kept', async () => {
  for (const url of [dashboard, costs, '/api/v1/reports/data-quality']) {
    const first = await admin.get(url);
    const report = url.split('/').at(-1)!.split('?')[0]!;
    const before = hits(report);
    const again = await admin.get(url, { 'x-request-id': 'given-by-client' });
    expect([again.status, again.text, lasting(again)]).toEqual([200, first.text, lasting(first)]);
    expect(again.headers['x-request-id']).toBe('given-by-client');
    expect(again.headers['content-length']).toBe(String(again.raw.length));
    expect(hits(report)).toBe(before + 1);
  }
});

it('is not sent to who holds it, with the same headers whichever way that is found', async () => {
  const { etag = '' } = (await admin.get(costs)).headers;
  await admin.get(costs);
  const before = hits('cost');
  const answers: TestResponse[] = [];
  for (const known of [etag, `"other", ${etag}`, `W/${etag}`, '*'])
    answers.push(await admin.get(costs, { 'if-none-match': known, 'x-request-id': 'given-by-client' }));
  for (const answer of answers) {
    expect([answer.status, answer.text, lasting(answer)]).toEqual([304, '', lasting(answers[0]!)]);
    expect(answer.headers).toMatchObject({
      etag,
      vary: 'Accept, Accept-Encoding',
      'x-request-id': 'given-by-client',
    });
  }
  expect(hits('cost')).toBe(before);
  await admin.patch(`/api/v1/cards/${card}`, { alias: 'changed' });
  const changed = await admin.get(costs, { 'if-none-match': etag });
  expect([changed.status, changed.headers.etag === etag]).toEqual([200, false]);
});

it('gives way to what else is asked for at the same address', async () => {
  const { headers } = await admin.get(costs);
  await admin.get(costs);
  await ok(admin.get(costs, { 'if-none-match': headers.etag! }), 304);
  await ok(admin.get(costs, { 'if-none-match': '"other"' }));
  const csv = await admin.get(costs, { accept: 'text/csv' });
  expect(csv.headers['content-type']).toBe('text/csv; charset=utf-8');
  await expectProblem(admin.get(costs, { accept: 'image/gif' }), 406);
  await expectProblem(admin.get(costs, { 'x-request-origin': 'nowhere' }), 422);
  await expectProblem(admin.get(`${costs}&other=1`), 422);
  const head = await t.app.inject({
    method: 'HEAD',
    url: costs,
    headers: { authorization: `Bearer ${admin.token}` },
  });
  expect([head.statusCode, head.body]).toEqual([200, '']);
});

it('shows every change that was answered before', async () => {
  for (let cost = 1; cost <= 5; cost += 1) {
    await admin.patch(`/api/v1/cards/${card}`, { attributes: { costTotalAnnual: cost } });
    expect((await admin.get(costs)).body.total).toBe(cost);
    expect((await admin.get(costs)).body.total).toBe(cost);
  }
});

it('is for its caller alone', async () => {
  const mine = await admin.get(workspace);
  const others = await viewer.get(workspace);
  expect((await admin.get(workspace)).text).toBe(mine.text);
  expect((await viewer.get(workspace)).text).toBe(others.text);
  await expectProblem(t.anonymous.get(costs), 401);
  await expectProblem(viewer.get(costs), 403);
});

it('ends with the right to it, in the same moment', async () => {
  await admin.create('/api/v1/roles', {
    key: 'controller',
    label: 'Controller',
    permissions: { 'reports.ea_dashboard': true, 'costs.view': true, 'inventory.view': true },
  });
  const controller = await t.as('controller');
  for (let n = 0; n < 3; n += 1) await ok(controller.get(costs));
  await admin.patch('/api/v1/roles/controller', {
    permissions: { 'reports.ea_dashboard': true, 'inventory.view': true },
  });
  await expectProblem(controller.get(costs), 403);
  for (let n = 0; n < 3; n += 1) await ok(controller.get(dashboard));
  await admin.patch(`/api/v1/users/${controller.userId}`, { is_active: false });
  await expectProblem(controller.get(dashboard), 401);
});

it('ends with the login', async () => {
  const other = await t.as('viewer', 'leaving');
  for (let n = 0; n < 3; n += 1) await ok(other.get(dashboard));
  await other.post('/api/v1/auth/logout');
  await expectProblem(other.get(dashboard), 401);
});

it('is given to API tokens within their scopes, until they are revoked', async () => {
  const made = await admin.create('/api/v1/tokens', { name: 'bi', scopes: ['reports.ea_dashboard'] });
  const as = async (url: string) =>
    (await t.app.inject({ url, headers: { authorization: `Bearer ${made.token}` } })).statusCode;
  for (let n = 0; n < 3; n += 1) expect(await as(dashboard)).toBe(200);
  expect(await as(costs)).toBe(403);
  await admin.delete(`/api/v1/tokens/${made.id}`);
  expect(await as(dashboard)).toBe(401);
});

import { bearer, loginAs, person } from '../../support/accounts.ts';
import { expectProblem, ok, openApp } from '../../support/harness.ts';

const { t, admin, member } = await openApp(['admin', 'member']);

it('is read by the person and by administrators, without any secret', async () => {
  const who = await person(t);
  const token = bearer((await loginAs(t, who)).body.access_token);
  await t.anonymous.post('/api/v1/tokens', { name: 'Mine' }, token);
  const make = (path: string, body: object) => ok(t.anonymous.post(`/api/v1/${path}`, body, token), 201);
  const channel = { name: 'Team', kind: 'slack', url: 'https://hooks.slack.com/services/T0/B0/secret-path' };
  await make('channels', channel);
  await make('bookmarks', { name: 'My view', card_type: 'Application' });
  const report = { name: 'My report', report_type: 'cost', config: { path: '/reports/cost', search: {} } };
  const saved = await make('saved-reports', report);
  await make('extraction-schedules', {
    name: 'My schedule',
    cron: '0 7 * * 1',
    report: { saved_report_id: saved.id, format: 'csv' },
    destination: {
      kind: 'sftp',
      host: 'files.example.com',
      username: 'estate',
      host_key: `SHA256:${'A'.repeat(43)}`,
      password: 'secret-word',
    },
  });
  const url = `/api/v1/accounts/${who.id}/personal-data`;
  const own = await t.anonymous.get(url, token);
  expect(own.body).toMatchObject({
    account: { id: who.id, email: who.email },
    tokens: [{ name: 'Mine' }],
    sign_ins: [{ event_type: 'auth.login', address: '127.0.0.1' }],
    writes: { 'api_token.created': 1, 'auth.login': 1 },
    channels: [{ name: 'Team', host: 'hooks.slack.com' }],
    saved_views: [{ name: 'My view', card_type: 'Application' }],
    saved_reports: [{ name: 'My report', report_type: 'cost' }],
    schedules: [{ name: 'My schedule', cron: '0 7 * * 1', destination: { host: 'files.example.com' } }],
  });
  expect(own.text).not.toMatch(/scrypt|hash|secret-|"secret"/);
  expect((await admin.get(url)).body.account.id).toBe(who.id);
  await expectProblem(member.get(url), 403, 'admin.users');
});

import { sendNow } from '../../../../integrations/collaboration/mail/mail.send.ts';
import { startTokenEndpoint } from '../../../emulators/token-endpoint.ts';
import { closeAfterAll, expectInvalid, ok, openApp } from '../../../support/harness.ts';
import { startSmtp, useSmtp } from '../../../support/smtp.ts';

const { t, db, admin } = await openApp(['admin'], { OUTBOUND_ALLOW: '127.0.0.1:*' });
const hello = { to: 'ada@estate.example', subject: 'Hello', text: 'Hello.' };
const user = 'estate@estate.example';

async function started() {
  const client = { id: 'estate', secret: 'sesame' };
  const tokens = closeAfterAll(await startTokenEndpoint(client));
  const smtp = closeAfterAll(await startSmtp({ user, accepts: tokens.accepts }));
  const settings = {
    smtp_auth: 'oauth2',
    smtp_user: user,
    oauth_token_url: tokens.url,
    oauth_client_id: client.id,
    oauth_scope: 'https://outlook.office365.com/.default',
  };
  const useSecret = async (secret: string) => {
    const key = 'secret.email.smtp_password';
    const value = JSON.stringify(t.services.secrets.seal(secret, key));
    await db('settings').insert({ key, value }).onConflict('key').merge();
  };
  await useSmtp(t.services, smtp.port, settings);
  await useSecret(client.secret);
  return { tokens, smtp, useSecret };
}

it('logs in with a token, which is kept, and renewed when the mail server refuses it', async () => {
  const { tokens, smtp } = await started();
  await sendNow(t.services, hello);
  await sendNow(t.services, hello);
  expect(smtp.mails.map((mail) => mail.user)).toEqual([user, user]);
  expect(tokens.requests).toEqual([
    {
      grant_type: 'client_credentials',
      client_id: 'estate',
      client_secret: 'sesame',
      scope: 'https://outlook.office365.com/.default',
    },
  ]);
  // as if the token had been revoked
  tokens.requests.push({});
  await sendNow(t.services, hello);
  expect(smtp.mails).toHaveLength(3);
  expect(tokens.requests).toHaveLength(3);
});

it.each([
  ['another secret', 'wrong', undefined, /gave no token \(invalid_client, status 401\)/],
  [
    'a page instead of a token',
    'sesame',
    { status: 200, body: '<p>sesame</p>' },
    /gave no token \(status 200\)/,
  ],
  [
    'an error that repeats the secret',
    'sesame',
    { status: 400, body: { error: 'bad sesame!' } },
    /gave no token \(status 400\)/,
  ],
  ['a cut connection', 'sesame', 'reset' as const, /token endpoint of the mail server could not be reached/],
])('reports %s, without connecting to the mail server', async (_what, secret, fault, message) => {
  const { tokens, smtp, useSecret } = await started();
  await useSecret(secret);
  tokens.fault = fault;
  const sent = sendNow(t.services, hello);
  await expect(sent).rejects.toMatchObject({
    code: 'upstream_failed',
    message: expect.stringMatching(message),
  });
  expect(smtp.mails).toEqual([]);
});

it('needs a user, a token endpoint that may be called and a client, and the secret again for another', async () => {
  const settings = (body: object) => admin.patch('/api/v1/settings/email', body);
  const complete = {
    smtp_host: '127.0.0.1',
    smtp_port: 2525,
    smtp_auth: 'oauth2',
    smtp_user: user,
    oauth_token_url: 'http://127.0.0.1:2/token',
    oauth_client_id: 'estate',
    smtp_password: 'sesame',
  };
  for (const field of ['smtp_user', 'oauth_token_url', 'oauth_client_id'])
    await expectInvalid(settings({ ...complete, [field]: '' }), field);
  await expectInvalid(
    settings({ ...complete, oauth_token_url: 'https://10.0.0.1/token' }),
    'oauth_token_url',
  );
  await ok(settings(complete));
  await expectInvalid(settings({ oauth_token_url: 'http://127.0.0.1:3/token' }), 'smtp_password');
  await ok(settings({ oauth_token_url: 'http://127.0.0.1:3/token', smtp_password: 'sesame' }));
});

import { once } from 'node:events';
import fs, { readdirSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { unpack } from '../support/archives.ts';
import { jsonLines, ok, openApp, pluck } from '../support/harness.ts';

/** Every secret that users give begins so. */
const PLANTED = 'planted-3b81f0';
const secret = (name: string) => `${PLANTED}-${name}`;
const api = '/api/v1';

const log: string[] = [];
const answers: string[] = [];

const write = fs.writeSync;
vi.spyOn(fs, 'writeSync').mockImplementation(((fd: number, data: unknown, ...more: never[]) => {
  if (fd === 1) log.push(String(data));
  return fd === 1 ? Buffer.byteLength(String(data)) : write(fd, data as string, ...more);
}) as typeof write);
// nothing listens there: every try fails, as tries do whose errors are told
const { t, db, admin } = await openApp(['admin'], { LOG_LEVEL: 'trace', OUTBOUND_ALLOW: '127.0.0.1:*' });

afterAll(() => vi.restoreAllMocks());

const keep = async (call: Promise<{ status: number; text: string; headers: object }>) => {
  const { status, text, headers } = await call;
  answers.push(text, JSON.stringify(headers));
  return { status, body: JSON.parse(text || '{}') };
};
const made = async (url: string, body: unknown) => {
  const { status, body: answer } = await keep(admin.post(`${api}${url}`, body));
  expect([status, answer], url).toEqual([201, answer]);
  return answer;
};

const remote = 'https://127.0.0.1:9';
/** Some of what is logged while secrets are given and used: without these lines the log was not captured. */
const loggedLines = [
  ...[200, 422].flatMap((status) =>
    ['email', 'sso', 'ai'].map((group) => ({ method: 'PATCH', path: `${api}/settings/${group}`, status })),
  ),
  { msg: 'a mail was not accepted', code: 'ECONNREFUSED' },
  { msg: 'a mail was not accepted', code: 'EAUTH' },
  { msg: 'The AI provider cannot be reached.', purpose: 'try' },
  { msg: 'an outgoing connection failed', address: remote },
  { method: 'POST', path: `${api}/auth/sso/start`, status: 502 },
  { method: 'POST', path: `${api}/itsm-sync/connections`, status: 201 },
  { method: 'POST', path: `${api}/itsm-sync/connections`, status: 422 },
  { method: 'POST', path: `${api}/extraction-schedules`, status: 201 },
];

it('shows no secret that users give in answers, events, logs, tables and files', async () => {
  const settings: [string, Record<string, unknown>][] = [
    ['email', { smtp_host: '127.0.0.1', smtp_port: 9, smtp_user: 'estate', smtp_password: secret('smtp') }],
    ['sso', { provider: 'oidc', client_id: 'e', issuer_url: remote, client_secret: secret('sso') }],
    [
      'ai',
      { enabled: true, provider_type: 'openai', provider_url: remote, model: 'm', api_key: secret('ai') },
    ],
  ];
  for (const [group, body] of settings) {
    expect((await keep(admin.patch(`${api}/settings/${group}`, body))).status, group).toBe(200);
    // refused as a whole, with a secret in it
    await keep(admin.patch(`${api}/settings/${group}`, { ...body, unknown_member: secret('value') }));
  }
  const basic = {
    name: 'Basic',
    kind: 'servicenow',
    instance_url: remote,
    auth_type: 'basic',
    username: 'e',
  };
  const itsm = [
    await made('/itsm-sync/connections', { ...basic, password: secret('basic') }),
    await made('/itsm-sync/connections', {
      name: 'OAuth',
      kind: 'servicenow',
      instance_url: remote,
      auth_type: 'oauth2',
      grant_type: 'refresh_token',
      client_id: 'e',
      client_secret: secret('oauth'),
      refresh_token: secret('refresh'),
    }),
    await made('/itsm-sync/connections', {
      name: 'Token',
      kind: 'netbox',
      instance_url: remote,
      auth_type: 'token',
      token: secret('token'),
    }),
  ];
  const schedule = await made('/extraction-schedules', {
    name: 'S3',
    cron: '30 2 * * *',
    request: { format: 'csv', types: ['Application'] },
    destination: {
      kind: 's3',
      endpoint: remote,
      region: 'r',
      bucket: 'bucket',
      prefix: '',
      path_style: true,
      access_key_id: 'k',
      secret_access_key: secret('s3'),
    },
  });
  const toServer = {
    kind: 'sftp',
    host: '127.0.0.1',
    username: 'estate',
    host_key: `SHA256:${'A'.repeat(43)}`,
    password: secret('sftp'),
  };
  await made('/extraction-schedules', {
    name: 'SFTP',
    cron: '30 2 * * *',
    request: { format: 'csv', types: ['Application'] },
    destination: toServer,
  });
  await keep(
    admin.post(`${api}/extraction-schedules`, {
      name: 'SFTP with a bad key',
      cron: '30 2 * * *',
      request: { format: 'csv', types: ['Application'] },
      destination: {
        ...toServer,
        password: undefined,
        private_key: secret('key'),
        passphrase: secret('phrase'),
      },
    }),
  );
  await keep(
    admin.post(`${api}/itsm-sync/connections`, { ...basic, password: { nested: secret('nested') } }),
  );
  await keep(admin.post(`${api}/settings/email/test`));
  const echo = await echoingMailServer();
  await ok(
    keep(
      admin.patch(`${api}/settings/email`, {
        smtp_port: echo.port,
        smtp_tls: false,
        smtp_password: secret('smtp'),
      }),
    ),
  );
  await keep(admin.post(`${api}/settings/email/test`));
  echo.server.close();
  // the server saw the password and sent it back, in its error text
  expect(echo.said.join('')).toContain(secret('smtp'));
  await keep(admin.post(`${api}/settings/ai/test`));
  const redirect_uri = 'https://estate.example/login';
  await admin.patch(`${api}/settings/email`, { app_base_url: 'https://estate.example' });
  await admin.patch(`${api}/settings/sso`, { enabled: true });
  await keep(t.anonymous.post(`${api}/auth/sso/start`, { redirect_uri }));
  for (const { id } of itsm) {
    await keep(admin.post(`${api}/itsm-sync/connections/${id}/test`));
    await keep(admin.patch(`${api}/itsm-sync/connections/${id}`, { name: `Renamed ${id}` }));
    await keep(admin.get(`${api}/itsm-sync/connections/${id}`));
  }
  await keep(admin.patch(`${api}/extraction-schedules/${schedule.id}`, { name: 'Renamed' }));

  // whatever an administrator can read without naming an object
  const { paths } = t.app.swagger() as unknown as { paths: Record<string, { get?: object }> };
  for (const [url, methods] of Object.entries(paths)) {
    if (!methods.get || /[{]|stream$|docs$|favicon$|logo$/.test(url)) continue;
    const { text, raw } = await admin.get(url);
    answers.push(text, raw.toString('latin1'));
  }
  // compressed: what is packed in an archive shows only when it is unpacked
  const parts = await unpack((await admin.get(`${api}/admin/workspace/export?include_archived=true`)).raw);
  expect(parts.size).toBeGreaterThan(20);
  answers.push(...[...parts.values()].map((part) => part.toString('latin1')));
  expect(answers.length).toBeGreaterThan(150);
  const lines = jsonLines(log.join(''));
  expect(lines).toEqual(expect.arrayContaining(loggedLines.map((line) => expect.objectContaining(line))));

  const leaks = (name: string, texts: string[]) =>
    texts.filter((text) => text.includes(PLANTED)).map((text) => `${name}: ${around(text)}`);
  const tables: string[] = await db('pg_tables').where({ schemaname: 'public' }).pluck('tablename');
  const rows = await Promise.all(
    tables.map(async (table) => {
      const { rows: found } = await db.raw(`select x::text as row from ?? x where x::text like ?`, [
        table,
        `%${PLANTED}%`,
      ]);
      return leaks(table, pluck(found, 'row'));
    }),
  );
  const files = readdirSync(t.services.config.dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(path.join(entry.parentPath, entry.name), 'latin1'));
  expect([
    ...leaks('answer', answers),
    ...leaks('log', log),
    ...rows.flat(),
    ...leaks('file', files),
  ]).toEqual([]);
}, 120_000);

/** A mail server that refuses every login with a text that holds what the client sent, plain and as it came. */
async function echoingMailServer() {
  const said: string[] = [];
  const server = createServer((socket) => {
    const answer = (text: string) => {
      said.push(text);
      socket.write(`${text}\r\n`);
    };
    answer('220 mail.example ESMTP');
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      const line = bytes.toString().trim();
      const credentials = /^AUTH PLAIN (\S+)/.exec(line)?.[1];
      if (credentials) {
        const plain = Buffer.from(credentials, 'base64').toString().replaceAll('\0', ' ');
        answer(`535 5.7.8 wrong credentials ${plain} ${credentials}`);
      } else if (line.startsWith('EHLO')) answer('250-mail.example\r\n250 AUTH PLAIN');
      else answer('250 ok');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, said, port: (server.address() as AddressInfo).port };
}

/** What stands around the secret. */
function around(text: string): string {
  const at = text.indexOf(PLANTED);
  return text.slice(Math.max(0, at - 120), at + 60);
}

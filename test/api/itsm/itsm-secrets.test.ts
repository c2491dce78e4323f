import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import pino from 'pino';
import { serverCertificate } from '../../emulators/certificates.ts';
import { createVirtualClock } from '../../emulators/virtual-clock.ts';
import { createDriver } from '../../soak/itsm/drive.ts';
import { openApp } from '../../support/harness.ts';
import { connectKind, storeMapping, syncBase } from '../../support/itsm.ts';

/** A secret with characters that are encoded in URLs, HTML and JSON. */
const CANARY = `Kanarie-"&'/+ vogelhaus`;
/** Each of its parts is looked for, so that no other way of writing it hides it. */
const PARTS = ['anarie', 'gelhaus', Buffer.from(CANARY).toString('base64').slice(4, 16)];

type Answer = { status: number; headers?: Record<string, string>; body: string };
/** What the remote says of what it was sent. */
type Way = (told: string) => Answer;

const logged: string[] = [];
let way: Way;
let asked: number;

const json = { 'content-type': 'application/json' };
/** All secrets that were sent to it. */
const toldBy = ({ headers }: IncomingMessage, body: string): string => {
  const { authorization = '', 'auth-token': token = '' } = headers;
  const basic = /^Basic (.+)$/.exec(authorization)?.[1] ?? '';
  return [CANARY, authorization, String(token), Buffer.from(basic, 'base64').toString(), body].join(' ');
};

const { t, db, admin } = await openApp(['admin'], { OUTBOUND_ALLOW: '127.0.0.1:*' });
const log = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) });
const driver = createDriver({ ...t.services, log }, createVirtualClock(Date.now()), 100);
const server = createServer(serverCertificate, async (request, reply) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  if (request.url?.startsWith('/oauth_token.do')) {
    const token = { access_token: `access ${CANARY}`, refresh_token: `refresh ${CANARY}`, expires_in: 60 };
    reply.writeHead(200, json).end(JSON.stringify(token));
    return;
  }
  const answer = way(toldBy(request, body));
  reply.writeHead(answer.status, answer.headers ?? json).end(answer.body);
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const base = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;

afterAll(async () => {
  await driver.close();
  server.closeAllConnections();
  server.close();
});

const ways: Record<string, Way> = {
  ...Object.fromEntries(
    [400, 401, 403, 404, 409, 500, 503].map((status): [string, Way] => [
      `${status}`,
      (told) => ({
        status,
        headers: { ...json, 'www-authenticate': 'Basic realm="x"' },
        body: JSON.stringify({
          error: { message: told, detail: told },
          message: told,
          detail: told,
          code: 1,
        }),
      }),
    ]),
  ),
  'in the middle of what is cut': (told) => ({
    status: 403,
    body: JSON.stringify({
      error: { message: `${'x'.repeat(195)}${told}` },
      detail: `${'x'.repeat(195)}${told}`,
    }),
  }),
  encoded: (told) => ({
    status: 400,
    body: JSON.stringify({
      error: {
        message: `${encodeURIComponent(told)} ${told.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}`,
      },
      detail: new URLSearchParams({ told }).toString(),
    }),
  }),
  'with 200': (told) => ({
    status: 200,
    body: JSON.stringify({ error: { message: told }, code: 100, message: told, result: [] }),
  }),
  'a redirect': (told) => ({
    status: 302,
    headers: { location: `https://127.0.0.1/?${new URLSearchParams({ told })}` },
    body: told,
  }),
  'a page': (told) => ({
    status: 200,
    headers: { 'content-type': 'text/html' },
    body: `<html>${told}</html>`,
  }),
  'a challenge': (told) => ({
    status: 401,
    headers: { 'www-authenticate': `Basic realm=${JSON.stringify(encodeURIComponent(told))}` },
    body: told,
  }),
  'broken JSON': (told) => ({ status: 200, body: `{"result": ["${told}` }),
};

const kinds: Record<string, { kind: string; more: object }> = {
  'a password': { kind: 'servicenow', more: { username: 'estate', password: CANARY } },
  'an OAuth client': {
    kind: 'servicenow',
    more: {
      auth_type: 'oauth2',
      grant_type: 'client_credentials',
      client_id: 'estate',
      client_secret: CANARY,
    },
  },
  'a token of iTop': { kind: 'itop', more: { auth_type: 'token', token: CANARY, time_zone: 'UTC' } },
  'a password of iTop': {
    kind: 'itop',
    more: { auth_type: 'basic', username: 'estate', password: CANARY, time_zone: 'UTC' },
  },
};

const sources = [{ name: 'rows', path: 'rows', format: 'json', key: 'id' }];
Object.assign(kinds, {
  'an API key in the query': {
    kind: 'http',
    more: { auth_type: 'api_key', token: CANARY, api_key: { in: 'query', name: 'key' }, sources },
  },
  'an OAuth client of lists': {
    kind: 'http',
    more: {
      auth_type: 'oauth2',
      client_id: 'estate',
      client_secret: CANARY,
      oauth: { token_url: `${base}/oauth_token.do`, client_auth: 'client_secret_basic' },
      sources,
    },
  },
});

/** Where the database contains a part of the secret in plain text. */
async function stored(): Promise<string[]> {
  const { rows } = await db.raw(`select table_name as name from information_schema.tables
     where table_schema = 'public' and table_type = 'BASE TABLE'`);
  const found: string[] = [];
  for (const { name } of rows) {
    const { rows: hits } = await db.raw(
      `select row_to_json(r)::text as row from ?? r where row_to_json(r)::text like any(?::text[]) limit 1`,
      [name, PARTS.map((part) => `%${part}%`)],
    );
    for (const { row } of hits) found.push(`${name}: ${row}`);
  }
  return found;
}

const credentials = Object.keys(kinds);

describe.each(Object.entries(kinds))(
  '%s that the remote returns in its messages',
  (credential, { kind, more }) => {
    it('is neither shown nor stored, in any encoding', async () => {
      logged.length = 0;
      const connectionId = await connectKind(admin, kind, base, more);
      const table = { itop: 'Server', http: 'rows' }[kind] ?? 'cmdb_ci_server';
      const direction = kind === 'http' ? 'pull' : 'bidirectional';
      const mapping = await storeMapping(t, { connectionId, cardType: 'ITComponent', table, direction });
      const listed = kind === 'http' ? 'tables/rows/fields' : 'tables';
      // a run asks again and again: each way is met by the runs of one credential
      const turn = credentials.indexOf(credential);
      for (const [at, [name, says]] of Object.entries(ways).entries()) {
        // no account waits for what others have met
        await db.raw('truncate itsm_account_limits');
        asked = 0;
        way = (what) => {
          asked += 1;
          return says(what);
        };
        const told: string[] = [];
        const note = async (answer: Promise<{ text: string }>) => void told.push((await answer).text);
        await note(admin.post(`${syncBase}/connections/${connectionId}/test`));
        await note(admin.get(`${syncBase}/connections/${connectionId}/${listed}`));
        if (at % credentials.length === turn) {
          const { run } = await driver.run({ services: t.services, ctx: await t.ctx() }, mapping);
          expect(run.status, name).toBe('failed');
          await note(admin.get(`${syncBase}/sync/runs/${run.id}`));
        }
        await note(admin.get(`${syncBase}/connections/${connectionId}`));
        expect(
          [...told, ...logged.splice(0)].filter((text) => PARTS.some((part) => text.includes(part))),
          name,
        ).toEqual([]);
        expect(asked, name).toBeGreaterThan(1);
      }
      expect(await stored()).toEqual([]);
    }, 60_000);
  },
);

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import type { Services } from '../../domain/kernel/services.ts';

/** A mail as the server got it. */
interface ReceivedMail {
  from: string;
  to: string[];
  /** Headers, names in small letters, unfolded. */
  headers: Record<string, string>;
  raw: string;
  /** The decoded plain text, and the decoded HTML where there is one. */
  text: string;
  html: string | undefined;
  /** The name under which the sender logged in. */
  user: string | undefined;
}

/** What the server says to a mail; nothing: it takes it. */
interface Behaviour {
  /** Refuses this recipient with the code. */
  recipient?(address: string): number | undefined;
  /** Called with the whole mail before it is taken: a code refuses it, a promise keeps the sender waiting. */
  data?(mail: ReceivedMail): number | undefined | Promise<number | undefined>;
}

export interface TestSmtp {
  port: number;
  /** What was taken, in order. */
  mails: ReceivedMail[];
  behaviour: Behaviour;
  close(): Promise<void>;
}

const refusal = (code: number) => Object.assign(new Error(`refused with ${code}`), { responseCode: code });

/** The login that a server asks for: a password, or an access token. */
type Login = { user: string } & ({ password: string } | { accepts(token: string): boolean });

/** A mail server of the test's own, on loopback, without TLS; `login` is what it asks for. */
export async function startSmtp(login?: Login): Promise<TestSmtp> {
  const byToken = login !== undefined && 'accepts' in login;
  const smtp: TestSmtp = {
    port: 0,
    mails: [],
    behaviour: {},
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    authOptional: login === undefined,
    authMethods: byToken ? ['XOAUTH2'] : ['PLAIN', 'LOGIN'],
    allowInsecureAuth: true,
    closeTimeout: 100,
    onAuth({ username, password, accessToken }, _session, done) {
      const isRight =
        login !== undefined &&
        username === login.user &&
        ('accepts' in login ? login.accepts(accessToken ?? '') : password === login.password);
      // a refused token is answered by a challenge with the reason, and only its answer with 535
      if (!isRight && byToken) done(null, { data: { status: '401', schemes: 'bearer' } });
      else done(isRight ? null : refusal(535), { user: username });
    },
    onRcptTo({ address }, _session, done) {
      const code = smtp.behaviour.recipient?.(address);
      done(code === undefined ? null : refusal(code));
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', async () => {
        const { mailFrom, rcptTo } = session.envelope;
        const mail: ReceivedMail = {
          ...parseMail(Buffer.concat(chunks).toString('utf8')),
          from: mailFrom === false || mailFrom === undefined ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          user: session.user as string | undefined,
        };
        const code = await smtp.behaviour.data?.(mail);
        if (code === undefined) smtp.mails.push(mail);
        done(code === undefined ? null : refusal(code));
      });
    },
  });
  // a sender that is killed resets its connection
  server.on('error', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  smtp.port = (server.server.address() as AddressInfo).port;
  return smtp;
}

/** Writes the settings that lead to the server. */
export async function useSmtp(
  { db }: Services,
  port: number,
  more: Record<string, unknown> = {},
): Promise<void> {
  const value = {
    smtp_host: '127.0.0.1',
    smtp_port: port,
    smtp_tls: false,
    smtp_from: 'estate@estate.example',
    ...more,
  };
  await db('settings')
    .insert({ key: 'workspace.email', value: JSON.stringify(value) })
    .onConflict('key')
    .merge();
  await db.raw(`select record_events('[]'::jsonb, '{settings}'::text[])`);
}

/** Lets scheduled files go to addresses of these domains, too. */
export async function allowRecipients({ db }: Services, ...domains: string[]): Promise<void> {
  await db('settings').insert({ key: 'workspace.mail_recipients', value: JSON.stringify(domains) });
}

type Parsed = Pick<ReceivedMail, 'headers' | 'raw' | 'text' | 'html'>;

/** Takes apart what our own mails consist of: one text, or a text with an HTML alternative, and perhaps an attachment. */
function parseMail(raw: string): Parsed {
  const { headers, body } = splitPart(raw);
  const boundary = /boundary="?([^";]+)/.exec(headers['content-type'] ?? '')?.[1];
  if (boundary === undefined) return { headers, raw, text: decode(headers, body), html: undefined };
  const parts = body
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => splitPart(part.replace(/^\r\n|\r\n$/g, '')));
  const of = (type: string) => {
    const part = parts.find(({ headers: own }) => own['content-type']?.startsWith(type));
    return part && decode(part.headers, part.body);
  };
  const inner = parts.find(({ headers: own }) => own['content-type']?.startsWith('multipart/'));
  if (inner) return { ...parseMail(joinPart(inner)), headers, raw };
  return { headers, raw, text: of('text/plain') ?? '', html: of('text/html') };
}

const joinPart = ({ headers, body }: ReturnType<typeof splitPart>): string =>
  `content-type: ${headers['content-type']}\r\n\r\n${body}`;

function splitPart(raw: string): { headers: Record<string, string>; body: string } {
  const end = raw.indexOf('\r\n\r\n');
  const lines = raw
    .slice(0, end)
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
  );
  return { headers, body: raw.slice(end + 4) };
}

function decode(headers: Record<string, string>, body: string): string {
  const encoding = headers['content-transfer-encoding'];
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString('utf8');
  if (encoding !== 'quoted-printable') return body.replaceAll('\r\n', '\n');
  const bytes = body
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8').replaceAll('\r\n', '\n');
}

import { Readable } from 'node:stream';
import SMTPConnection, { type SMTPConnectionAuth } from 'nodemailer/lib/smtp-connection';
import XOAuth2 from 'nodemailer/lib/xoauth2';
import { type Outbound, OutboundRefusal } from '../../../platform/outbound.ts';
import { SmtpFailure } from './mail.failure.ts';
import { accessToken, type MailClient } from './mail.token.ts';

/** The configured mail server and sender. */
export interface MailServer {
  host: string;
  port: number;
  /** Whether the connection must be encrypted: from its beginning on port 465, else by STARTTLS. */
  tls: boolean;
  login: { user: string; password: string } | { user: string; client: MailClient } | undefined;
  from: { name: string; address: string };
}

/** Timeouts in milliseconds. */
export interface SmtpTimeouts {
  /** For the connection, and separately for the greeting. */
  connect: number;
  /** For any other response; RFC 5321 (4.5.3.2) requires minutes, especially for the last one. */
  silence: number;
}

const timeouts: SmtpTimeouts = { connect: 10_000, silence: 120_000 };

export interface Delivery {
  from: string;
  to: string;
  raw: Buffer;
  /** Awaited after the message was sent and before the final dot, after which the server may accept it. */
  beforeEnd?(): Promise<void>;
  /** Aborts the delivery until `beforeEnd` has been called. */
  signal?: AbortSignal;
}

interface SmtpError extends Error {
  code?: string;
  responseCode?: number;
  response?: string;
}

/**
 * Delivers one mail over a separate connection.
 * @throws SmtpFailure; what `beforeEnd` throws; the signal's reason.
 */
export async function deliver(
  outbound: Pick<Outbound, 'connectMail' | 'request'>,
  server: MailServer,
  delivery: Delivery,
  { connect, silence }: SmtpTimeouts = timeouts,
): Promise<void> {
  const auth = server.login && (await authOf(outbound, server.login));
  const socket = await outbound
    .connectMail({ host: server.host, port: server.port, timeoutMs: connect, signal: delivery.signal })
    .catch((error: unknown) => {
      delivery.signal?.throwIfAborted();
      throw error instanceof OutboundRefusal
        ? new SmtpFailure('temporary', error.message, error)
        : unreached(error);
    });
  const connection = new SMTPConnection({
    connection: socket,
    host: server.host,
    port: server.port,
    secure: server.tls && server.port === 465,
    requireTLS: server.tls && server.port !== 465,
    ignoreTLS: !server.tls,
    connectionTimeout: connect,
    greetingTimeout: connect,
    socketTimeout: silence,
  });
  let ending = false;
  let thrown: unknown;
  const failed = new Promise<never>((_resolve, reject) => {
    connection.on('error', reject);
    connection.once('end', () => reject(new Error('the mail server has closed the connection')));
    delivery.signal?.addEventListener('abort', () => {
      if (!ending) reject(delivery.signal!.reason);
    });
  });
  // reported by the step that it interrupts
  failed.catch(() => undefined);
  const step = (run: (done: (error?: Error | null) => void) => void) =>
    Promise.race([
      failed,
      new Promise<void>((resolve, reject) => run((error) => (error ? reject(error) : resolve()))),
    ]);
  const message = async function* () {
    yield delivery.raw;
    try {
      delivery.signal?.throwIfAborted();
      await delivery.beforeEnd?.();
      ending = true;
    } catch (error) {
      thrown = error;
      throw error;
    }
  };
  try {
    delivery.signal?.throwIfAborted();
    await step((done) => connection.connect(done));
    if (auth) await step((done) => connection.login(auth, done));
    const envelope = { from: delivery.from, to: [delivery.to] };
    await step((done) => connection.send(envelope, Readable.from(message()), done));
    connection.quit();
  } catch (error) {
    connection.close();
    if (thrown !== undefined) throw thrown;
    if (error === delivery.signal?.reason && delivery.signal?.aborted) throw error;
    throw failureOf(error as SmtpError, ending);
  }
}

/**
 * How the connection logs in: with a password, or with an access token (XOAUTH2), which is requested before the connection
 * and once more if the mail server refuses it.
 * @throws SmtpFailure.
 */
async function authOf(
  outbound: Pick<Outbound, 'request'>,
  login: NonNullable<MailServer['login']>,
): Promise<SMTPConnectionAuth> {
  const { user } = login;
  if ('password' in login) return { credentials: { user, pass: login.password } };
  const token = await accessToken(outbound, login.client, false);
  const oauth2 = new XOAuth2({
    user,
    accessToken: token,
    provisionCallback: (_user, renew, done) => {
      accessToken(outbound, login.client, renew).then(
        (renewed) => done(null, renewed),
        (error) => done(error),
      );
    },
  });
  return { user, oauth2 };
}

/** The same message for closed, silent and misbehaving servers, so that it cannot be used to scan a network. */
const unreached = (cause: unknown): SmtpFailure =>
  new SmtpFailure('temporary', 'The mail server could not be reached.', cause);

function failureOf(error: SmtpError, ending: boolean): SmtpFailure {
  const { code, responseCode, response } = error;
  if (responseCode === undefined) {
    return ending
      ? new SmtpFailure('unconfirmed', 'The mail server did not confirm the mail.', error)
      : unreached(error);
  }
  if (code === 'EAUTH') {
    // the server's text may contain the password
    const cause = Object.assign(new Error(`the login was answered with ${responseCode}`), { code });
    return new SmtpFailure('temporary', `The mail server refused the login (${responseCode}).`, cause);
  }
  // a refused greeting is caused by the settings, not by this mail
  const ofMail = code === 'EENVELOPE' || code === 'EMESSAGE';
  const kind = ofMail && responseCode >= 500 ? 'refused' : 'temporary';
  const message = `The mail server responded: ${(response ?? error.message).slice(0, 300)}`;
  return new SmtpFailure(kind, message, error);
}

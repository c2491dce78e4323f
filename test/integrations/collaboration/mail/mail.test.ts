// @redis
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { command, commandWith } from '../../../../domain/kernel/command.ts';
import { enqueueMail, enqueueMails, type Mail } from '../../../../domain/kernel/mail/mail.enqueue.ts';
import { sendNow } from '../../../../integrations/collaboration/mail/mail.send.ts';
import { deliver } from '../../../../integrations/collaboration/mail/mail.smtp.ts';
import { createOutbound } from '../../../../platform/outbound.ts';
import { mailProcessor } from '../../../../workers/processors.ts';
import { startWorkers } from '../../../../workers/runtime.ts';
import { closeAfterAll, createTestServices } from '../../../support/harness.ts';
import { type JobRow, killWorker, startWorkerProcess } from '../../../support/jobs.ts';
import { startSmtp, useSmtp } from '../../../support/smtp.ts';
import { until } from '../../../support/until.ts';

// processes that the test starts inherit it
vi.stubEnv('OUTBOUND_ALLOW', '127.0.0.1:*');
const t = closeAfterAll(await createTestServices({ OUTBOUND_ALLOW: '127.0.0.1:*' }));
const smtp = closeAfterAll(await startSmtp());
await useSmtp(t.services, smtp.port);
/** Waits a second before it tries again, where the one that ships waits longer with each failure. */
const impatient = { ...mailProcessor, definition: { ...mailProcessor.definition, longestWaitSeconds: 1 } };
let workers = await startWorkers(t.services, [impatient]);

afterAll(() => workers.close(2_000));
afterEach(() => {
  smtp.mails.length = 0;
  smtp.behaviour = {};
});

const hello: Mail = { to: 'ada@estate.example', subject: 'Hello', text: 'Hello, Ada.\n' };

async function ask(mail: Mail, options: { dryRun?: boolean } = {}): Promise<void> {
  const ctx = await t.ctx();
  await commandWith(ctx, options, ({ sql }) => enqueueMail(sql, ctx, mail));
}

/** The newest mail and its job, once the job has the status. */
async function ended(status: string): Promise<{ job: JobRow; mail: Record<string, unknown> }> {
  return await until(`a mail job to be ${status}`, async () => {
    const job = await t.services.db('jobs').where({ kind: 'mail' }).orderBy('id', 'desc').first();
    if (job?.status !== status) return undefined;
    return { job, mail: await t.services.db('mails').where({ id: job.payload.mail_id }).first() };
  });
}

describe('a mail', () => {
  it('goes out once the transaction has committed, and its content is forgotten', async () => {
    await ask({ ...hello, html: '<p>Hello, <b>Ada</b>.</p>' });
    const { job, mail } = await ended('succeeded');
    expect(smtp.mails).toHaveLength(1);
    const [got] = smtp.mails;
    expect(got).toMatchObject({
      from: 'estate@estate.example',
      to: ['ada@estate.example'],
      text: 'Hello, Ada.\n',
      html: '<p>Hello, <b>Ada</b>.</p>',
    });
    expect(got!.headers).toMatchObject({
      from: 'Estate <estate@estate.example>',
      to: 'ada@estate.example',
      subject: 'Hello',
      'message-id': `<${mail.id}@estate.example>`,
      'auto-submitted': 'auto-generated',
    });
    expect(mail).toMatchObject({ outcome: 'sent', content: null });
    expect(job).toMatchObject({ owner_id: null, result: { outcome: 'sent' } });
  });

  it('does not go out when the transaction is rolled back', async () => {
    await ask({ ...hello, subject: 'Never' }, { dryRun: true });
    await ask({ ...hello, subject: 'Later' });
    await ended('succeeded');
    expect(smtp.mails.map(({ headers }) => headers.subject)).toEqual(['Later']);
  });

  it('takes no header, recipient or ending from its texts', async () => {
    await ask({
      to: 'ada@estate.example',
      subject: 'Hi\r\nBcc: eve@estate.example\r\n\r\nforged',
      text: 'one\r\n.\r\nMAIL FROM:<eve@estate.example>\r\n',
    });
    await ended('succeeded');
    const [got] = smtp.mails;
    expect(got!.to).toEqual(['ada@estate.example']);
    expect(got!.headers.bcc).toBeUndefined();
    expect(got!.headers.subject).toBe('Hi Bcc: eve@estate.example forged');
    expect(got!.text).toBe('one\n.\nMAIL FROM:<eve@estate.example>\n');
    expect(smtp.mails).toHaveLength(1);
    for (const to of [
      'a@b.example, eve@b.example',
      'a@b.example\r\nBcc: eve@b.example',
      '"a b"@c.example',
      'Eve <e@c>',
    ])
      await expect(ask({ ...hello, to })).rejects.toMatchObject({ code: 'validation_failed' });
    const ctx = await t.ctx();
    const [before] = await t.services.db('mails').count({ n: '*' });
    // the last two are those of a service account and of an erased person
    const nobody = ['no address', 'service-1@service.invalid', 'erased-1@erased.invalid'];
    await command(ctx, ({ sql }) =>
      enqueueMails(
        sql,
        ctx,
        nobody.map((to) => ({ ...hello, to })),
      ),
    );
    expect(await t.services.db('mails').count({ n: '*' })).toEqual([before]);
  });

  it('is tried again after a passing refusal, under the same id', async () => {
    const ids: string[] = [];
    smtp.behaviour.data = ({ headers }) => {
      ids.push(headers['message-id']!);
      return ids.length < 3 ? 451 : undefined;
    };
    await ask(hello);
    expect((await ended('succeeded')).job.failures).toBe(2);
    expect(smtp.mails).toHaveLength(1);
    expect(new Set(ids).size).toBe(1);
  });

  it('is given up when it is refused for good', async () => {
    smtp.behaviour.recipient = () => 550;
    await ask(hello);
    const { job, mail } = await ended('failed');
    expect(job.error).toMatchObject({ code: 'mail_refused', message: expect.stringContaining('550') });
    expect(job.failures).toBe(0);
    expect(mail).toMatchObject({ outcome: 'refused', content: null });
  });

  it('ends well and unsent while no mail server is set up', async () => {
    await useSmtp(t.services, smtp.port, { smtp_host: '' });
    await ask(hello);
    const { job, mail } = await ended('succeeded');
    expect(job).toMatchObject({
      message: expect.stringContaining('no mail server'),
      result: { outcome: 'not_configured' },
    });
    expect(mail).toMatchObject({ outcome: 'not_configured', content: null });
    await useSmtp(t.services, smtp.port);
    expect(smtp.mails).toEqual([]);
  });

  it('is not sent twice by a worker that dies after it was given away, and not lost by one that dies before', async () => {
    await workers.close(2_000);
    // before: the server has not yet let the sender begin
    let worker = await startWorkerProcess(t.services);
    const asked = Promise.withResolvers<void>();
    const kill = Promise.withResolvers<void>();
    smtp.behaviour.data = async () => {
      asked.resolve();
      await kill.promise;
      return undefined;
    };
    await ask({ ...hello, subject: 'In doubt' });
    await asked.promise;
    await killWorker(t.services, worker);
    kill.resolve();
    smtp.behaviour = {};
    worker = await startWorkerProcess(t.services);
    const { job, mail } = await ended('failed');
    expect(job.error).toMatchObject({ code: 'mail_unconfirmed' });
    expect(mail).toMatchObject({ outcome: 'unconfirmed', content: null });
    expect(smtp.mails.map(({ headers }) => headers.subject)).toEqual(['In doubt']);

    const begun = Promise.withResolvers<void>();
    smtp.behaviour.recipient = () => {
      begun.resolve();
      return 451;
    };
    await ask({ ...hello, subject: 'Not lost' });
    await begun.promise;
    await killWorker(t.services, worker);
    smtp.behaviour = {};
    workers = await startWorkers(t.services, [impatient]);
    await ended('succeeded');
    expect(smtp.mails.map(({ headers }) => headers.subject)).toEqual(['In doubt', 'Not lost']);
  });
});

describe('a server that asks for a login', () => {
  it('is given the stored password, and a wrong one is not taken for a refusal of the mail', async () => {
    const guarded = await startSmtp({ user: 'estate', password: 'sesame' });
    try {
      const { db, secrets } = t.services;
      await useSmtp(t.services, guarded.port, { smtp_user: 'estate' });
      await expect(sendNow(t.services, hello)).rejects.toMatchObject({ code: 'upstream_failed' });
      const key = 'secret.email.smtp_password';
      await db('settings').insert({ key, value: JSON.stringify(secrets.seal('sesame', key)) });
      await sendNow(t.services, hello);
      expect(guarded.mails).toMatchObject([{ user: 'estate', to: ['ada@estate.example'] }]);
      await useSmtp(t.services, guarded.port, { smtp_user: 'estate', smtp_tls: true });
      await expect(sendNow(t.services, hello)).rejects.toMatchObject({ code: 'upstream_failed' });
    } finally {
      await guarded.close();
      await useSmtp(t.services, smtp.port);
    }
  });

  it('is told apart from one that is not there', async () => {
    await useSmtp(t.services, 1);
    await expect(sendNow(t.services, hello)).rejects.toMatchObject({
      code: 'upstream_failed',
      message: 'The mail server could not be reached.',
    });
    await useSmtp(t.services, smtp.port, { smtp_host: '' });
    await expect(sendNow(t.services, hello)).rejects.toMatchObject({ code: 'mail_not_configured' });
    await useSmtp(t.services, smtp.port);
  });
});

it.each([
  ['127.0.0.2', 25, /not public/],
  ['169.254.169.254', 587, /not public/],
  ['[::ffff:127.0.0.1]', 465, /not public/],
  ['localhost', 25, /not public/],
  ['mail.example.com', 6379, /port 6379/],
])('a server at a forbidden address is not connected to: %s:%i', async (smtp_host, port, message) => {
  const guarded = createOutbound([]);
  try {
    await useSmtp(t.services, port, { smtp_host });
    await expect(sendNow({ ...t.services, outbound: guarded }, hello)).rejects.toMatchObject({
      code: 'upstream_failed',
      message: expect.stringMatching(message),
    });
  } finally {
    await guarded.close();
    await useSmtp(t.services, smtp.port);
  }
});

describe('a server that hangs', () => {
  const raw = Buffer.from('Subject: Hang\r\n\r\nHang.\r\n');
  const server = (port: number) => ({
    host: '127.0.0.1',
    port,
    tls: false,
    login: undefined,
    from: { name: 'Estate', address: 'estate@estate.example' },
  });
  const delivery = { from: 'estate@estate.example', to: 'ada@estate.example', raw };

  it('before it greets is given up, and the mail is tried again later', async () => {
    const silent = net.createServer(() => undefined).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const failure = await deliver(t.services.outbound, server(port), delivery, {
      connect: 200,
      silence: 10_000,
    }).catch((error) => error);
    expect(failure).toMatchObject({ kind: 'temporary' });
    const stop = new AbortController();
    const waiting = deliver(t.services.outbound, server(port), { ...delivery, signal: stop.signal });
    stop.abort(new Error('the process ends'));
    await expect(waiting).rejects.toThrow('the process ends');
    silent.close();
  });

  it('after the whole mail was given leaves it in doubt', async () => {
    const release = Promise.withResolvers<undefined>();
    smtp.behaviour.data = () => release.promise;
    let ended = 0;
    const beforeEnd = async () => {
      ended += 1;
    };
    const failure = await deliver(
      t.services.outbound,
      server(smtp.port),
      { ...delivery, beforeEnd },
      { connect: 5_000, silence: 300 },
    ).catch((error) => error);
    expect([failure.kind, ended]).toEqual(['unconfirmed', 1]);
    release.resolve(undefined);
  });

  it('has not got the whole mail when the last step before its end fails', async () => {
    const broken = new Error('the lease was lost');
    const beforeEnd = () => Promise.reject(broken);
    await expect(deliver(t.services.outbound, server(smtp.port), { ...delivery, beforeEnd })).rejects.toBe(
      broken,
    );
    await deliver(t.services.outbound, server(smtp.port), delivery);
    expect(smtp.mails).toHaveLength(1);
  });
});

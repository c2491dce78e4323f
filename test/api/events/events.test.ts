// @redis
import http from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { streamLimits } from '../../../api/kernel/events/stream.limits.ts';
import { command } from '../../../domain/kernel/command.ts';
import type { EventDraft } from '../../../domain/kernel/events/row-changes.ts';
import { mayBeSilent } from '../../support/database.ts';
import { expectProblem, openApp, pluck } from '../../support/harness.ts';

const sockets = new Set<Socket>();

const { t, db, admin, viewer } = await openApp(['viewer', 'admin']);
t.app.server.on('connection', (socket: Socket) => {
  sockets.add(socket);
  socket.on('close', () => sockets.delete(socket));
});
await t.app.listen({ port: 0, host: '127.0.0.1' });
const port = (t.app.server.address() as AddressInfo).port;

const card = '00000000-0000-7000-8000-00000000000a';
const draft = (more: Partial<EventDraft> = {}): EventDraft => ({
  event_type: 'card.updated',
  card_id: card,
  card_type: 'Application',
  data: { id: card, type: 'Application', name: 'A', changes: { name: { old: 'A', new: 'B' } } },
  ...more,
});
const emit = async (...drafts: EventDraft[]) => {
  const ctx = await t.ctx();
  await command(ctx, async (work) => {
    for (const event of drafts) work.emit(event);
  });
  return ctx.position!;
};

interface Frame {
  id?: string;
  event?: string;
  // biome-ignore lint/suspicious/noExplicitAny: frames of many kinds
  data?: any;
}

/** Reads a stream until `count` frames (besides comments) came, or it ends. */
function follow(path: string, headers: Record<string, string>, { paused = false } = {}) {
  const frames: Frame[] = [];
  let wake: () => void = () => {};
  let ended = false;
  let status = 0;
  let answered: (response: http.IncomingMessage) => void;
  const opened = new Promise<http.IncomingMessage>((resolve) => (answered = resolve));
  const request = http.get({ port, host: '127.0.0.1', path, headers, agent: false }, (response) => {
    status = response.statusCode!;
    let text = '';
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => {
      text += chunk;
      const parts = text.split('\n\n');
      text = parts.pop()!;
      for (const part of parts) {
        const lines = part.split('\n').filter((line) => !line.startsWith(':') && !line.startsWith('retry'));
        if (lines.length === 0) continue;
        const get = (name: string) =>
          lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
        const data = get('data');
        frames.push({
          id: get('id'),
          event: get('event'),
          data: data === undefined ? undefined : JSON.parse(data),
        });
      }
      wake();
    });
    response.on('close', () => {
      ended = true;
      wake();
    });
    if (paused) response.pause();
    answered(response);
  });
  request.on('error', () => {
    ended = true;
    wake();
  });
  const until = async (done: () => boolean) => {
    while (!done() && !ended) await new Promise<void>((resolve) => (wake = resolve));
  };
  return {
    frames,
    status: () => status,
    opened,
    resume: () => void opened.then((response) => response.resume()),
    until: (count: number) => until(() => frames.length >= count),
    ended: () => until(() => false),
    close: () => request.destroy(),
  };
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe('changes', () => {
  it('walks the feed in order, tells the newest position, and refuses what it cannot serve', async () => {
    const now = await viewer.get('/api/v1/changes?after=now');
    const start = now.body.next;
    expect(now.body.items).toEqual([]);
    for (let n = 0; n < 5; n += 1) await emit(draft());
    const first = await viewer.get(`/api/v1/changes?after=${start}&limit=2`);
    expect([first.body.items.length, first.body.has_more]).toEqual([2, true]);
    const rest = await viewer.get(`/api/v1/changes?after=${first.body.next}`);
    expect([rest.body.items.length, rest.body.has_more]).toEqual([3, false]);
    const none = await viewer.get(`/api/v1/changes?after=${rest.body.next}&type=Provider`);
    expect(none.body).toEqual({ items: [], next: rest.body.next, has_more: false });
    await expectProblem(viewer.get('/api/v1/changes?after=abc'), 422);
    expect((await viewer.get('/api/v1/changes?after=999999999999')).body.errors[0].code).toBe(
      'position_unknown',
    );
    await expectProblem(viewer.get('/api/v1/changes?limit=10001'), 422);
    await db('settings').insert({ key: 'events.purged_through', value: '2' });
    const gone = await viewer.get('/api/v1/changes?after=1');
    expect([gone.status, gone.body.code, gone.body.oldest]).toEqual([410, 'position_expired', '2']);
    await db('settings').where({ key: 'events.purged_through' }).delete();
  });

  it('sends long pages in chunks, cut at every number of events', async () => {
    const start = await viewer.position();
    const name = 'ä'.repeat(20_000);
    await emit(...Array.from({ length: 9 }, () => draft({ data: { id: card, name, changes: {} } })));
    const whole = await viewer.get(`/api/v1/changes?after=${start}`);
    expect([whole.body.items.length, whole.body.has_more]).toEqual([9, false]);
    expect(whole.headers['content-length']).toBe(String(Buffer.byteLength(whole.text)));
    for (let limit = 1; limit <= 9; limit += 1) {
      const { body } = await viewer.get(`/api/v1/changes?after=${start}&limit=${limit}`);
      expect(body.items).toEqual(whole.body.items.slice(0, limit));
      expect([body.next, body.has_more]).toEqual([body.items.at(-1).position, limit < 9]);
    }
    const { etag } = whole.headers;
    const again = await viewer.get(`/api/v1/changes?after=${start}`, { 'if-none-match': String(etag) });
    expect(again.status).toBe(304);
  });

  it('never skips an event whose transaction commits late, and waits for none', async () => {
    const start = await viewer.position();
    // a transaction that has written and stays open meanwhile
    const slow = await db.transaction();
    await mayBeSilent(slow);
    await slow('settings').insert({ key: 'slow', value: '1' });
    const seen: string[] = [];
    let after = start;
    const poll = async () => {
      const page = await viewer.get(`/api/v1/changes?after=${after}`);
      seen.push(...pluck(page.body.items, 'position'));
      after = page.body.next;
    };
    let writing = true;
    const poller = (async () => {
      while (writing) await poll();
    })();
    await Promise.all(
      Array.from({ length: 8 }, async (_, writer) => {
        for (let n = 0; n < 20; n += 1)
          await emit(draft({ data: { id: card, type: 'Application', name: `${writer}/${n}`, changes: {} } }));
      }),
    );
    writing = false;
    await poller;
    await slow.rollback();
    await poll();
    expect(new Set(seen).size).toBe(160);
    expect(seen).toHaveLength(160);
    expect(seen).toEqual(seen.toSorted((a, b) => Number(a) - Number(b)));
  });

  it('cuts costs for those who may not see them, and hides the audit log', async () => {
    const [viewer, member] = await t.clients('viewer', 'member');
    const start = await viewer.position();
    await emit(
      draft({
        cost_keys: ['attributes.costTotalAnnual'],
        data: {
          id: card,
          changes: { 'attributes.costTotalAnnual': { old: 1, new: 777 }, name: { old: 'A', new: 'B' } },
        },
      }),
      { event_type: 'auth.logout', data: {} },
    );
    const cut = await viewer.get(`/api/v1/changes?after=${start}`);
    expect(cut.body.items).toHaveLength(1);
    expect(cut.text).not.toMatch(/"new": ?777/);
    expect(cut.body.items[0].data.changes.name.new).toBe('B');
    expect((await member.get(`/api/v1/changes?after=${start}`)).text).toMatch(/"new": ?777/);
  });
});

it('the audit list is for those who may read it, filtered and paged', async () => {
  await emit({ event_type: 'auth.logout', data: {} });
  const list = await admin.get('/api/v1/events?event_type=auth.logout&page_size=1');
  expect([list.status, list.body.items.length]).toEqual([200, 1]);
  await expectProblem((await t.as('member')).get('/api/v1/events'), 403, 'admin.events');
  for (const path of ['events', 'changes'])
    await expectProblem(
      admin.get(`/api/v1/${path}?event_type=card.created,card.create`),
      422,
      'validation_failed',
      'event_type unknown_option',
    );
});

describe('stream', () => {
  it('resumes after the last id with nothing lost or repeated, while writers go on', async () => {
    const { token } = await t.as('viewer');
    const first = follow('/api/v1/events/stream', bearer(token));
    await first.until(1);
    const begin = first.frames[0]!.id!;
    const writer = (async () => {
      for (let n = 0; n < 120; n += 1) await emit(draft());
    })();
    await first.until(20);
    const ids = first.frames.slice(1, 16).map((frame) => frame.id!);
    first.close();
    const second = follow('/api/v1/events/stream', { ...bearer(token), 'last-event-id': ids.at(-1)! });
    await second.until(40);
    ids.push(...second.frames.slice(1, 31).map((frame) => frame.id!));
    second.close();
    await writer;
    const third = follow('/api/v1/events/stream', { ...bearer(token), 'last-event-id': ids.at(-1)! });
    await third.until(1 + 120 - ids.length);
    ids.push(...third.frames.slice(1).map((frame) => frame.id!));
    third.close();
    const stored = await db('events')
      .where('position', '>', Number(begin))
      .where({ scope: 'inventory' })
      .orderBy('position')
      .pluck('position');
    expect(ids).toEqual(stored.map(String));
  });

  it('shows only what was asked for and may be seen, costs cut', async () => {
    const { token } = await t.as('viewer');
    const stream = follow('/api/v1/events/stream?events=card&types=Application', bearer(token));
    await stream.until(1);
    await emit(
      draft({ card_type: 'Provider' }),
      { ...draft(), event_type: 'relation.created', relation_id: card },
      { event_type: 'auth.logout', data: {} },
      draft({ cost_keys: ['attributes.x'], data: { changes: { 'attributes.x': { old: null, new: 4242 } } } }),
    );
    await stream.until(2);
    stream.close();
    expect(stream.frames[1]!.event).toBe('card.updated');
    expect(stream.frames[1]!.data.data).toEqual({ changes: {} });
  });

  it('keeps back what its reader lacks the permission for', async () => {
    await db('roles').insert({
      key: 'reader',
      label: 'Reader',
      permissions: JSON.stringify({ 'inventory.view': true }),
    });
    const kinds = ['comment.created', 'document.added', 'file.uploaded', 'stakeholder.added', 'card.updated'];
    for (const [role, shown] of [
      ['reader', ['card.updated']],
      ['viewer', kinds],
    ] as const) {
      const { token } = await t.as(role);
      const stream = follow('/api/v1/events/stream', bearer(token));
      await stream.until(1);
      await emit(...kinds.map((event_type) => ({ ...draft(), event_type: event_type as 'card.updated' })));
      await stream.until(1 + shown.length);
      stream.close();
      expect(stream.frames.slice(1).map(({ event }) => event)).toEqual(shown);
    }
  });

  it('tells the owner of a job, and nobody else, how it gets on', async () => {
    const owner = await t.as('viewer');
    const other = await t.as('viewer', 'other');
    const mine = follow('/api/v1/events/stream?events=job', bearer(owner.token));
    const theirs = follow('/api/v1/events/stream?events=job,card', bearer(other.token));
    await Promise.all([mine.until(1), theirs.until(1)]);
    const [job] = await db('jobs')
      .insert({ kind: 'export', queue: 'bulk', owner_id: owner.userId, status: 'running', progress: 0.5 })
      .returning('id');
    await db.raw(`select pg_notify('estate_job_state', ?)`, [job.id]);
    await mine.until(2);
    expect(mine.frames[1]).toMatchObject({ event: 'job.updated', data: { job_id: job.id, progress: 0.5 } });
    expect(mine.frames[1]!.id).toBeUndefined();
    await emit(draft());
    await theirs.until(2);
    expect(theirs.frames[1]!.event).toBe('card.updated');
    mine.close();
    theirs.close();
    await db('jobs').delete();
  });

  it('tells of runs of a synchronisation to whoever may see it, whoever has started them', async () => {
    const admin = follow('/api/v1/events/stream?events=job', bearer((await t.as('admin')).token));
    const viewer = follow('/api/v1/events/stream?events=job,card', bearer((await t.as('viewer')).token));
    await Promise.all([admin.until(1), viewer.until(1)]);
    const run = { queue: 'bulk', status: 'running', progress: 0.4, message: '1000 rows applied' };
    const jobs = await db('jobs')
      .insert(['export', 'itsm_run'].map((kind) => ({ ...run, kind })))
      .returning('id');
    for (const { id } of jobs) await db.raw(`select pg_notify('estate_job_state', ?)`, [id]);
    await admin.until(2);
    const { progress, message } = run;
    expect(admin.frames.slice(1)).toMatchObject([
      { event: 'job.updated', data: { job_id: jobs[1].id, kind: 'itsm_run', progress, message } },
    ]);
    await emit(draft());
    await viewer.until(2);
    expect(viewer.frames[1]!.event).toBe('card.updated');
    admin.close();
    viewer.close();
    await db('jobs').delete();
  });

  it('opens by a ticket once', async () => {
    const made = await viewer.post('/api/v1/events/ticket');
    expect([made.status, made.body.expires_in]).toEqual([201, 30]);
    const stream = follow(`/api/v1/events/stream?ticket=${made.body.ticket}`, {});
    await stream.until(1);
    expect([stream.status(), stream.frames]).toMatchObject([200, [{ event: 'stream.ready' }]]);
    stream.close();
    const again = follow(`/api/v1/events/stream?ticket=${made.body.ticket}`, {});
    await again.ended();
    expect(again.status()).toBe(401);
  });

  it('ends when the token expires, and when it is revoked', async () => {
    const user = await t.as('viewer', 'leaver');
    const jti = '00000000-0000-4000-8000-0000000000ff';
    // counted in whole seconds: of a single one there may be no more than a moment left
    const short = await t.app.jwt.sign({ sub: user.userId, role: 'viewer', tv: 1, jti }, {
      expiresIn: 2,
    } as never);
    const expiring = follow('/api/v1/events/stream', bearer(short));
    await expiring.ended();
    expect(expiring.frames[0]!.event).toBe('stream.ready');
    const revoked = follow('/api/v1/events/stream', bearer(user.token));
    await revoked.until(1);
    const open = follow('/api/v1/events/stream', bearer((await t.as('viewer')).token));
    await open.until(1);
    await user.post('/api/v1/auth/logout');
    await revoked.ended();
    await emit(draft());
    await open.until(2);
    expect(open.frames).toHaveLength(2);
    open.close();
  });

  it('ends with the personal token or the impersonation that it was opened with', async () => {
    const made = (await admin.post('/api/v1/tokens', { name: 'Stream' })).body;
    const byToken = follow('/api/v1/events/stream', bearer(made.token));
    const ticket = (await t.anonymous.post('/api/v1/events/ticket', undefined, bearer(made.token))).body
      .ticket;
    const byTicket = follow(`/api/v1/events/stream?ticket=${ticket}`, {});
    const other = (await admin.post('/api/v1/auth/impersonate', { role: 'viewer' })).body.access_token;
    const asViewer = follow('/api/v1/events/stream', bearer(other));
    await Promise.all([byToken, byTicket, asViewer].map((stream) => stream.until(1)));
    await emit(draft({ cost_keys: ['name'] }));
    await Promise.all([byToken, byTicket, asViewer].map((stream) => stream.until(2)));
    expect(byToken.frames[1]!.data.data.changes).toHaveProperty('name');
    expect(asViewer.frames[1]!.data.data.changes, 'costs').not.toHaveProperty('name');
    await admin.delete(`/api/v1/tokens/${made.id}`);
    await Promise.all([byToken.ended(), byTicket.ended()]);
    await t.anonymous.post('/api/v1/auth/stop-impersonating', undefined, bearer(other));
    await asViewer.ended();
  });

  it('refuses a position that is no longer kept, and callers without the right', async () => {
    await db('settings').insert({ key: 'events.purged_through', value: '5' });
    await expectProblem(viewer.get('/api/v1/events/stream', { 'last-event-id': '3' }), 410);
    await db('settings').where({ key: 'events.purged_through' }).delete();
  });

  it('replays what a client has missed that did not read for a while, without harm to the others', async () => {
    const { token } = await t.as('viewer');
    const good = follow('/api/v1/events/stream', bearer(token));
    await good.until(1);
    const slow = follow('/api/v1/events/stream', bearer(token), { paused: true });
    await slow.opened;
    const big = 'x'.repeat(200_000);
    const positions: number[] = [];
    // the kernel's buffers take some megabytes before anything is kept here
    for (let sent = 1; sent <= 100; sent += 1) {
      positions.push(await emit(draft({ data: { big } })));
      await good.until(1 + sent);
    }
    expect(good.frames).toHaveLength(101);
    good.close();
    expect(unsent()).toBeLessThan(streamLimits.unsentBytes + 2 * big.length);
    slow.resume();
    await slow.until(101);
    slow.close();
    expect(slow.frames.slice(1).map((frame) => frame.id)).toEqual(positions.map(String));
  });
});

/** Bytes that the service keeps for clients which have not taken them. */
const unsent = () => [...sockets].reduce((sum, socket) => sum + socket.writableLength, 0);

import { expectProblem, ok, openApp, pluck, type TestClient } from '../../support/harness.ts';

const url = '/api/v1/mutation-batches';
const missing = '00000000-0000-4000-8000-000000000000';

const { db, sql, admin, member } = await openApp(['admin', 'member']);

const open = async (client: TestClient, body: Record<string, unknown> = {}) =>
  (await client.create(`${url}?row_count=3`, { tool_name: 'Test', ...body })) as {
    id: string;
    confirm_token: string | null;
  };
const joining = (id: string) => ({ 'x-mutation-batch': id, 'x-request-origin': 'mcp' });
const card = (name: string) => ({ type: 'Application', name });

describe('an open batch', () => {
  it('takes the writes that name it, until it is closed with a summary', async () => {
    const { id } = await open(member);
    for (const name of ['Joined A', 'Joined B'])
      await member.create('/api/v1/cards', card(name), joining(id));
    const closed = await member.post(`${url}/${id}/commit`, { summary: { cards: 2 } });
    expect(closed.body).toMatchObject({ id, tool_name: 'Test', row_count: 3, summary: { cards: 2 } });
    expect(closed.body.committed_at).not.toBeNull();
    const events = await admin.get(`${url}/${id}/events`);
    expect(events.body.batch.id).toBe(id);
    expect(pluck(events.body.items, 'event_type')).toEqual(['card.created', 'card.created']);
    const audit = await admin.get('/api/v1/events?event_type=card.created&page_size=1');
    expect(audit.body.items[0].origin).toBe('mcp');
    const told = await admin.get('/api/v1/events?event_type=mutation_batch.opened,mutation_batch.committed');
    expect(told.body.items.map(({ data }: { data: { id: string } }) => data.id)).toEqual([id, id]);

    await expectProblem(member.post('/api/v1/cards', card('Late'), joining(id)), 409, 'wrong_state');
    await expectProblem(member.post(`${url}/${id}/commit`, {}), 409);
  });

  it('is joined and closed by the one who opened it alone', async () => {
    const { id } = await open(member);
    await expectProblem(admin.post('/api/v1/cards', card('Foreign'), joining(id)), 404);
    await expectProblem(member.post('/api/v1/cards', card('Nowhere'), joining(missing)), 404);
    await expectProblem(admin.post(`${url}/${id}/commit`, {}), 404);
  });

  it('refuses broken headers and bodies', async () => {
    const headers: Record<string, string>[] = [
      { 'x-mutation-batch': 'nonsense' },
      { 'x-request-origin': 'mars' },
    ];
    for (const given of headers)
      await expectProblem(member.post('/api/v1/cards', card('Broken'), given), 422);
    for (const body of [{}, { tool_name: '' }, { tool_name: 'x'.repeat(101) }, { tool_name: 'x', more: 1 }])
      await expectProblem(member.post(url, body), 422);
    await expectProblem(admin.get(`${url}/nonsense`), 422);
  });

  it('is part of the request that an Idempotency-Key names', async () => {
    const key = { 'idempotency-key': 'one-key-several-batches' };
    const tried = { ...joining((await open(member, { dry_run: true })).id), ...key };
    const first = await member.create('/api/v1/cards', card('Keyed'), tried);
    expect((await member.create('/api/v1/cards', card('Keyed'), tried)).id).toBe(first.id);
    for (const headers of [key, { ...joining((await open(member)).id), ...key }]) {
      const again = member.post('/api/v1/cards', card('Keyed'), headers);
      await expectProblem(again, 409, 'idempotency_key_reused');
    }
  });

  it('only tries what joins it when it was opened so, and needs its token', async () => {
    const { id, confirm_token } = await open(member, { dry_run: true });
    const tried = await member.create('/api/v1/cards', card('Tried'), joining(id));
    await expectProblem(member.get(`/api/v1/cards/${tried.id}`), 404);
    for (const [body, code] of [
      [{}, 'required'],
      [{ confirm_token: 'wrong' }, 'wrong_token'],
    ])
      expect((await member.post(`${url}/${id}/commit`, body)).body.errors[0].code).toBe(code);
    await sql.run`
      update mutation_batches set confirm_token_expires_at = now() - interval '1 second' where id = ${id}`;
    const expired = await member.post(`${url}/${id}/commit`, { confirm_token });
    expect(expired.body.errors[0].code).toBe('expired_token');
    const second = await open(member, { dry_run: true });
    const closed = await ok(
      member.post(`${url}/${second.id}/commit`, { confirm_token: second.confirm_token }),
    );
    expect(closed.confirm_token).toBeNull();
  });

  it('answers for tried accounts and roles as for other objects', async () => {
    const tried = joining((await open(admin, { dry_run: true })).id);
    const label = { key: 'tried_role', label: 'Tried', permissions: {} };
    expect(await admin.create('/api/v1/roles', label, tried)).toMatchObject({ key: label.key });
    await expectProblem(admin.get(`/api/v1/roles/${label.key}`), 404);
    expect((await ok(admin.patch('/api/v1/roles/member', { label: 'Tried' }, tried))).label).toBe('Tried');
    expect((await ok(admin.get('/api/v1/roles/member'))).label).not.toBe('Tried');
    const person = { email: 'tried@example.com', display_name: 'Tried', role: 'member', send_email: false };
    for (const [path, body] of [
      ['/api/v1/users', person],
      ['/api/v1/service-accounts', { display_name: 'Tried', role: 'viewer' }],
    ] as const) {
      const made = await admin.create(path, body, tried);
      expect(made).toMatchObject({ display_name: 'Tried', role: body.role });
      await expectProblem(admin.get(`/api/v1/users/${made.id}`), 404);
    }
  });

  it('is refused by name where the operation only starts a job', async () => {
    for (const dry_run of [false, true]) {
      const headers = joining((await open(admin, { dry_run })).id);
      for (const path of ['/imports', '/exports', '/eol/refresh', '/ai-analysis/vendors/analyse']) {
        const refused = await admin.post(`/api/v1${path}`, {}, headers);
        expect([refused.status, refused.body.errors], path).toEqual([
          422,
          [
            expect.objectContaining({
              field: 'X-Mutation-Batch',
              code: 'not_offered',
              message: 'cannot be sent here: what the operation starts is not part of the batch',
            }),
          ],
        ]);
      }
    }
    expect((await db.raw('select 1 from jobs')).rows).toEqual([]);
  });
});

it('the list holds also the batches of single writes, by their operation', async () => {
  await member.post('/api/v1/cards', card('Single'));
  const answer = await admin.get(
    `${url}?tool_name=${encodeURIComponent('POST /api/v1/cards')}&actor_user_id=${member.userId}&origin=api`,
  );
  expect(answer.body.total).toBe(1);
  expect(answer.body.items[0]).toMatchObject({ actor_display_name: 'member', rolled_back_by: null });
  await ok(admin.get(`${url}/${answer.body.items[0].id}`));
  expect((await admin.get(`${url}?since=2999-01-01T00:00:00Z`)).body.total).toBe(0);
  const { id } = await open(member);
  const inState = async (state: string) =>
    pluck((await ok(admin.get(`${url}?state=${state}&page_size=200`))).items, 'id');
  expect(await inState('open')).toContain(id);
  await ok(member.post(`${url}/${id}/commit`, {}));
  expect(await inState('closed')).toContain(id);
  await ok(admin.post(`${url}/${id}/rollback`, { dry_run: false }));
  expect(await inState('rolled_back')).toEqual([id]);
  expect(await inState('closed')).not.toContain(id);
  await expectProblem(member.get(url), 403);
});

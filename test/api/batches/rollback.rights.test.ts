import { randomUUID } from 'node:crypto';
import { expectProblem, ok, openApp, type TestClient } from '../../support/harness.ts';

const url = '/api/v1/mutation-batches';

const { t, db, admin, viewer } = await openApp(['admin', 'viewer']);

/** Somebody with a role of his own that holds these permissions. */
const holding = async (...keys: string[]) => t.holding(...keys);

/** A closed batch of what `act` writes as the client. @returns its id. */
async function batchOf(client: TestClient, act: (headers: Record<string, string>) => Promise<unknown>) {
  const { body } = await client.post(url, { tool_name: 'Test' });
  await act({ 'x-mutation-batch': body.id });
  await ok(client.post(`${url}/${body.id}/commit`, {}));
  return body.id as string;
}

const person = () => ({
  email: `${randomUUID()}@example.com`,
  display_name: 'New',
  role: 'viewer',
  password: `Aa1!${randomUUID()}`,
});
const roleKey = (): string => `r${randomUUID().slice(0, 8)}`;

const card = async (values: Record<string, unknown> = {}): Promise<string> =>
  (await admin.post('/api/v1/cards', { type: 'Application', name: randomUUID(), ...values })).body.id;

/** Expects both the dry run and the rollback to be refused for want of the permission. */
async function expectRefused(client: TestClient, batch: string, permission: string): Promise<void> {
  for (const dry_run of [true, false])
    await expectProblem(client.post(`${url}/${batch}/rollback`, { dry_run }), 403, permission);
}

async function expectDone(client: TestClient, batch: string): Promise<void> {
  for (const dry_run of [true, false]) await ok(client.post(`${url}/${batch}/rollback`, { dry_run }));
}

it('needs sight of the cards and relations that a portal would show again', async () => {
  const slug = roleKey();
  const portal = { name: 'Ours', slug, card_type: 'Application', is_published: true };
  const { id } = (await admin.post('/api/v1/web-portals', portal)).body;
  const batch = await batchOf(admin, (h) => admin.delete(`/api/v1/web-portals/${id}`, undefined, h));
  await expectRefused(await holding('admin.rollback', 'web_portals.manage'), batch, 'inventory.view');
  const blind = await holding('admin.rollback', 'web_portals.manage', 'inventory.view');
  await expectRefused(blind, batch, 'relations.view');
  await expectProblem(t.anonymous.get(`/api/v1/web-portals/public/${slug}`), 404);
  const sees = ['inventory.view', 'relations.view'];
  await expectDone(await holding('admin.rollback', 'web_portals.manage', ...sees), batch);
  await ok(t.anonymous.get(`/api/v1/web-portals/public/${slug}`));
});

it('needs sight of the costs that a stakeholder role would show after a merge again', async () => {
  const [survivor, merged] = [await card({ attributes: { costTotalAnnual: 4711 } }), await card()];
  const role = { user_id: (await holding('inventory.view')).userId, role: 'responsible' };
  await admin.post(`/api/v1/cards/${merged}/stakeholders`, role);
  const request = { survivor_id: survivor, merged_ids: [merged] };
  const { merge_id } = (await admin.post('/api/v1/cards/merge', request)).body;
  const batch = await batchOf(admin, (h) => admin.post(`/api/v1/card-merges/${merge_id}/undo`, {}, h));
  const rights = [
    'inventory.view',
    'inventory.create',
    'inventory.edit',
    'inventory.archive',
    'inventory.delete',
  ];
  await expectRefused(await holding('admin.rollback', ...rights), batch, 'costs.view');
  await expectDone(await holding('admin.rollback', 'costs.view', ...rights), batch);
});

it('is not given by the right to read the audit log', async () => {
  const id = await card();
  const batch = await batchOf(admin, (h) => admin.patch(`/api/v1/cards/${id}`, { alias: 'New' }, h));
  const auditor = await holding('admin.events', 'inventory.edit');
  await ok(auditor.get(`${url}/${batch}/events`));
  await expectRefused(auditor, batch, 'admin.rollback');
  expect((await admin.get(`/api/v1/cards/${id}`)).body.alias).toBe('New');
});

describe('needs what the write needed', () => {
  type Write = (h: Record<string, string>) => Promise<unknown>;
  const kind = (what: string, permission: string, write: Write) => ({ what, permission, write });
  it.each([
    kind('a new card', 'inventory.create', (h) =>
      admin.post('/api/v1/cards', { type: 'Application', name: randomUUID() }, h),
    ),
    kind('an archived card', 'inventory.archive', async (h) =>
      admin.post(`/api/v1/cards/${await card()}/archive`, {}, h),
    ),
    kind('a deleted card', 'inventory.delete', async (h) => {
      const id = await card();
      await admin.post(`/api/v1/cards/${id}/archive`, {});
      await admin.delete(`/api/v1/cards/${id}`, {}, h);
    }),
    kind('a relation', 'relations.manage', async (h) => {
      const [source_id, target_id] = [await card(), await card({ type: 'ITComponent' })];
      await admin.post('/api/v1/relations', { type: 'relAppToITC', source_id, target_id }, h);
    }),
    kind('a comment of somebody else', 'comments.manage', async (h) =>
      admin.post(`/api/v1/cards/${await card()}/comments`, { content: 'Said' }, h),
    ),
    kind('a to-do of somebody else', 'admin.todos', async (h) =>
      admin.post(`/api/v1/cards/${await card()}/todos`, { description: 'Do it' }, h),
    ),
    kind('a principle', 'admin.metamodel', (h) =>
      admin.post('/api/v1/metamodel/principles', { title: 'P' }, h),
    ),
    kind('a risk', 'risks.manage', (h) => admin.post('/api/v1/risks', { title: 'R' }, h)),
    kind('a setting', 'admin.settings', (h) =>
      admin.patch('/api/v1/settings/app-title', { app_title: randomUUID() }, h),
    ),
  ])('$what', async ({ permission, write }) => {
    const batch = await batchOf(admin, write);
    await expectRefused(await holding('admin.rollback'), batch, permission);
    await expectDone(await holding('admin.rollback', 'costs.view', permission), batch);
  });

  it('a role on a card, with the costs that it shows', async () => {
    const id = await card();
    const other = await t.as('viewer');
    const batch = await batchOf(admin, (h) =>
      admin.post(`/api/v1/cards/${id}/stakeholders`, { user_id: other.userId, role: 'responsible' }, h),
    );
    await expectRefused(await holding('admin.rollback', 'costs.view'), batch, 'stakeholders.manage');
    await expectRefused(await holding('admin.rollback', 'stakeholders.manage'), batch, 'costs.view');
    await expectDone(await holding('admin.rollback', 'stakeholders.manage', 'costs.view'), batch);
  });

  it('costs, which those who do not see them would change', async () => {
    const id = await card({ attributes: { costTotalAnnual: 1 } });
    const batch = await batchOf(admin, (h) =>
      admin.patch(`/api/v1/cards/${id}`, { attributes: { costTotalAnnual: 2 } }, h),
    );
    await expectRefused(await holding('admin.rollback', 'inventory.edit'), batch, 'costs.view');
    await expectDone(await holding('admin.rollback', 'inventory.edit', 'costs.view'), batch);
  });
});

it('takes the right that a role on each of the cards gives', async () => {
  const [one, two] = [await card(), await card()];
  const batch = await batchOf(admin, async (h) => {
    await admin.patch(`/api/v1/cards/${one}`, { alias: 'New' }, h);
    await admin.patch(`/api/v1/cards/${two}`, { alias: 'New' }, h);
  });
  const owner = await holding('admin.rollback');
  const held = { user_id: owner.userId, role: 'responsible' };
  await admin.post(`/api/v1/cards/${one}/stakeholders`, held);
  await expectRefused(owner, batch, 'inventory.edit');
  await admin.post(`/api/v1/cards/${two}/stakeholders`, held);
  await expectDone(owner, batch);
});

it('leaves what belongs to one person to that person and to administrators', async () => {
  const batch = await batchOf(viewer, (h) =>
    viewer.post('/api/v1/bookmarks', { name: 'Mine', card_type: 'Application' }, h),
  );
  const other = await holding('admin.rollback', 'bookmarks.manage', 'bookmarks.share', 'bookmarks.odata');
  await expectRefused(other, batch, 'inventory.view');
  await expectDone(admin, batch);
});

it('needs the rights that an undone setting leads to', async () => {
  await admin.patch('/api/v1/settings/email', { smtp_host: 'old.estate.example' });
  const batch = await batchOf(admin, (h) =>
    admin.patch('/api/v1/settings/email', { smtp_host: 'new.estate.example' }, h),
  );
  await expectRefused(await holding('admin.rollback', 'admin.settings'), batch, 'inventory.view');
  expect((await admin.get('/api/v1/settings/email')).body.smtp_host).toBe('new.estate.example');
  await expectDone(admin, batch);
});

describe('without the right to read batches', () => {
  it.each<[string, (h: Record<string, string>) => Promise<unknown>]>([
    ['an account', (h) => admin.post('/api/v1/users', person(), h)],
    ['a role', (h) => admin.post('/api/v1/roles', { key: roleKey(), label: 'R', permissions: {} }, h)],
    ['a token', (h) => admin.post('/api/v1/tokens', { name: 'Test' }, h)],
  ])('what cannot be undone is not shown: %s', async (_what, act) => {
    const batch = await batchOf(admin, async (h) =>
      expect(await act(h)).toMatchObject({ status: expect.toSatisfy((status) => status < 300) }),
    );
    await expectRefused(await holding('admin.rollback'), batch, 'admin.events');
    const reader = await holding('admin.rollback', 'admin.events');
    const tried = await reader.post(`${url}/${batch}/rollback`, {});
    expect(tried.body.unsupported_events.length, tried.text).toBeGreaterThan(0);
    await expectProblem(
      reader.post(`${url}/${batch}/rollback`, { dry_run: false }),
      409,
      'rollback_unsupported',
    );
  });

  it('nobody else is named who wrote a batch', async () => {
    const { body: opened } = await admin.post(url, { tool_name: 'Test' });
    const job = { format: 'csv', kind: 'cards', types: ['Application'] };
    await expectProblem(admin.post('/api/v1/exports', job, { 'x-mutation-batch': opened.id }), 422);
    await admin.post(`${url}/${opened.id}/commit`, { summary: { for: 'Ann' } });
    const shown = async (client: TestClient, id = opened.id) => {
      const answer = await ok(client.post(`${url}/${id}/rollback`, {}));
      const { actor_user_id, actor_display_name, summary } = answer.batch;
      return { actor_user_id, actor_display_name, summary };
    };
    const nobody = { actor_user_id: null, actor_display_name: null, summary: null };
    const someone = { actor_user_id: expect.any(String), actor_display_name: expect.any(String) };
    expect(await shown(await holding('admin.rollback'))).toEqual(nobody);
    const reader = await holding('admin.rollback', 'admin.events');
    expect(await shown(reader)).toEqual({ ...someone, summary: { for: 'Ann' } });
    const writer = await holding('admin.rollback', 'inventory.create');
    const own = await batchOf(writer, (h) =>
      writer.post('/api/v1/cards', { type: 'Application', name: randomUUID() }, h),
    );
    expect(await shown(writer, own)).toMatchObject(someone);
  });

  it('conflicts are counted, but not named', async () => {
    const id = await card();
    const batch = await batchOf(admin, (h) => admin.patch(`/api/v1/cards/${id}`, { alias: 'New' }, h));
    await admin.patch(`/api/v1/cards/${id}`, { alias: 'Later' });
    const blind = await holding('admin.rollback', 'inventory.edit');
    const tried = await blind.post(`${url}/${batch}/rollback`, {});
    expect(tried.body, tried.text).toMatchObject({ conflicts: [], conflict_count: 1 });
    const refused = await blind.post(`${url}/${batch}/rollback`, { dry_run: false });
    expect(refused.body).toMatchObject({ code: 'rollback_conflicts', conflicts: [], conflict_count: 1 });
    const reader = await holding('admin.rollback', 'admin.events', 'inventory.edit');
    const shown = await reader.post(`${url}/${batch}/rollback`, {});
    expect(shown.body).toMatchObject({ conflicts: [{ id }], conflict_count: 1 });
  });
});

describe('a change of what is shared for editing', () => {
  const editor = async (): Promise<TestClient> => await holding('inventory.view', 'bookmarks.manage');
  const report = { name: 'Shared', report_type: 'portfolio', config: {} };
  const objects = { 'saved-reports': report, bookmarks: { name: 'Shared' } };

  it.each(Object.entries(objects))(
    'in %s is rolled back by its editor while it is shared',
    async (path, body) => {
      const client = await editor();
      const shares = (can_edit: boolean) => ({ shared_with: [{ user_id: client.userId, can_edit }] });
      const { id } = await admin.create(`/api/v1/${path}`, {
        ...body,
        visibility: 'shared',
        ...shares(true),
      });
      const one = `/api/v1/${path}/${id}`;
      const name = async () =>
        (await admin.get(`/api/v1/${path}?page_size=200`)).body.items.find(
          (item: { id: string }) => item.id === id,
        ).name;
      const rename = () => batchOf(client, (h) => ok(client.patch(one, { name: 'Edited' }, h)));
      await expectDone(client, await rename());
      expect(await name()).toBe('Shared');

      const batch = await rename();
      await ok(admin.patch(one, shares(false)));
      await expectProblem(
        client.post(`${url}/${batch}/rollback`, { dry_run: false }),
        409,
        'rollback_conflicts',
      );
      expect(await name()).toBe('Edited');
    },
  );

  it('needs the rights for the members that were written', async () => {
    const sharer = await holding('bookmarks.manage', 'bookmarks.share');
    const { id } = await sharer.create('/api/v1/bookmarks', { name: 'Own' });
    const patch = (body: object) =>
      batchOf(sharer, (h) => ok(sharer.patch(`/api/v1/bookmarks/${id}`, body, h)));
    await expectDone(sharer, await patch({ visibility: 'public' }));
    const batch = await patch({ visibility: 'public' });
    await db.raw(
      `update roles set permissions = '{"bookmarks.manage": true}' where key = (select role from users where id = ?)`,
      [sharer.userId],
    );
    await db.raw("select raise_topics(array['roles'])");
    await expectRefused(sharer, batch, 'bookmarks.share');
  });
});

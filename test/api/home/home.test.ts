import { expectProblem, ok, openApp, pluck } from '../../support/harness.ts';

const { db, admin, member, viewer } = await openApp(['admin', 'member', 'viewer']);

const url = '/api/v1/home';
const card = async (name: string): Promise<string> =>
  (await member.create('/api/v1/cards', { type: 'Application', name })).id as string;

describe('the start page', () => {
  it('has what waits for the caller and what the caller works on', async () => {
    const [mine, other] = [await card('Mine'), await card('Other')];
    await admin.create(`/api/v1/cards/${mine}/stakeholders`, { user_id: member.userId, role: 'responsible' });
    await db('cards').whereIn('id', [mine, other]).update({ approval_status: 'BROKEN' });
    const todo = { description: 'Look at it', assigned_to: member.userId };
    await admin.create(`/api/v1/cards/${mine}/todos`, todo);
    await ok(member.post(`/api/v1/favorites/${other}`), 201);
    await ok(member.patch(`/api/v1/cards/${other}`, { alias: 'O' }));
    const home = (await member.get(url)).body;
    expect(Object.keys(home).sort()).toEqual([
      'approvals',
      'changes',
      'conflicts',
      'duplicates',
      'favorites',
      'recent',
      'surveys',
      'todos',
    ]);
    expect(home.todos).toMatchObject({ total: 1, items: [{ description: 'Look at it', card_name: 'Mine' }] });
    expect(home.approvals).toMatchObject({ total: 1, items: [{ id: mine }] });
    expect(home.favorites).toMatchObject({ total: 1, items: [{ card_name: 'Other' }] });
    expect(pluck(home.recent.items, 'name')).toEqual(['Other', 'Mine']);
    expect(pluck(home.changes.items, 'card_name')).toContain('Mine');
    expect((await admin.get(url)).body.approvals).toEqual({ total: 0, items: [] });
  });

  it('has the wanted parts only, and null for those that the caller may not see', async () => {
    const { body } = await viewer.get(`${url}?include=favorites&include=conflicts&page_size=1`);
    expect(body).toEqual({ favorites: expect.objectContaining({ items: [], total: 0 }), conflicts: null });
    await expectProblem(viewer.get(`${url}?include=nope`), 422);
  });
});

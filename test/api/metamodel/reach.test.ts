import { describe, expect, it } from 'vitest';
import { closeAfterAll, createTestApp } from '../../support/harness.ts';
import { withRole } from '../cards/write.fixture.ts';

const t = closeAfterAll(await createTestApp());
const admin = await t.as('admin');
/** May change the metamodel, and reads cards without their costs. */
const modeller = await withRole(t, 'modeller', ['admin.metamodel', 'inventory.view', 'relations.view']);

const types = '/api/v1/metamodel/types';
const schema = (type: string) => [
  { section: 'Money', fields: [{ key: 'price', label: 'Price', type, required: false, weight: 1 }] },
];

describe('a change of the metamodel', () => {
  it('gives a role rights on cards only by those who hold them on all cards', async () => {
    const role = `${types}/Application/stakeholder-roles/observer`;
    const permissions = { 'card.view': true, 'card.create_comments': true, 'card.edit': true };
    const refused = await modeller.patch(role, { permissions });
    expect([refused.status, refused.body.permission]).toEqual([403, 'inventory.edit']);
    const made = await modeller.post(`${types}/Application/stakeholder-roles`, {
      key: 'remover',
      label: 'Remover',
      permissions: { 'card.delete': true },
    });
    expect([made.status, made.body.permission]).toEqual([403, 'inventory.delete']);
    const shown = (await admin.get(role)).body.permissions;
    expect(shown['card.edit'] ?? false).toBe(false);
    const { status } = await modeller.patch(role, { permissions: { 'card.view': true } });
    expect(status).toBe(200);
    expect((await admin.patch(role, { permissions })).status).toBe(200);
  });

  it('shows what was a cost to everybody only by those who see costs', async () => {
    const type = { key: 'Priced', label: 'Priced', fields_schema: schema('cost') };
    expect((await admin.post(types, type)).status).toBe(201);
    const card = await admin.post('/api/v1/cards', {
      type: 'Priced',
      name: 'Priced',
      attributes: { price: 4711 },
    });
    expect(card.status).toBe(201);
    const refused = await modeller.patch(`${types}/Priced`, { fields_schema: schema('number') });
    expect([refused.status, refused.body.permission]).toEqual([403, 'costs.view']);
    const removed = await modeller.patch(`${types}/Priced?force=true`, { fields_schema: [] });
    expect([removed.status, removed.body.permission]).toEqual([403, 'costs.view']);
    expect((await modeller.get(`/api/v1/cards/${card.body.id}`)).text).not.toContain('4711');
    const allowed = await admin.patch(`${types}/Priced`, { fields_schema: schema('number') });
    expect(allowed.status).toBe(200);
  });
});

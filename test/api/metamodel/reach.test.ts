import { describe, expect, it } from 'vitest';
import { expectProblem, ok, openApp } from '../../support/harness.ts';

const { t, admin } = await openApp(['admin']);
/** May change the metamodel, and reads cards without their costs. */
const modeller = await t.holding('admin.metamodel', 'inventory.view', 'relations.view');

const types = '/api/v1/metamodel/types';
const schema = (type: string) => [
  { section: 'Money', fields: [{ key: 'price', label: 'Price', type, required: false, weight: 1 }] },
];

describe('a change of the metamodel', () => {
  it('gives a role rights on cards only by those who hold them on all cards', async () => {
    const role = `${types}/Application/stakeholder-roles/observer`;
    const permissions = { 'card.view': true, 'card.create_comments': true, 'card.edit': true };
    await expectProblem(modeller.patch(role, { permissions }), 403, 'inventory.edit');
    await expectProblem(
      modeller.post(`${types}/Application/stakeholder-roles`, {
        key: 'remover',
        label: 'Remover',
        permissions: { 'card.delete': true },
      }),
      403,
      'inventory.delete',
    );
    const shown = (await admin.get(role)).body.permissions;
    expect(shown['card.edit'] ?? false).toBe(false);
    await ok(modeller.patch(role, { permissions: { 'card.view': true } }));
    await ok(admin.patch(role, { permissions }));
  });

  it('shows what was a cost to everybody only by those who see costs', async () => {
    const type = { key: 'Priced', label: 'Priced', fields_schema: schema('cost') };
    await admin.create(types, type);
    const card = await admin.card({ type: 'Priced', name: 'Priced', attributes: { price: 4711 } });
    await expectProblem(
      modeller.patch(`${types}/Priced`, { fields_schema: schema('number') }),
      403,
      'costs.view',
    );
    await expectProblem(
      modeller.patch(`${types}/Priced?force=true`, { fields_schema: [] }),
      403,
      'costs.view',
    );
    expect((await modeller.get(`/api/v1/cards/${card.id}`)).text).not.toContain('4711');
    await ok(admin.patch(`${types}/Priced`, { fields_schema: schema('number') }));
  });
});

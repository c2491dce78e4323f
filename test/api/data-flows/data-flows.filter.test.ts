import { expectProblem, ok, openApp, pluck } from '../../support/harness.ts';

const { t, admin } = await openApp(['admin']);
const made = async (type: string, name: string): Promise<string> => (await admin.card({ type, name })).id;
const shop = await made('Application', 'Shop');
const ledger = await made('Application', 'Ledger');
const crm = await made('Application', 'CRM');
await made('Application', 'Alone');
const orders = await made('DataObject', 'Orders');
const queue = await made('Interface', 'Queue');
const flow = (source_id: string, target_id: string, more: object = {}) =>
  admin.create('/api/v1/data-flows', { source_id, target_id, ...more });
await flow(shop, ledger, { data_object_ids: [orders], interface_id: queue, frequency: 'daily' });
await flow(ledger, crm, { direction: 'bidirectional' });

const find = async (filter: string) => {
  const query = new URLSearchParams({ filter: `type = Application and (${filter})`, fields: 'name' });
  return pluck((await ok(admin.get(`/api/v1/cards?${query}`))).items, 'name').flat();
};

it.each([
  ['flow is not empty', ['CRM', 'Ledger', 'Shop']],
  ['flow is empty', ['Alone']],
  ['flow.outgoing exists', ['CRM', 'Ledger', 'Shop']],
  ['flow.incoming exists', ['CRM', 'Ledger']],
  ['flow.outgoing.card.name = "Ledger"', ['CRM', 'Shop']],
  ['flow.incoming.card.name = "Ledger"', ['CRM']],
  ['flow.card.name = "Ledger"', ['CRM', 'Shop']],
  ['not flow.outgoing.card.name = "Ledger"', ['Alone', 'Ledger']],
  ['flow.outgoing.data_object.name = "Orders"', ['Shop']],
  ['flow.incoming.data_object.name ~ "order"', ['Ledger']],
  ['flow.data_object is empty', ['Alone', 'CRM']],
  ['flow.interface.name = "Queue"', ['Ledger', 'Shop']],
  ['flow.outgoing.frequency = daily', ['Shop']],
  ['flow.outgoing.card.flow.outgoing.card.name = "CRM"', ['CRM', 'Shop']],
])('%s finds the cards with such flows', async (filter, names) => {
  expect(await find(filter)).toEqual(names);
});

it('needs relations.view, and considers only cards that the caller sees', async () => {
  const blind = await t.holding('inventory.view');
  const url = (filter: string) => `/api/v1/cards?${new URLSearchParams({ filter })}`;
  await expectProblem(blind.get(url('flow exists')), 403, 'relations.view');
  await ok(admin.patch('/api/v1/metamodel/types/Interface', { is_hidden: true }));
  expect(await find('flow.interface exists')).toEqual([]);
  await ok(admin.patch('/api/v1/metamodel/types/Interface', { is_hidden: false }));
  expect(await find('flow.interface exists')).toEqual(['Ledger', 'Shop']);
});

it.each([
  ['flow.sideways exists', 'filter_unknown_field'],
  ['flow.outgoing.card.nothing = 1', 'filter_unknown_field'],
  ['flow.frequency.more = daily', 'filter_unknown_field'],
  ['flow = 1', 'filter_operator'],
])('%s is refused', async (filter, code) => {
  const { body, status } = await admin.get(`/api/v1/cards?${new URLSearchParams({ filter })}`);
  expect([status, body.errors[0].code]).toEqual([422, code]);
});

import { type Acts, deletes, type Hand, patches } from './hand.ts';

const ids = async (hand: Hand, types: string, most: number) =>
  hand.some(await hand.rows('cards', `status = 'ACTIVE' and type in (${types})`), most).map(({ id }) => id!);

const values = async (hand: Hand) => ({
  direction: hand.one(['forward', 'bidirectional']),
  frequency: hand.one(['daily', 'realTime', null]),
  description: hand.name('Flow'),
  interface_id: (await ids(hand, `'Interface'`, 1))[0] ?? null,
  data_object_ids: await ids(hand, `'DataObject'`, 3),
});

/** Writes to data flows. */
export const dataFlowActs: Acts = [
  [
    async (hand) => {
      const [source_id, target_id] = await ids(hand, `'Application', 'ITComponent'`, 2);
      if (!source_id || !target_id) return;
      const external = hand.chance(0.3) ? { external_id: hand.name('Flow') } : {};
      await hand.send('POST', '/data-flows', { source_id, target_id, ...(await values(hand)), ...external });
    },
    5,
  ],
  [
    async (hand) => {
      const row = await hand.row('data_flows');
      if (row) await hand.send('PATCH', `/data-flows/${row.id}`, await values(hand));
    },
    3,
  ],
  [patches('data_flows', '/data-flows', (hand) => ({ description: hand.name() })), 1],
  [deletes('data_flows', '/data-flows'), 2],
];

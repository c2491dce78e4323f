import { type Act, type Acts, deletes, type Hand, onRow, patches } from './hand.ts';

const year = new Date().getUTCFullYear();
const values = (hand: Hand) => ({
  kind: hand.one(['licence', 'staff']),
  period_start: `${year - hand.below(2)}-${String(1 + hand.below(12)).padStart(2, '0')}-01`,
  period_end: `${year + hand.below(2)}-12-31`,
  amount: hand.below(10_000) / 100,
});
const spend =
  (table: 'cards' | 'relations', where: string): Act =>
  (hand) =>
    onRow(
      table,
      ({ id }) => [
        'POST',
        `/${table}/${id}/costs`,
        { ...values(hand), ...(hand.chance(0.3) ? { external_id: hand.name('Cost') } : {}) },
      ],
      where,
    )(hand);

/** Writes to costs of cards and relations. */
export const costActs: Acts = [
  [spend('cards', `type in ('Application', 'ITComponent')`), 5],
  [spend('relations', `type = 'relAppToITC'`), 3],
  [patches('costs', '/costs', (hand) => (hand.chance(0.5) ? values(hand) : { description: hand.name() })), 3],
  [deletes('costs', '/costs'), 2],
];

import { loadCards } from '../../../../domain/inventory/cards/cards.load.ts';
import { dataQuality, qualityFacts } from '../../../../domain/inventory/cards/rules/quality.ts';
import { command } from '../../../../domain/kernel/command.ts';
import { openApp } from '../../../support/harness.ts';
import type { Inventory, Values } from '../../../support/replay.ts';
import { applyEvent, cardFields, emptyInventory, flatten, relationFields } from '../../../support/replay.ts';
import { cardActs } from '../../app/batches/acts/cards.ts';
import { type Act, createHand, type Tally } from '../../app/batches/acts/hand.ts';

const ROUNDS = 12;
const WRITES = 50;

const { t, db, admin } = await openApp(['admin']);
await db('relation_types')
  .where({ key: 'relAppToBC' })
  .update({ source_mandatory: true, cardinality: '1:n' });
await db.raw(`select raise_topics(array['metamodel'])`);

const setLevel: Act = async (hand) => {
  const card = await hand.row('cards', "type = 'BusinessCapability'");
  const attributes = { capabilityLevel: hand.one(['Macro', null]) };
  if (card) await hand.send('PATCH', `/cards/${card.id}`, { attributes });
};
const acts = [...cardActs, [setLevel, 4] as const].flatMap(([act, often]) => Array<Act>(often).fill(act));

/** The content of the tables, built from the events alone. */
async function replayed(): Promise<Inventory> {
  const inventory = emptyInventory();
  for (const event of await db('events').orderBy('position')) {
    const { event_type, card_id, relation_id } = event;
    const [objects, id, identity] = relation_id
      ? [inventory.relations, relation_id, ['source_id', 'target_id', 'type']]
      : [inventory.cards, card_id, ['type']];
    const before = objects.get(id);
    applyEvent(inventory, event);
    // a deletion reports every value that there was
    if (/^(card|relation)\.deleted$/.test(event_type)) expect(Object.keys(before!).sort()).toEqual(identity);
  }
  return inventory;
}

/** The content of the tables in the same form. */
async function stored(): Promise<Inventory> {
  const inventoryOf = (rows: Values[], fields: readonly string[]) =>
    new Map(rows.map((row) => [String(row.id), flatten(row, fields)]));
  const cards = await db('cards').select('*', db.raw('utc(archived_at) as archived_at'));
  return {
    cards: inventoryOf(cards, [...cardFields, 'archived_at']),
    relations: inventoryOf(await db('relations'), relationFields),
  };
}

it('random writes of every kind are reported in full by their events, and leave data quality and hierarchy as the rules say', async () => {
  const tally: Tally = { done: 0, refused: 0, last: '' };
  const ctx = await t.ctx();
  for (let round = 0; round < ROUNDS; round += 1) {
    const hand = createHand(t, admin, [], round, tally, () => ({}));
    for (let n = 0; n < WRITES; n += 1) await hand.one(acts)(hand);
    const there = await stored();
    expect(await replayed()).toEqual(there);
    await command(ctx, async (work) => {
      for (const card of (await loadCards(work, ctx, there.cards.keys())).values()) {
        const type = work.metamodel.cardTypes.get(card.type)!;
        expect(card.data_quality).toBe(dataQuality(type, card, qualityFacts(type, card.filled)));
        const parent = card.parent_id === null ? undefined : there.cards.get(card.parent_id)!;
        if (card.status === 'ACTIVE' && parent) expect(parent.status).toBe('ACTIVE');
        expect(card.archived_at === null).toBe(card.status === 'ACTIVE');
        if (card.type !== 'BusinessCapability') continue;
        const level = card.attributes.capabilityLevel as string;
        const above = parent?.['attributes.capabilityLevel'] as string | undefined;
        if (above === undefined) expect(['Macro', 'L1']).toContain(level);
        else expect(level).toBe(above === 'Macro' ? 'L1' : `L${Number(above.slice(1)) + 1}`);
      }
    });
  }
  // a run in which nearly everything is refused would prove nothing
  expect(tally.done).toBeGreaterThan(200);
  expect((await db('card_merges').select('id')).length).toBeGreaterThan(1);
});

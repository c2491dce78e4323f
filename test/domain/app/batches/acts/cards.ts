import { type Act, type Acts, deletes, type Hand, onRow, type Row, removing, type Values } from './hand.ts';

const LIVE = "status = 'ACTIVE'";
const types = [
  'Application',
  'Application',
  'BusinessCapability',
  'BusinessCapability',
  'ITComponent',
] as const;

/** What a card may be given; some of it fits no type, and is refused. */
async function values(hand: Hand, type: string): Promise<Values> {
  const parent = hand.chance(0.4) ? await hand.row('cards', `type = '${type}' and ${LIVE}`) : undefined;
  const all: Values = {
    name: hand.chance(0.7) ? hand.name('Card') : hand.one(['Ada', 'Bob', 'Cy']),
    alias: hand.one([null, 'A', 'B']),
    description: hand.one([null, 'text', 'other']),
    external_id: hand.one([null, 'X-1', 'X-2', 'X-3', 'X-4']),
    lifecycle: hand.one([null, { active: '2020-01-01' }, { active: null, endOfLife: '2030-01-01' }]),
    attributes: hand.one<Values>(
      type === 'Application'
        ? [
            { costTotalAnnual: hand.below(1000) },
            { timeModel: 'invest' },
            { timeModel: null },
            { businessCriticality: 'missionCritical', costTotalAnnual: null },
          ]
        : type === 'BusinessCapability'
          ? [{ isCoreCapability: true }, { isCoreCapability: null }]
          : [{}],
    ),
    parent_id: parent?.id ?? null,
  };
  return Object.fromEntries(Object.entries(all).filter(() => hand.chance(0.5)));
}

const create: Act = async (hand) => {
  const custom = await hand.rows('card_types', 'not built_in and not is_hidden');
  const type = hand.chance(0.1) && custom.length > 0 ? hand.one(custom).key! : hand.one(types);
  await hand.send('POST', '/cards', { type, name: hand.name('Card'), ...(await values(hand, type)) });
};
const patch = onRow('cards', async ({ id, type }, hand) => {
  return ['PATCH', `/cards/${id}`, await values(hand, type!)];
});
const strategy = (hand: Hand) => ({
  child_strategy: hand.one(['cascade', 'disconnect', 'reparent']),
  cascade_all_related: hand.chance(0.2),
});
const restore: Act = async (hand) => {
  const card = await hand.row('cards', "status = 'ARCHIVED'");
  if (!card) return;
  const others = await hand.rows(
    'cards',
    `archive_batch_id = '${card.archive_batch_id}' and id <> '${card.id}'`,
  );
  await hand.send('POST', `/cards/${card.id}/restore`, {
    also_restore_card_ids: hand.chance(0.5) ? others.map(({ id }) => id) : [],
  });
};
const approve: Act = async (hand) => {
  const card = await hand.row('cards');
  const action = hand.one(['approve', 'approve', 'reject', 'reset']);
  if (card) await hand.send('POST', `/cards/${card.id}/approval-status?action=${action}`);
};

const some = async (hand: Hand, where = 'true'): Promise<string[]> =>
  hand.some(await hand.rows('cards', where), 4).map((card: Row) => card.id!);
const patchMany: Act = async (hand) => {
  const type = hand.one(types);
  const ids = await some(hand, `type = '${type}'`);
  const { name: _, external_id: __, ...updates } = await values(hand, type);
  if (ids.length > 0) await hand.send('PATCH', '/cards/bulk', { ids, updates });
};
const createMany: Act = async (hand) => {
  const cards: Values[] = [];
  for (let row_index = 1; row_index <= 3; row_index += 1) {
    const type = hand.one(types);
    cards.push({ row_index, type, name: hand.name('Many'), ...(await values(hand, type)) });
  }
  await hand.send('POST', '/cards/bulk-create', { cards });
};
const archiveMany: Act = async (hand) => {
  const card_ids = await some(hand, LIVE);
  if (card_ids.length > 0) await hand.send('POST', '/cards/bulk-archive', { card_ids, ...strategy(hand) });
};
const deleteMany: Act = async (hand) => {
  const card_ids = await some(hand, "status = 'ARCHIVED'");
  if (card_ids.length > 0) await hand.send('POST', '/cards/bulk-delete', { card_ids, ...strategy(hand) });
};
const restoreMany: Act = async (hand) => {
  const card_ids = await some(hand, "status = 'ARCHIVED'");
  if (card_ids.length > 0) await hand.send('POST', '/cards/bulk-restore', { card_ids });
};

const merge: Act = async (hand) => {
  const card = await hand.row('cards', LIVE);
  const other = card && (await hand.row('cards', `type = '${card.type}' and id <> '${card.id}' and ${LIVE}`));
  if (other) await hand.send('POST', '/cards/merge', { survivor_id: card.id, merged_ids: [other.id] });
};

const ends = { relAppToBC: 'BusinessCapability', relAppToITC: 'ITComponent' } as const;
const relationValues = (hand: Hand, type: string): Values => ({
  description: hand.one([null, 'about', 'more']),
  ...(type === 'relAppToBC' ? { attributes: { supportType: hand.one(['leading', null]) } } : {}),
});
async function path(hand: Hand) {
  const type = hand.one(['relAppToBC', 'relAppToITC'] as const);
  const source = await hand.row('cards', `type = 'Application' and ${LIVE}`);
  const target = await hand.row('cards', `type = '${ends[type]}' and ${LIVE}`);
  return source && target ? { type, source_id: source.id, target_id: target.id } : undefined;
}
const relate: Act = async (hand) => {
  const found = await path(hand);
  if (found) await hand.send('POST', '/relations', { ...found, ...relationValues(hand, found.type) });
};
const relateMany: Act = async (hand) => {
  const operations: Values[] = [];
  for (let row_index = 1; row_index <= 3; row_index += 1) {
    const found = await path(hand);
    if (!found) continue;
    const { type, source_id, target_id } = found;
    const action = hand.one(['upsert', 'upsert', 'delete']);
    operations.push({
      ...{ row_index, action, type, source: { id: source_id }, target: { id: target_id } },
      ...(action === 'upsert' ? relationValues(hand, type) : {}),
    });
  }
  if (operations.length > 0) await hand.send('POST', '/relations/bulk', { operations });
};

/** Writes to cards and relations. */
export const plainCardActs: Acts = [
  [create, 12],
  [patch, 12],
  [onRow('cards', (card, hand) => ['POST', `/cards/${card.id}/archive`, strategy(hand)], LIVE), 3],
  [restore, 3],
  [removing(onRow('cards', (card, hand) => ['DELETE', `/cards/${card.id}`, strategy(hand)])), 3],
  [approve, 4],
  [patchMany, 3],
  [createMany, 3],
  [archiveMany, 1],
  [deleteMany, 1],
  [restoreMany, 2],
  [relate, 10],
  [relateMany, 3],
  [
    onRow('relations', (relation, hand) => [
      'PATCH',
      `/relations/${relation.id}`,
      relationValues(hand, relation.type!),
    ]),
    4,
  ],
  [deletes('relations', '/relations'), 2],
];

/** The same with merges, which move what hangs on cards. */
export const cardActs: Acts = [
  ...plainCardActs,
  [merge, 4],
  [
    onRow(
      'card_merges',
      (found, hand) => ['POST', `/card-merges/${found.id}/undo`, { dry_run: false, force: hand.chance(0.5) }],
      'undone_at is null',
    ),
    2,
  ],
];

import { between, pick, type Random } from '../bench/landscape/random.ts';
import type { KnownCard } from './world.ts';
import type { Act, Hand } from './writer.ts';

/** Types with a hierarchy and such without, capabilities with their levels among them. */
const types = ['Application', 'Application', 'BusinessCapability', 'ITComponent', 'Interface', 'Provider'];
const relationTypes: [type: string, source: string, target: string][] = [
  ['relAppToITC', 'Application', 'ITComponent'],
  ['relAppToBC', 'Application', 'BusinessCapability'],
  ['relProviderToApp', 'Provider', 'Application'],
  ['relAppToInterface', 'Application', 'Interface'],
];
const strategies = ['cascade', 'disconnect', 'reparent'];

const anyCard = ({ random, world }: Hand): KnownCard | undefined =>
  world.cards.length === 0 ? undefined : pick(random, world.cards);
const ofType = (hand: Hand, type: string): KnownCard | undefined => {
  const cards = hand.world.cards.filter((card) => card.type === type);
  return cards.length === 0 ? undefined : pick(hand.random, cards);
};
const day = (random: Random) =>
  `20${between(random, 10, 39)}-0${between(random, 1, 9)}-1${between(random, 0, 9)}`;

async function create(hand: Hand): Promise<void> {
  const type = pick(hand.random, types);
  const token = hand.token();
  const parent = hand.random() < 0.3 ? ofType(hand, type) : undefined;
  const answer = await hand.write(
    'POST',
    '/cards',
    {
      type,
      name: `Card ${token}`,
      description: hand.random() < 0.5 ? 'Made by the soak.' : null,
      ...(parent && ['Application', 'BusinessCapability', 'ITComponent'].includes(type)
        ? { parent_id: parent.id }
        : {}),
      ...(hand.random() < 0.4 ? { lifecycle: { active: day(hand.random) } } : {}),
      ...(type === 'Application' ? { attributes: { costTotalAnnual: between(hand.random, 1, 90_000) } } : {}),
    },
    `Card ${token}`,
  );
  if (answer) hand.world.cards.push({ id: answer.body.id, type });
}

async function patch(hand: Hand): Promise<void> {
  const card = anyCard(hand);
  if (!card) return;
  const token = hand.token();
  const body: Record<string, unknown> = { alias: token };
  if (hand.random() < 0.3) body.description = hand.random() < 0.3 ? null : `Changed by ${token}.`;
  if (hand.random() < 0.3) body.lifecycle = { active: hand.random() < 0.3 ? null : day(hand.random) };
  if (card.type === 'Application')
    body.attributes = {
      businessCriticality: pick(hand.random, ['missionCritical', 'businessOperational', null]),
    };
  await hand.write('PATCH', `/cards/${card.id}`, body, token);
}

async function move(hand: Hand): Promise<void> {
  const type = pick(hand.random, ['Application', 'BusinessCapability', 'ITComponent']);
  const card = ofType(hand, type);
  const parent = hand.random() < 0.3 ? undefined : ofType(hand, type);
  if (card) await hand.write('PATCH', `/cards/${card.id}`, { parent_id: parent?.id ?? null });
}

async function approve(hand: Hand): Promise<void> {
  const card = anyCard(hand);
  const action = pick(hand.random, ['approve', 'approve', 'reject', 'reset']);
  if (card) await hand.write('POST', `/cards/${card.id}/approval-status?action=${action}`);
}

/** Forgets cards that are no longer active; the archived ones may come back. */
function forget({ world }: Hand, ids: string[], archived: boolean): void {
  const gone = new Set(ids);
  world.cards = world.cards.filter(({ id }) => !gone.has(id));
  if (archived) world.archived.push(...ids);
}

async function archive(hand: Hand): Promise<void> {
  const card = anyCard(hand);
  if (!card) return;
  const body = { child_strategy: pick(hand.random, strategies) };
  if (await hand.write('POST', `/cards/${card.id}/archive`, body)) forget(hand, [card.id], true);
}

async function restore(hand: Hand): Promise<void> {
  if (hand.world.archived.length === 0) return;
  const id = pick(hand.random, hand.world.archived);
  const answer = await hand.write('POST', `/cards/${id}/restore`, {});
  if (!answer) return;
  hand.world.archived = hand.world.archived.filter((other) => other !== id);
  hand.world.cards.push({ id, type: answer.body.primary.type });
}

async function remove(hand: Hand): Promise<void> {
  const card = anyCard(hand);
  if (!card) return;
  const body = { child_strategy: pick(hand.random, strategies) };
  const answer = await hand.write('DELETE', `/cards/${card.id}`, body);
  if (answer) forget(hand, answer.body.deleted_card_ids, false);
}

async function relate(hand: Hand): Promise<void> {
  const [type, sourceType, targetType] = pick(hand.random, relationTypes);
  const source = ofType(hand, sourceType);
  const target = ofType(hand, targetType);
  if (!source || !target) return;
  const description = hand.token();
  const body = { type, source_id: source.id, target_id: target.id, description };
  const answer = await hand.write('POST', '/relations', body, description);
  if (answer) hand.world.relations.push(answer.body.id);
}

async function patchRelation(hand: Hand): Promise<void> {
  if (hand.world.relations.length === 0) return;
  const description = hand.token();
  const id = pick(hand.random, hand.world.relations);
  await hand.write('PATCH', `/relations/${id}`, { description }, description);
}

async function unrelate(hand: Hand): Promise<void> {
  if (hand.world.relations.length === 0) return;
  const id = pick(hand.random, hand.world.relations);
  if (await hand.write('DELETE', `/relations/${id}`))
    hand.world.relations = hand.world.relations.filter((other) => other !== id);
}

async function bulk(hand: Hand): Promise<void> {
  const operations = Array.from({ length: between(hand.random, 2, 30) }, (_, row) => {
    const [type, sourceType, targetType] = pick(hand.random, relationTypes);
    return {
      row_index: row,
      action: hand.random() < 0.8 ? 'upsert' : 'delete',
      type,
      source: { id: ofType(hand, sourceType)?.id },
      target: { id: ofType(hand, targetType)?.id },
      description: 'bulk',
    };
  }).filter(({ source, target }) => source.id && target.id);
  if (operations.length > 0) await hand.write('POST', '/relations/bulk', { operations });
}

/** Everything that changes single objects or a few. */
export const acts: Act[] = [
  { name: 'create', weight: 24, run: create },
  { name: 'patch', weight: 30, run: patch },
  { name: 'move', weight: 8, run: move },
  { name: 'approve', weight: 4, run: approve },
  { name: 'archive', weight: 4, run: archive },
  { name: 'restore', weight: 4, run: restore },
  { name: 'delete', weight: 3, run: remove },
  { name: 'relate', weight: 12, run: relate },
  { name: 'patch relation', weight: 5, run: patchRelation },
  { name: 'unrelate', weight: 3, run: unrelate },
  { name: 'bulk relations', weight: 2, run: bulk },
];

import { randomUUID } from 'node:crypto';
import { describe, test } from 'vitest';
import { closeAfterAll } from '../support/harness.ts';
import { findDuplicates } from './matrix/ai-analysis.data.ts';
import { finding } from './matrix/compliance.data.ts';
import { expectRefusal, ok } from './refusal.ts';
import { createWorld } from './world.ts';

const keeper = 'keeper_of_all';
const analysis = '/api/v1/ai-analysis';

const w = closeAfterAll(await createWorld());
const admin = await w.client('admin');
const permissions = { 'card.view': true, 'card.edit': true, 'card.archive': true };
const role = { key: keeper, label: 'Keeper', permissions };
ok(await admin.post('/api/v1/metamodel/types/Application/stakeholder-roles', role), 201);
const rights = [
  'inventory.view',
  'inventory.create',
  'relations.view',
  'relations.manage',
  'adr.manage',
  'ai_analysis.view',
  'ai_analysis.manage',
  'compliance.view',
  'compliance.manage',
  'grc.view',
  'grc.manage',
];
const held = JSON.stringify(Object.fromEntries(rights.map((right) => [right, true])));
await w.t.services.db('roles').insert({ key: 'analyst', label: 'Analyst', permissions: held });
/** May run analyses and decide about what they find, but nothing to cards on which they hold no role. */
const analyst = await w.t.as('analyst');

const hold = (card: string) => w.stakeholder(card, analyst.userId, keeper);

describe('what an analysis finds is carried out with a role on the cards, and not without', () => {
  test('duplicates are merged', async () => {
    const merge = (cluster: string) => analyst.post(`${analysis}/duplicates/${cluster}/merge`, {});
    const [mine, theirs] = [await findDuplicates(w), await findDuplicates(w)];
    for (const card of mine.card_ids) await hold(card);
    await expectRefusal(w, 'inventory.edit', () => merge(theirs.cluster_id));
    ok(await merge(mine.cluster_id));
  });

  test('a verdict on AI changes the card', async () => {
    const verdict = (id: string) =>
      analyst.post(`/api/v1/compliance/findings/${id}/ai-verdict`, { verdict: 'confirm' });
    const card = await w.card();
    const [mine, theirs] = [await finding(w, { card_id: card }), await finding(w)];
    await hold(card);
    await expectRefusal(w, 'inventory.edit', () => verdict(theirs));
    ok(await verdict(mine));
  });

  test('a target architecture retires stored cards', async () => {
    const commit = async (card: string) => {
      const stored = await w.t.services.db('cards').where({ id: card }).first('name');
      const retired = { id: card, change: 'retired', type: 'Application', name: stored.name, attributes: {} };
      const session_data = JSON.stringify({ architecture: { cards: [retired], relations: [] } });
      const [kept] = await w.t.services
        .db('assessments')
        .insert({ title: randomUUID(), requirement: 'Anything', session_data })
        .returning('id');
      const period = { startDate: '2027-01-01', endDate: '2027-12-31' };
      const chosen = { selectedCardIds: [card], selectedRelationIndices: [] };
      const body = { assessmentId: kept.id, initiativeName: randomUUID(), ...period, ...chosen };
      return () => analyst.post(`${analysis}/architect/commit`, body);
    };
    const [mine, theirs] = [await w.card(), await w.card()];
    await hold(mine);
    await expectRefusal(w, 'inventory.edit', await commit(theirs));
    ok(await (await commit(mine))());
  });
});

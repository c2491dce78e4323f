/** A session of the architect that is carried out. */

import { randomUUID } from 'node:crypto';
import { expectInvalid, expectProblem, ok, openApp, pluck } from '../../support/harness.ts';
import { tablesOf } from '../../support/tables.ts';
import { makeLandscape, plannerRights } from './architect.landscape.ts';

const { t, db, admin } = await openApp(['admin']);
const land = await makeLandscape(admin);

const url = '/api/v1/ai-analysis';
type Architecture = {
  cards: { id: string; name: string; change: string }[];
  relations: { type: string; source_name: string; target_name: string }[];
};

/** A kept session with the architecture of an option. */
async function session(
  option: string,
  more: object = {},
): Promise<{ id: string; architecture: Architecture }> {
  const asked = { ...land.session, selectedOption: { id: option }, ...more };
  const { architecture } = (await admin.post(`${url}/architect/phase3`, asked)).body;
  const sessionData = { ...asked, allQA: { success: 'No <b>paper</b>', drivers: ['cost'] }, architecture };
  const body = { title: 'Order desk', requirement: 'One way to *take* orders', sessionData };
  return { id: (await admin.create(`${url}/assessments`, body)).id, architecture };
}

const commit = (assessmentId: string, more: object = {}, headers: Record<string, string> = {}) =>
  admin.post(
    `${url}/architect/commit`,
    {
      assessmentId,
      initiativeName: `Initiative ${randomUUID()}`,
      startDate: '2027-01-01',
      endDate: '2027-12-31',
      selectedCardIds: [],
      selectedRelationIndices: [],
      ...more,
    },
    headers,
  );
const card = async (id: string) => (await admin.get(`/api/v1/cards/${id}`)).body;
const relationsOf = async (id: string): Promise<string[]> =>
  (await admin.get(`/api/v1/relations?card_id=${id}&page_size=200`)).body.items
    .map(
      (relation: { type: string; source: { name: string }; target: { name: string } }) =>
        `${relation.source.name} ${relation.type} ${relation.target.name}`,
    )
    .sort();

it('becomes an initiative with cards, relations and a draft, and is rolled back as a whole', async () => {
  const { id, architecture } = await session('buy', { selectedProducts: [{ name: 'OrderWorks' }] });
  const before = await tablesOf(db);
  const product = architecture.cards.find(({ name }) => name === 'OrderWorks')!;
  const forms = architecture.cards.find(({ name }) => name === 'Forms')!;
  const wanted = ['OrderWorks relAppToBC Ordering', 'OrderWorks relAppSuccessor Forms'];
  const selectedRelationIndices = architecture.relations.flatMap(({ type, source_name, target_name }, n) =>
    wanted.includes(`${source_name} ${type} ${target_name}`) ? n : [],
  );
  const { initiative_id, card_ids, relation_ids, adr_id, decision_draft } = await ok(
    commit(id, {
      initiativeName: ' One desk ',
      selectedCardIds: [product.id, forms.id],
      selectedRelationIndices,
      objectiveIds: land.session.objectiveIds,
      renamedCards: { [product.id]: 'DeskWorks' },
    }),
  );
  expect(card_ids[1]).toBe(land.ids.Forms);
  const { body: adr } = await admin.get(`/api/v1/adr/${adr_id}`);
  expect(adr).toMatchObject({ title: 'One desk', status: 'draft', created_by: admin.userId });
  expect(adr.context).toContain('One way to \\*take\\* orders');
  expect(adr.decision).toContain('Chosen option: "Replace by bought applications".');
  expect(pluck(adr.linked_cards, 'id').sort()).toEqual([initiative_id, ...card_ids].sort());
  expect(await card(initiative_id)).toMatchObject({
    type: 'Initiative',
    name: 'One desk',
    attributes: { startDate: '2027-01-01', endDate: '2027-12-31' },
  });
  expect(await card(card_ids[0])).toMatchObject({
    name: 'DeskWorks',
    subtype: 'businessApplication',
    attributes: { hostingType: 'cloudSaaS', commercialApplication: true },
    lifecycle: { plan: '2027-01-01', active: '2027-12-31' },
  });
  expect(await card(land.ids.Forms!)).toMatchObject({
    attributes: { timeModel: 'eliminate', costTotalAnnual: 300 },
    lifecycle: { phaseOut: '2027-01-01', endOfLife: '2027-12-31' },
  });
  expect(await relationsOf(card_ids[0])).toEqual([
    'DeskWorks relAppSuccessor Forms',
    'DeskWorks relAppToBC Ordering',
    'One desk relInitiativeToApp DeskWorks',
  ]);
  expect(await relationsOf(initiative_id)).toEqual([
    'One desk relInitiativeToApp DeskWorks',
    'One desk relInitiativeToApp Forms',
    'One desk relInitiativeToObjective One order desk',
  ]);
  expect(relation_ids).toHaveLength(5);
  expect(decision_draft).toContain('# One desk');
  expect(decision_draft).toContain('One way to \\*take\\* orders');
  expect(decision_draft).toContain('Chosen option: "Replace by bought applications".');
  expect(decision_draft).toContain('* Objective: One order desk');
  expect(decision_draft).not.toContain('<b>');
  expect(decision_draft).not.toContain('300');

  expect((await admin.get(`${url}/assessments/${id}`)).body).toMatchObject({
    status: 'committed',
    initiative_id,
    initiative_name: 'One desk',
    decision_draft,
  });
  const again = await commit(id);
  expect([again.status, again.body.code, again.body.initiative_id]).toEqual([
    409,
    'wrong_state',
    initiative_id,
  ]);
  await expectProblem(admin.patch(`${url}/assessments/${id}`, { title: 'x' }), 409);

  const [{ batch_id }] = await db('events')
    .where({ event_type: 'assessment.updated' })
    .orderBy('position', 'desc')
    .select('batch_id');
  await admin.undo(batch_id);
  const { assessments, cards, relations, adrs, adr_cards } = await tablesOf(db);
  expect({ assessments, cards, relations, adrs, adr_cards }).toEqual({
    adrs: before.adrs,
    adr_cards: before.adr_cards,
    assessments: before.assessments,
    cards: before.cards,
    relations: before.relations,
  });
  await ok(commit(id));
});

it('needs the cards that its relations join, and takes what it knows alone', async () => {
  const { id, architecture } = await session('buy');
  const made = architecture.cards.find(({ change }) => change === 'new')!;
  const loose = architecture.relations.findIndex(({ source_name }) => source_name === made.name);
  const refused = (more: object, field: string) => expectInvalid(commit(id, more), field);
  await refused({ selectedRelationIndices: [loose] }, 'selectedRelationIndices.0 end_not_chosen');
  await refused({ selectedRelationIndices: [999] }, 'selectedRelationIndices.0 unknown_relation');
  await refused({ selectedCardIds: ['new-99'] }, 'selectedCardIds.0 unknown_card');
  await refused({ selectedCardIds: [made.id, made.id] }, 'selectedCardIds.1 duplicate');
  await refused({ renamedCards: { [made.id]: 'x' } }, `renamedCards.${made.id} not_new`);
  await refused({ endDate: '2026-01-01' }, 'endDate before_start');
  await refused({ startDate: 'soon' }, 'startDate');
  await refused({ initiativeName: ' ' }, 'initiativeName required');
  await refused({ objectiveIds: [land.ids.Desk] }, 'objectiveIds.0 end_type');
  await expectProblem(commit(randomUUID()), 404);
  await expectProblem(commit(id, {}, { 'if-match': '"old"' }), 412);
  // nothing of what was refused is left
  expect((await admin.get('/api/v1/cards?type=Initiative&search=Initiative')).body.total).toBe(1);
  await expectProblem(
    commit(id, { selectedCardIds: [made.id], renamedCards: { [made.id]: 'Desk' } }),
    409,
    'sibling_name_taken',
  );
});

it('checks what a client has put into the architecture like any card', async () => {
  const architecture = {
    cards: [
      { id: 'new-1', change: 'new', type: 'Application', name: 'Odd', attributes: { hostingType: 'moon' } },
    ],
    relations: [{ type: 'relAppToBC', source_id: land.ids.Sales, target_id: land.ids.Desk }],
  };
  const sessionData = { architecture };
  const { id } = (await admin.post(`${url}/assessments`, { title: 'x', requirement: 'y', sessionData })).body;
  const odd = await commit(id, { selectedCardIds: ['new-1'] });
  expect([odd.status, odd.body.errors[0].field]).toEqual([422, 'selectedCardIds.0']);
  const wrong = await commit(id, { selectedRelationIndices: [0] });
  expect([wrong.status, wrong.body.errors[0].field]).toEqual([422, 'selectedRelationIndices.0']);
});

it('needs the rights of what it does', async () => {
  const planner = await t.holding(...plannerRights);
  const { id } = await session('keep');
  const body = { assessmentId: id, initiativeName: 'x', startDate: '2027-01-01', endDate: '2027-01-02' };
  const chosen = { selectedCardIds: [], selectedRelationIndices: [] };
  await expectProblem(
    planner.post(`${url}/architect/commit`, { ...body, ...chosen }),
    403,
    'inventory.create',
  );
});

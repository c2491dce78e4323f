import { randomUUID } from 'node:crypto';
import { startModels } from '../../emulators/openai.ts';
import { expectInvalid, expectProblem, ok, openApp, pluck } from '../../support/harness.ts';
import { makeLandscape, plannerRights } from './architect.landscape.ts';

const { t, admin } = await openApp(['admin'], { OUTBOUND_ALLOW: '127.0.0.1:*' });
const land = await makeLandscape(admin);
const planner = await t.holding(...plannerRights);

const url = '/api/v1/ai-analysis/architect';
const ask = (phase: string, more: object = {}, client = admin) =>
  ok(client.post(`${url}/${phase}`, { ...land.session, ...more }));
const gapNames = (gaps: { kind: string; card: { name: string } }[]) =>
  gaps.map(({ kind, card }) => `${kind} ${card.name}`).sort();
type Card = { id: string; name: string; change: string; attributes: object };
type Relation = { type: string; source_name: string; target_name: string };
const cardsOf = ({ architecture }: { architecture: { cards: Card[] } }) =>
  architecture.cards.map(({ change, name }) => `${change} ${name}`).sort();
const relationsOf = ({ architecture }: { architecture: { relations: Relation[] } }) =>
  architecture.relations
    .map(({ type, source_name, target_name }) => `${source_name} ${type} ${target_name}`)
    .sort();

it('pickers list objectives and capabilities, searched as cards are', async () => {
  expect((await admin.get(`${url}/objectives?search=ordre desk`)).body.items).toEqual([
    { id: land.ids['One order desk'], name: 'One order desk', description: null, subtype: null },
  ]);
  const capabilities = (await admin.get(`${url}/capabilities?page_size=2&sort_by=name`)).body;
  expect(capabilities).toMatchObject({ total: 5, items: [{ name: 'Billing' }, { name: 'Ordering' }] });
  expect(Object.keys(capabilities.items[0])).toEqual(['id', 'name', 'description']);
  const walked = (await admin.get(`${url}/capabilities?cursor=&fields=name&page_size=200`)).body;
  expect(walked.items).toContainEqual({ name: 'Returns' });
  await expectProblem(admin.get(`${url}/capabilities?fields=attributes`), 422);
  await expectProblem(admin.get(`${url}/objectives?type=Application`), 422);
});

it('pickers show the graph around objectives', async () => {
  const graph = (await admin.get(`${url}/objective-dependencies?objective_ids=${land.session.objectiveIds}`))
    .body;
  expect(pluck(graph.nodes, 'name').sort()).toEqual(['One order desk', 'Sales']);
  expect(graph.edges).toMatchObject([{ source: land.ids['One order desk'], target: land.ids.Sales }]);
  expect((await admin.get(`${url}/objective-dependencies`)).body).toEqual({ nodes: [], edges: [] });
  const status = async (ids: string) =>
    (await admin.get(`${url}/objective-dependencies?objective_ids=${ids}`)).status;
  expect(await status('nothing')).toBe(422);
  expect(await status(randomUUID())).toBe(404);
  expect(await status(land.ids.Desk!)).toBe(404);
  expect(await status(Array.from({ length: 51 }, () => randomUUID()).join(','))).toBe(422);
});

describe('the phases', () => {
  it('ask what the inventory gives reason for', async () => {
    const first = (await ask('phase1')).questions;
    const keys = pluck(first, 'id');
    expect(keys).toEqual(['drivers', 'horizon', 'success', 'uncovered', 'interruption', 'organizations']);
    expect(first[3].reason).toBe('No application supports Returns.');
    const phase1QA = { drivers: ['regulation'], horizon: 12, empty: null };
    const second = (await ask('phase2', { phase1QA })).questions;
    const ids = pluck(second, 'id');
    expect(ids).toEqual(['sourcing', 'keep', 'support', 'improvement', 'hosting', 'data', 'regulations']);
    expect(second[1].options).toContainEqual({ value: land.ids.Desk, label: 'Desk' });
    // answers may come as a list as well
    const listed = (await ask('phase2', { phase1QA: [{ id: 'drivers', answer: 'regulation' }] })).questions;
    expect(listed).toHaveLength(second.length);
  });

  it('find the gaps, the gravest first', async () => {
    const { gaps } = await ask('phase3/gaps');
    expect(gapNames(gaps)).toEqual([
      'capability_without_application Returns',
      'component_end_of_life Desk',
      'end_of_life Ledger',
      'low_fit Forms',
      'overlap Ordering',
      'planned_exit Regional',
    ]);
    expect(pluck(gaps, 'severity')).toEqual([...['high', 'high', 'medium', 'low', 'low', 'low']]);
    const ledger = gaps.find(({ card }: { card: { name: string } }) => card.name === 'Ledger');
    expect(ledger.reasons[0]).toContain('2020-06-30');
  });

  it('weigh four options by what they touch, without costs for those who see none', async () => {
    const { options } = await ask('phase3/options');
    expect(pluck(options, 'id')).toEqual(['keep', 'consolidate', 'buy', 'build']);
    expect(options.filter(({ recommended }: { recommended: boolean }) => recommended)).toHaveLength(1);
    expect(options[1].facts).toMatchObject({
      retired_cards: 1,
      affected_organizations: 1,
      retired: { applications: 1, annual_cost: 300, without_cost: 0 },
    });
    const hidden = (await ask('phase3/options', {}, planner)).options[1];
    expect(hidden.facts.retired).toEqual({ applications: 1, annual_cost: null, without_cost: 1 });
    expect(hidden.facts.retired_cards).toBe(1);
    const buying = (await ask('phase3/options', { allQA: { sourcing: 'buy' } })).options;
    expect(buying.find(({ recommended }: { recommended: boolean }) => recommended).id).toBe('buy');
  });

  it('consolidate what overlaps, and let the strongest take over', async () => {
    const answer = await ask('phase3', { selectedOption: { id: 'consolidate', title: 'Any' } });
    expect(cardsOf(answer)).toEqual(['changed Desk', 'retired Forms']);
    expect(answer.architecture.cards.find(({ name }: Card) => name === 'Forms').attributes).toEqual({
      timeModel: 'eliminate',
    });
    expect(relationsOf(answer)).toEqual([
      'Branches relOrgToApp Desk',
      'Desk relAppSuccessor Forms',
      'Desk relAppToBC Returns',
      'Desk relAppToDataObj Order',
    ]);
    // what supports other things as well stays, and so does what has to
    const kept = await ask('phase3', {
      selectedOption: { id: 'consolidate' },
      allQA: { keep: [land.ids.Forms], uncovered: 'manual' },
    });
    expect(cardsOf(kept)).toEqual(['changed Forms', 'retired Desk']);
  });

  it('replace what is weak by new applications', async () => {
    const answer = await ask('phase3', {
      selectedOption: { id: 'buy' },
      selectedProducts: [{ name: 'OrderWorks' }],
    });
    expect(answer.architecture.option).toBe('buy');
    expect(cardsOf(answer)).toEqual(
      [
        'new Billing (new application)',
        'new OrderWorks',
        'new Returns (new application)',
        'retired Desk',
        'retired Forms',
        'retired Ledger',
        'retired Regional',
      ].sort(),
    );
    expect(relationsOf(answer)).toContain('OrderWorks relAppSuccessor Forms');
    expect(relationsOf(answer)).toContain('Branches relOrgToApp OrderWorks');
    const chosen = (await ask('phase3/gaps')).gaps.filter(
      ({ kind }: { kind: string }) => kind === 'end_of_life',
    );
    const narrow = await ask('phase3', { selectedOption: { id: 'build' }, selectedRecommendations: chosen });
    expect(cardsOf(narrow)).toEqual(['new Billing (new application)', 'retired Ledger']);
    const { dependencies } = await ask('phase3/deps', {
      selectedOption: { id: 'build' },
      selectedRecommendations: chosen,
    });
    expect(dependencies).toEqual([
      expect.objectContaining({
        change: 'retired',
        severity: 'high',
        peer: expect.objectContaining({ name: 'Order' }),
      }),
    ]);
  });

  it('plan for capabilities that are not there yet, and find those that a requirement names', async () => {
    const selectedCapabilities = [{ name: 'Subscriptions', isNew: true }];
    const answer = await ask('phase3', {
      selectedOption: { id: 'keep' },
      selectedCapabilities,
      objectiveIds: [],
    });
    expect(cardsOf(answer)).toEqual(['new Subscriptions', 'new Subscriptions (new application)']);
    const meant = await ask('phase3', { objectiveIds: null, requirement: 'Make our BILLING faster' });
    expect(meant.architecture.capabilities).toEqual([
      { id: land.ids.Billing, name: 'Billing', is_new: false },
    ]);
    expect(await ask('phase3/gaps', { objectiveIds: [], requirement: null })).toEqual({ gaps: [] });
  });

  it('say the same again, and refuse what they do not know', async () => {
    expect(await ask('phase3')).toEqual(await ask('phase3'));
    const refused = (more: object, field: string) =>
      expectInvalid(admin.post(`${url}/phase3`, { ...land.session, ...more }), field);
    await refused({ objectiveIds: [land.ids.Desk] }, 'objectiveIds.0');
    await refused({ objectiveIds: ['x'] }, 'objectiveIds.0');
    await refused({ selectedCapabilities: [{ id: randomUUID() }] }, 'selectedCapabilities.0.id');
    await refused({ selectedCapabilities: [{}] }, 'selectedCapabilities.0');
    await refused({ selectedOption: { id: 'other' } }, 'selectedOption.id');
    await refused({ unknown: 1 }, 'unknown');
  });

  it('have a model word the proposal, which it cannot change', async () => {
    const asking = `${url}/phase3?wording=model`;
    const without = await admin.post(asking, land.session);
    await expectProblem(without, 409, 'ai_not_configured');
    expect(without.body.missing).toContain('model');
    const world = await startModels('the key');
    await admin.patch('/api/v1/settings/ai', {
      enabled: true,
      provider_type: 'openai',
      provider_url: world.url,
      api_key: 'the key',
      model: 'small',
      outgoing_fields: { BusinessCapability: ['name'] },
    });
    const words = { title: 'One desk', summary: 'Two become one.', steps: ['Switch off what is left.'] };
    world.answer = () => words;
    const worded = await admin.post(asking, { ...land.session, selectedOption: { id: 'consolidate' } });
    expect(worded.body).toEqual({
      ...(await ask('phase3', { selectedOption: { id: 'consolidate' } })),
      wording: { ...words, model: 'small', prompt: 'architecture@1' },
    });
    const sent = JSON.stringify(world.asked);
    expect(sent).toContain(land.session.requirement);
    expect(sent).toContain('Ordering');
    // names of applications may not leave, and reasons and costs never do
    for (const hidden of [/Forms/, /stronger/, /\b300\b/]) expect(sent).not.toMatch(hidden);
    world.fault = () => 500;
    expect((await admin.post(asking, land.session)).body.code).toBe('upstream_failed');
    await world.close();
  });
});

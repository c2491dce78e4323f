import { addMonths } from '../../../../domain/app/demo/demo.dates.ts';
import { demoLandscape } from '../../../../domain/app/demo/demo.landscape.ts';
import { loadDemo } from '../../../../domain/app/demo/demo.load.ts';
import { bundledFacts } from '../../../../domain/governance/eol/eol.facts.ts';
import { cardTypeSeeds } from '../../../../domain/inventory/metamodel/metamodel.seeds.data.ts';
import { EOL_CYCLE, EOL_PRODUCT } from '../../../../domain/kernel/metamodel/eol.fields.ts';
import { createTestServices } from '../../../support/harness.ts';

const today = '2026-01-31';
const landscape = demoLandscape(today);
const types = new Map(cardTypeSeeds.map((type) => [type.key, type]));
const cards = new Map(landscape.cards.map((card) => [card.external_id, card]));
describe('the demo landscape', () => {
  it('has about 300 cards of all types and at least 600 relations', () => {
    expect(landscape.cards.length).toBeGreaterThanOrEqual(290);
    expect(landscape.cards.length).toBeLessThanOrEqual(330);
    expect(landscape.relations.length).toBeGreaterThanOrEqual(600);
    expect(new Set(landscape.cards.map((card) => card.type))).toEqual(new Set(types.keys()));
  });

  it('is loaded whole, as the rules for cards and relations allow, and fills required fields', async () => {
    const t = await createTestServices();
    try {
      const counts = { cards: landscape.cards.length, relations: landscape.relations.length };
      expect(await loadDemo(await t.ctx(), today)).toEqual(counts);
      const stored = await t.services.db.raw(`select (select count(*)::int
          from cards) as cards, (select count(*)::int from relations) as relations`);
      expect(stored.rows[0]).toEqual(counts);
    } finally {
      await t.close();
    }
    for (const { type, external_id, attributes } of landscape.cards) {
      const required = types
        .get(type)!
        .fields_schema.flatMap(({ fields }) => fields.filter((f) => f.required));
      for (const { key } of required) expect(attributes, external_id).toHaveProperty(key);
    }
  });

  it('links products to release cycles that are known, with the dates that it tells itself', () => {
    const known = new Map(bundledFacts().map(({ name, cycles }) => [name, cycles]));
    const linked = landscape.cards.filter((card) => card.attributes[EOL_PRODUCT] !== undefined);
    expect(linked.length).toBeGreaterThan(10);
    for (const { external_id, attributes, lifecycle } of linked) {
      const cycles = known.get(attributes[EOL_PRODUCT] as string);
      const cycle = cycles?.find((one) => one.cycle === attributes[EOL_CYCLE]);
      expect([cycle?.support_until, cycle?.eol_from], external_id).toContain(lifecycle?.endOfLife);
    }
  });

  it('tells of each card in at least one sentence, never twice the same', () => {
    for (const card of landscape.cards) expect(card.description, card.external_id).toMatch(/^[A-Z].{20,}\.$/);
    expect(new Set(landscape.cards.map((card) => card.description)).size).toBe(landscape.cards.length);
  });

  it('uses only tags of its groups, on types that may carry them, one at most of a single group', () => {
    const groups = new Map(landscape.tagGroups.map((group) => [group.name, group]));
    for (const card of landscape.cards) {
      const used = (card.tags ?? []).map((tag) => tag.split('/') as [string, string]);
      for (const [groupName, tagName] of used) {
        const group = groups.get(groupName);
        expect(
          group?.tags.map((tag) => tag.name),
          card.external_id,
        ).toContain(tagName);
        expect(group?.restrict_to_types ?? [card.type], card.external_id).toContain(card.type);
        if (group?.mode === 'single')
          expect(
            used.filter(([name]) => name === groupName),
            card.external_id,
          ).toHaveLength(1);
      }
    }
    const tags = new Set(landscape.cards.flatMap((card) => card.tags ?? []));
    const offered = landscape.tagGroups.flatMap((group) =>
      group.tags.map((tag) => `${group.name}/${tag.name}`),
    );
    expect(tags).toEqual(new Set(offered));
  });

  it('gives known people roles that the cards\u2019 types define, once each', () => {
    const people = new Set(landscape.users.map((user) => user.email));
    const seen = new Set<string>();
    for (const { card_external_id, email, role } of landscape.stakeholders) {
      const label = `${card_external_id} ${email} ${role}`;
      const card = cards.get(card_external_id);
      expect(card, label).toBeDefined();
      expect(
        types.get(card!.type)!.stakeholder_roles.map((defined) => defined.key),
        label,
      ).toContain(role);
      expect(people.has(email), label).toBe(true);
      expect(seen.has(label), label).toBe(false);
      seen.add(label);
    }
    expect(new Set(landscape.stakeholders.map((row) => row.email))).toEqual(people);
  });

  it('moves with the day, and is the same for the same day', () => {
    expect(demoLandscape(today)).toEqual(landscape);
    const later = demoLandscape('2027-01-31');
    const lifecycleOf = (id: string, cardsOf = landscape.cards) =>
      cardsOf.find((card) => card.external_id === id)!.lifecycle!;
    expect(lifecycleOf('APP-LEDGERLINE').endOfLife).toBe('2027-09-30');
    expect(lifecycleOf('APP-LEDGERLINE', later.cards).endOfLife).toBe('2028-09-30');
    expect(lifecycleOf('ITC-POSTGRES-17', later.cards)).toEqual(lifecycleOf('ITC-POSTGRES-17'));
  });
});

it('adding months keeps the day where it exists and takes the month\u2019s last day otherwise', () => {
  expect(addMonths('2026-01-31', 1)).toBe('2026-02-28');
  expect(addMonths('2028-01-31', 1)).toBe('2028-02-29');
  expect(addMonths('2026-03-15', -3)).toBe('2025-12-15');
  expect(addMonths('2026-11-21', 14)).toBe('2028-01-21');
});

import { describe, expect, it } from 'vitest';
import { addMonths } from '../../../../domain/app/demo/demo.dates.ts';
import { demoLandscape } from '../../../../domain/app/demo/demo.landscape.ts';
import type { DemoCard } from '../../../../domain/app/demo/demo.types.ts';
import { bundledFacts } from '../../../../domain/governance/eol/eol.facts.ts';
import {
  cardTypeSeeds,
  relationTypeSeeds,
} from '../../../../domain/inventory/metamodel/metamodel.seeds.data.ts';
import { EOL_CYCLE, EOL_PRODUCT, eolFieldsOf } from '../../../../domain/kernel/metamodel/eol.fields.ts';
import {
  type Field,
  lifecyclePhases,
  type RelationAttribute,
} from '../../../../domain/kernel/metamodel/metamodel.types.ts';

const ISO_DATE = /^\d{4}-\d{2}-\d{2}$/;
const today = '2026-01-31';
const landscape = demoLandscape(today);
const types = new Map(cardTypeSeeds.map((type) => [type.key, type]));
const relationTypes = new Map(relationTypeSeeds.map((type) => [type.key, type]));
const cards = new Map(landscape.cards.map((card) => [card.external_id, card]));
const fieldsOf = (type: string): Map<string, Field> =>
  new Map(
    [...types.get(type)!.fields_schema.flatMap((section) => section.fields), ...eolFieldsOf(type)].map(
      (field) => [field.key, field],
    ),
  );

const realDate = (value: unknown) =>
  typeof value === 'string' && ISO_DATE.test(value) && new Date(value).toISOString().startsWith(value);

/** What is wrong with a value for a field, if anything. */
function fault(field: Field | RelationAttribute | undefined, value: unknown): string | undefined {
  if (!field) return 'is unknown';
  const fits: Record<Field['type'], () => boolean> = {
    text: () => typeof value === 'string' && value !== '',
    multiline_text: () => typeof value === 'string' && value !== '',
    number: () => Number.isFinite(value),
    cost: () => Number.isFinite(value) && (value as number) >= 0,
    boolean: () => typeof value === 'boolean',
    date: () => realDate(value),
    url: () => URL.canParse(String(value)) && String(value).startsWith('https://'),
    single_select: () => (field.options ?? []).some((option) => option.key === value),
    multiple_select: () => false,
  };
  return fits[field.type]() ? undefined : `does not take ${JSON.stringify(value)}`;
}

function depth(card: DemoCard): number {
  const parent = card.parent_external_id;
  return parent === undefined ? 1 : 1 + depth(cards.get(parent)!);
}

describe('the demo landscape', () => {
  it('has about 300 cards of all types and at least 600 relations', () => {
    expect(landscape.cards.length).toBeGreaterThanOrEqual(290);
    expect(landscape.cards.length).toBeLessThanOrEqual(330);
    expect(landscape.relations.length).toBeGreaterThanOrEqual(600);
    expect(new Set(landscape.cards.map((card) => card.type))).toEqual(new Set(types.keys()));
  });

  it('identifies each card once, and names each once among its siblings', () => {
    expect(cards.size).toBe(landscape.cards.length);
    const names = landscape.cards.map((card) =>
      [card.type, card.parent_external_id ?? '', card.name.trim().toLowerCase()].join('|'),
    );
    expect(new Set(names).size).toBe(names.length);
  });

  it('puts parents of the same type before their children, in types that nest, within five levels', () => {
    const seen = new Map<string, DemoCard>();
    for (const card of landscape.cards) {
      if (card.parent_external_id !== undefined) {
        expect(seen.get(card.parent_external_id)?.type, card.external_id).toBe(card.type);
        expect(types.get(card.type)!.has_hierarchy, card.external_id).toBe(true);
        expect(depth(card), card.external_id).toBeLessThanOrEqual(5);
      }
      seen.set(card.external_id, card);
    }
    const capabilities = landscape.cards.filter((card) => card.type === 'BusinessCapability');
    expect(new Set(capabilities.map(depth))).toEqual(new Set([1, 2, 3]));
  });

  it('fills subtypes, attributes and required fields as the metamodel allows', () => {
    const faults: string[] = [];
    for (const card of landscape.cards) {
      const type = types.get(card.type)!;
      const fields = fieldsOf(card.type);
      if (card.subtype !== undefined && !type.subtypes.some((subtype) => subtype.key === card.subtype)) {
        faults.push(`${card.external_id}: subtype ${card.subtype}`);
      }
      for (const [key, value] of Object.entries(card.attributes)) {
        const wrong = fields.get(key)?.readonly ? 'is read-only' : fault(fields.get(key), value);
        if (wrong) faults.push(`${card.external_id}: ${key} ${wrong}`);
      }
      for (const field of fields.values()) {
        if (field.required && card.attributes[field.key] === undefined) {
          faults.push(`${card.external_id}: ${field.key} is missing`);
        }
      }
    }
    expect(faults).toEqual([]);
  });

  it('links products to release cycles that are known, with the dates that it tells itself', () => {
    const known = new Map(bundledFacts().map(({ name, cycles }) => [name, cycles]));
    const linked = landscape.cards.filter((card) => card.attributes[EOL_PRODUCT] !== undefined);
    expect(linked.length).toBeGreaterThan(10);
    for (const { external_id, attributes, lifecycle } of linked) {
      const cycles = known.get(attributes[EOL_PRODUCT] as string);
      const cycle = cycles?.find((one) => one.cycle === attributes[EOL_CYCLE]);
      const ends = [cycle?.support_until, cycle?.eol_from];
      expect(ends, external_id).toContain(lifecycle?.endOfLife);
    }
  });

  it('tells of each card in at least one sentence, never twice the same', () => {
    for (const card of landscape.cards) expect(card.description, card.external_id).toMatch(/^[A-Z].{20,}\.$/);
    expect(new Set(landscape.cards.map((card) => card.description)).size).toBe(landscape.cards.length);
  });

  it('orders the phases of every lifecycle', () => {
    const withLifecycle = landscape.cards.filter((card) => card.lifecycle);
    expect(withLifecycle.length).toBeGreaterThan(100);
    for (const card of withLifecycle) {
      const days = lifecyclePhases.flatMap((phase) => card.lifecycle![phase] ?? []);
      expect(Object.keys(card.lifecycle!).length, card.external_id).toBe(days.length);
      expect(days.every(realDate), card.external_id).toBe(true);
      expect(days.toSorted(), card.external_id).toEqual(days);
    }
  });

  it('relates existing cards as the relation types allow, once each', () => {
    const faults: string[] = [];
    const seen = new Set<string>();
    for (const relation of landscape.relations) {
      const label = `${relation.type} ${relation.source_external_id} ${relation.target_external_id}`;
      const type = relationTypes.get(relation.type);
      if (cards.get(relation.source_external_id)?.type !== type?.source_type_key)
        faults.push(`${label}: source`);
      if (cards.get(relation.target_external_id)?.type !== type?.target_type_key)
        faults.push(`${label}: target`);
      if (relation.source_external_id === relation.target_external_id) faults.push(`${label}: itself`);
      if (seen.has(label)) faults.push(`${label}: twice`);
      seen.add(label);
      for (const [key, value] of Object.entries(relation.attributes ?? {})) {
        const wrong = fault(
          type?.attributes_schema.find((attribute) => attribute.key === key),
          value,
        );
        if (wrong) faults.push(`${label}: ${key} ${wrong}`);
      }
    }
    expect(faults).toEqual([]);
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
        if (group?.mode === 'single') {
          expect(
            used.filter(([name]) => name === groupName),
            card.external_id,
          ).toHaveLength(1);
        }
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

describe('adding months', () => {
  it('keeps the day where it exists and takes the month\u2019s last day otherwise', () => {
    expect(addMonths('2026-01-31', 1)).toBe('2026-02-28');
    expect(addMonths('2028-01-31', 1)).toBe('2028-02-29');
    expect(addMonths('2026-03-15', -3)).toBe('2025-12-15');
    expect(addMonths('2026-11-21', 14)).toBe('2028-01-21');
  });
});

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { parse } from 'csv-parse/sync';
import { cardTypeSeeds, relationTypeSeeds } from '../../domain/inventory/metamodel/metamodel.seeds.data.ts';
import { lifecyclePhases } from '../../domain/kernel/metamodel/metamodel.types.ts';
import { benchExtraFields } from '../bench/landscape/attributes.ts';
import { type BenchCard, benchCards } from '../bench/landscape/cards.ts';
import { writeLandscape } from '../bench/landscape/csv.ts';
import { benchTags, benchUsers } from '../bench/landscape/people.ts';
import { benchRelations } from '../bench/landscape/relations.ts';

const size = { cards: 20_000, relations: 60_000, seed: 42 };
const cards = [...benchCards(size)];
const byId = new Map(cards.map((card) => [card.external_id, card]));
const share = (test: (card: BenchCard) => boolean) => cards.filter(test).length / cards.length;
const computed = new Map(
  cardTypeSeeds.map((type) => [
    type.key,
    type.fields_schema.flatMap((section) => section.fields).filter((field) => field.readonly).length,
  ]),
);

function depth(card: BenchCard): number {
  return card.parent_external_id === undefined ? 1 : 1 + depth(byId.get(card.parent_external_id)!);
}

describe('the cards of the bench landscape', () => {
  it('spread over the types as asked', () => {
    expect(cards).toHaveLength(size.cards);
    for (const [type, wanted] of Object.entries({
      Application: 0.4,
      ITComponent: 0.2,
      Interface: 0.1,
      BusinessCapability: 0.1,
    }))
      expect(share((card) => card.type === type)).toBeCloseTo(wanted, 3);
    expect(new Set(cards.map((card) => card.type))).toEqual(new Set(cardTypeSeeds.map((type) => type.key)));
  });

  it('have each identity once, each name once among siblings, and parents before children', () => {
    expect(byId.size).toBe(cards.length);
    const names = new Set(
      cards.map((card) => `${card.type}/${card.parent_external_id}/${card.name.toLowerCase()}`),
    );
    expect(names.size).toBe(cards.length);
    const seen = new Set<string>();
    for (const card of cards) {
      if (card.parent_external_id !== undefined) expect(seen.has(card.parent_external_id)).toBe(true);
      seen.add(card.external_id);
    }
    const capabilities = cards.filter((card) => card.type === 'BusinessCapability');
    expect(new Set(capabilities.map(depth))).toEqual(new Set([1, 2, 3, 4, 5]));
  });

  it('have 8 to 12 attributes of their type, with the required ones and a cost', () => {
    for (const card of cards) {
      const type = cardTypeSeeds.find((seed) => seed.key === card.type)!;
      const own = type.fields_schema.flatMap((section) => section.fields);
      const extra = benchExtraFields.find((fields) => fields.type === card.type)!.section.fields;
      const fields = [...own, ...extra];
      const keys = Object.keys(card.attributes);
      const filled = keys.length + computed.get(card.type)!;
      expect(filled).toBeGreaterThanOrEqual(8);
      expect(filled).toBeLessThanOrEqual(12);
      expect(fields.map((field) => field.key)).toEqual(expect.arrayContaining(keys));
      for (const field of fields) if (field.required) expect(keys).toContain(field.key);
      expect(keys.some((key) => fields.find((field) => field.key === key)!.type === 'cost')).toBe(true);
    }
  });

  it('have descriptions of 150 characters, half of them a lifecycle, a tag and a stakeholder, and 5 % are archived', () => {
    const lengths = cards.map((card) => card.description.length);
    expect(lengths.reduce((sum, length) => sum + length, 0) / cards.length).toBeGreaterThan(147);
    expect(lengths.reduce((sum, length) => sum + length, 0) / cards.length).toBeLessThan(153);
    expect(share((card) => card.lifecycle !== undefined)).toBeCloseTo(0.5, 1);
    expect(share((card) => card.tags !== undefined)).toBeCloseTo(0.5, 1);
    expect(share((card) => card.stakeholders !== undefined)).toBeCloseTo(0.5, 1);
    const archived = share((card) => card.status === 'ARCHIVED');
    expect(archived).toBeGreaterThan(0.045);
    expect(archived).toBeLessThan(0.055);
  });

  it('name tags and people that the bench makes, and phases in order', () => {
    const emails = new Set(benchUsers.map((user) => user.email));
    for (const card of cards) {
      for (const tag of card.tags ?? []) expect(benchTags).toContain(tag);
      for (const holder of card.stakeholders ?? []) expect(emails.has(holder.split(':')[1]!)).toBe(true);
      const days = lifecyclePhases.flatMap((phase) => card.lifecycle?.[phase] ?? []);
      expect(days.toSorted()).toEqual(days);
    }
  });

  it('archive no card that has children', () => {
    const parents = new Set(cards.map((card) => card.parent_external_id));
    expect(cards.filter((card) => card.status === 'ARCHIVED' && parents.has(card.external_id))).toEqual([]);
  });

  it('are the same for the same seed and others for another', () => {
    const first = (seed: number) => benchCards({ cards: 1_000, seed }).take(50).toArray();
    expect(first(7)).toEqual(first(7));
    expect(first(7)).not.toEqual(first(8));
  });
});

describe('the relations of the bench landscape', () => {
  const relations = [...benchRelations(size)];

  it('fit the metamodel and the cards, none twice', () => {
    expect(relations).toHaveLength(size.relations);
    const types = new Map(relationTypeSeeds.map((type) => [type.key, type]));
    const seen = new Set<string>();
    for (const { type, source_external_id, target_external_id, attributes } of relations) {
      seen.add(`${type} ${source_external_id} ${target_external_id}`);
      expect(byId.get(source_external_id)?.type).toBe(types.get(type)!.source_type_key);
      expect(byId.get(target_external_id)?.type).toBe(types.get(type)!.target_type_key);
      const known = types.get(type)!.attributes_schema.map((attribute) => attribute.key);
      expect(known).toEqual(expect.arrayContaining(Object.keys(attributes)));
    }
    expect(seen.size).toBe(relations.length);
  });

  it('are skewed: one card has a sixtieth of them, and one in a hundred over a hundred', () => {
    const degrees = new Map<string, number>();
    for (const { source_external_id, target_external_id } of relations) {
      for (const end of [source_external_id, target_external_id])
        degrees.set(end, (degrees.get(end) ?? 0) + 1);
    }
    const counts = [...degrees.values()].sort((a, b) => b - a);
    expect(counts[0]).toBe(size.relations / 60);
    expect(counts[1]).toBeLessThan(counts[0]!);
    const over = counts.filter((count) => count > 100).length / size.cards;
    expect(over).toBeGreaterThanOrEqual(0.0095);
    expect(over).toBeLessThanOrEqual(0.012);
  });
});

it('the files of the bench landscape hold every card and relation in import columns', async () => {
  const out = await mkdtemp(path.join(os.tmpdir(), 'bench-files-'));
  try {
    const small = { cards: 1_000, relations: 3_000, seed: 3 };
    const files = await writeLandscape({ out, ...small });
    const read = async (file: string) =>
      parse(await readFile(file), { columns: true }) as Record<string, string>[];
    const cardRows = await read(files.cardsFile);
    const [first] = benchCards(small);
    expect(cardRows).toHaveLength(1_000);
    const card = cardRows[0];
    expect(card).toMatchObject({ type: first!.type, external_id: first!.external_id, name: first!.name });
    for (const [key, value] of Object.entries(first!.attributes))
      expect(cardRows[0]![`attributes.${key}`]).toBe(String(value));
    expect(await read(files.relationsFile)).toHaveLength(3_000);
  } finally {
    await rm(out, { recursive: true, force: true });
  }
});

import type { MatchField } from '../../../integrations/analysis/matching/matching.types.ts';
import { type Judged, List, type Values } from './judged.ts';
import { DIFFERENCES } from './lists.ts';
import { Random, split } from './random.ts';
import words from './words.json' with { type: 'json' };

const { subjects, roles, own } = words.applications;

const FIELDS: MatchField[] = [
  { name: 'name', kind: 'name', without: 'vendor' },
  { name: 'description', kind: 'text', weight: 0.5 },
  { name: 'vendor', kind: 'name', weight: 0.5 },
  { name: 'criticality', kind: 'choice', weight: 0.25 },
  { name: 'hosting', kind: 'choice', weight: 0.25 },
  { name: 'cost', kind: 'number', weight: 0.25 },
  { name: 'parent', kind: 'choice', weight: 0.5 },
  { name: 'relations', kind: 'set', weight: 0.5 },
];

interface CardPlan {
  size: number;
  copies: number;
  /** Whose description a copy has: none at all, that of its original, one of its own, or any of these. */
  description: 'none' | 'same' | 'own' | 'mixed';
  /** The share of filled attributes. */
  filled: number;
  /** The share of copies that have the attributes of their original; the others have random ones. */
  agreeing: number;
}

/** Cards some of which are there twice, and differ in their name, description and attributes. */
export function cards({ size, copies, description, filled, agreeing }: CardPlan, seed: number): Judged {
  const random = new Random(seed);
  const names = new Set<string>();
  const kinds = [
    () => `${random.of(subjects)} ${random.of(roles)}`,
    () => `${random.of(own)} ${random.of(subjects)} ${random.of(roles)}`,
    () => `${random.word()} ${random.of(roles)}`,
    () => random.word(),
    () => `${random.of(subjects)} ${random.of(subjects)} ${random.of(roles)}`,
  ];
  while (names.size < size - copies) names.add(random.of(kinds)());
  const text = () =>
    `${random.of(roles)} for ${random.of(subjects).toLowerCase()} and ${random.word()}, run by ${random.of(own)} with ${random.of(subjects).toLowerCase()} ${random.word()}`;
  const given = <T>(value: T) => (random.happens(filled) ? value : null);
  const attributes = () => ({
    vendor: given(random.of(split('Acmesoft Norvik Halden Brisk Corvo Delphin'))),
    criticality: given(random.of(split('low medium high'))),
    hosting: given(random.of(split('cloud onPremise saas'))),
    cost: given(1_000 * (1 + random.below(200))),
    parent: given(`p${random.below(12)}`),
    relations: given([`i${random.below(40)}`, `i${random.below(40)}`]),
  });
  const list = new List();
  const originals = [...names].map((name) => ({
    name,
    description: description === 'none' ? null : text(),
    ...attributes(),
  }));
  for (const [at, values] of originals.entries()) list.add(at, values);
  const differences = ['copy', 'case', 'spacing', 'order', 'filler', 'slip'];
  for (let at = 0; at < copies; at++) {
    const original = originals[at]!;
    const whose = description === 'mixed' ? random.of(['same', 'own', 'none']) : description;
    list.add(at, {
      ...(random.happens(agreeing) ? original : attributes()),
      name: DIFFERENCES[differences[at % differences.length]!]!(random, original.name),
      description: whose === 'same' ? original.description : whose === 'own' ? text() : null,
    } satisfies Values);
  }
  return list.judged(`cards ${JSON.stringify({ size, description, filled, agreeing })}`, FIELDS);
}

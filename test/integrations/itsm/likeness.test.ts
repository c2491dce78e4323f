import { expect, it } from 'vitest';
import type { Thing } from '../../../integrations/itsm/engine/match.ts';
import { matchByScore } from '../../../integrations/itsm/engine/match.ts';
import { likeness, type Parts } from '../../../integrations/itsm/runs/run.score.ts';
import { evaluate, mappingOf } from './histories/landscape.ts';

const mapping = mappingOf({
  rules: [],
  deletion: 'strict',
  tombstones: true,
  looks: true,
  marks: true,
  normalising: false,
  quarantine: 0,
});
const words = [
  'payroll',
  'ledger',
  'archive',
  'gateway',
  'portal',
  'cluster',
  'fleet',
  'radar',
  'canteen',
  'badge',
];
const nameOf = (at: number) => `${words[at % 10]} ${words[Math.floor(at / 10) % 10]} ${1_000 + at * 37}`;
const things = (side: string, count: number, from: number): Thing[] =>
  Array.from({ length: count }, (_, at) => ({
    id: `${side}${String(at).padStart(3, '0')}`,
    fields: { name: nameOf(from + at), 'attributes.note': evaluate('bare', 'x'.repeat(5_000)) },
  }));

it('is the same for many records and cards in parts as for few at once', async () => {
  // cards from 0, records from 50 on: the first hundred records have a card each
  const cards = things('c', 150, 0);
  const records = things('r', 150, 50);
  const links = async (parts: Parts) => {
    const scored = await likeness(mapping, new AbortController().signal, parts)(records, cards);
    return [...matchByScore(scored)].flatMap(([id, match]) =>
      match.kind === 'link' ? [`${id} ${match.cardId}`] : [],
    );
  };
  const whole = await links({ whole: 1_000, records: 1, cards: 1 });
  expect(whole.length).toBeGreaterThan(90);
  const inParts = await links({ whole: 100, records: 60, cards: 90 });
  expect(inParts.filter((link) => !whole.includes(link))).toEqual([]);
  expect(inParts.length).toBeGreaterThan(90);
});

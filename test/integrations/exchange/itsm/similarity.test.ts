import type { Vocabulary } from '../../../../integrations/analysis/matching/matching.types.ts';
import { matchByScore } from '../../../../integrations/exchange/itsm/engine/match.ts';
import type { MatchItem } from '../../../../integrations/exchange/itsm/engine/plan.types.ts';
import { type PartSizes, scoreSimilar } from '../../../../integrations/exchange/itsm/runs/run.score.ts';
import { evaluate, mappingOf } from './histories/landscape.ts';

const mapping = mappingOf();
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
const things = (side: string, count: number, from: number): MatchItem[] =>
  Array.from({ length: count }, (_, at) => ({
    id: `${side}${String(at).padStart(3, '0')}`,
    fields: { name: nameOf(from + at), 'attributes.note': evaluate('bare', 'x'.repeat(5_000)) },
  }));

it('similarity in parts equals similarity at once', async () => {
  // cards from 0, records from 50 on: the first hundred records have a card each
  const cards = things('c', 150, 0);
  const records = things('r', 150, 50);
  const links = async (parts: PartSizes) => {
    const scored = await scoreSimilar(mapping, { records, cards }, new AbortController().signal, parts);
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

it('pairs with different identity codes are not linked, and reviewed only if the name is the same', async () => {
  const text = { ...mapping.fields.find(({ card_field: path }) => path === 'name')!, is_identity: false };
  const withSerial = {
    ...mapping,
    fields: [text, { ...text, card_field: 'external_id', is_identity: true }],
  };
  const products = [
    'Windows Server 11',
    'Windows Server 19c',
    'Oracle Database 19c',
    'Red Hat Linux 9',
    'SAP HANA 2',
  ];
  const cards = Array.from({ length: 600 }, (_, at) => ({
    id: `c${at}`,
    fields: { name: `${products[at % 5]} #${at}`, external_id: `ITC-${String(at).padStart(4, '0')}` },
  }));
  const records = Array.from({ length: 300 }, (_, at) => ({
    id: `r${at}`,
    fields: { name: `srv-ä${String(at).padStart(4, '0')}`, external_id: `SN${String(at).padStart(5, '0')}` },
  }));
  cards.push({ id: 'c-same', fields: { name: 'Canteen payroll gateway', external_id: 'ITC-9999' } });
  records.push({ id: 'r-same', fields: { name: 'Canteen payroll gateway', external_id: 'SN99998' } });
  const scored = await scoreSimilar(withSerial, { records, cards }, new AbortController().signal);
  expect(scored.filter(({ verdict }) => verdict === 'match')).toEqual([]);
  const asked = scored.filter(({ verdict }) => verdict === 'possible');
  expect(asked.map(({ remoteId, cardId }) => `${remoteId} ${cardId}`)).toEqual(['r-same c-same']);
});

it.each([
  ['two cards', ['Nimbus Trading GmbH', 'Nimbus Trading Ltd.'], ['Nimbus Trading'], [2]],
  ['cards of one name', Array.from({ length: 12 }, () => 'Customs'), ['Customs'], [12]],
  ['two records', ['Pelican GmbH'], ['Pelican', 'Pelican Ltd'], [1, 1]],
] as const)(
  'records and cards that match equally become review items: %s',
  async (_, cards, records, candidates) => {
    const named = (name: string, at: number) => ({ id: String(at), fields: { name } });
    const scored = await scoreSimilar(
      mapping,
      { records: records.map(named), cards: [...cards, ...words.map((word) => `${word} office`)].map(named) },
      new AbortController().signal,
    );
    const matches = [...matchByScore(scored).values()];
    expect(matches.map((match) => (match.kind === 'stage' ? match.candidates.length : match))).toEqual(
      candidates,
    );
  },
);

it('names that are equal by the vocabulary of the workspace are linked', async () => {
  const cards = [...things('c', 60, 0), { id: 'own', fields: { name: 'Bestellwesen Graz' } }];
  const records = [...things('r', 60, 0), { id: 'other', fields: { name: 'Order Management Graz' } }];
  const linked = async (vocabulary?: Vocabulary) => {
    const scored = await scoreSimilar(mapping, { records, cards, vocabulary }, new AbortController().signal);
    const match = matchByScore(scored).get('other');
    return match?.kind === 'link' ? match.cardId : undefined;
  };
  expect(await linked()).toBeUndefined();
  expect(await linked({ synonyms: [['Order Management', 'Bestellwesen']], vendors: [] })).toBe('own');
});

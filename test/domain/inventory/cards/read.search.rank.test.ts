import fc from 'fast-check';
import {
  type CardListMemory,
  createCardListMemory,
  listCards,
} from '../../../../domain/inventory/cards/cards.list.ts';
import {
  type Candidate,
  queryWords,
  rankCandidates,
  selectiveWords,
  typoPatterns,
  typosAllowed,
} from '../../../../domain/inventory/cards/cards.search.ts';
import { query } from '../../../../platform/database.ts';
import { editDistance } from '../../../../platform/edit-distance.ts';
import { closeAfterAll, createTestServices } from '../../../support/harness.ts';
import { forAll } from '../../../support/property.ts';

const candidate = (name: string, more: Partial<Candidate> = {}): Candidate => ({
  id: name,
  name,
  alias: null,
  externalId: null,
  complete: false,
  ...more,
});

const ranked = (query: string, candidates: Candidate[]) =>
  rankCandidates(query, queryWords(query), candidates).map(({ name }) => name);

describe('the distance of two words', () => {
  it.each([
    ['claims', 'claims', 0],
    ['claims', 'clams', 1],
    ['claims', 'claimss', 1],
    ['claims', 'clasms', 1],
    ['claims', 'calims', 1],
    ['claims', 'portal', 3],
    ['', 'ab', 2],
  ])('%s and %s', (a, b, expected) => expect(editDistance(a, b, 2)).toBe(expected));

  it('is the same both ways and never more than one beyond the limit', () => {
    const word = fc.string({ maxLength: 8, unit: fc.constantFrom('a', 'b', 'c') });
    forAll(100, [word, word, fc.nat(4)], (a, b, most) => {
      const distance = editDistance(a, b, most);
      expect(distance).toBe(editDistance(b, a, most));
      expect(distance).toBeLessThanOrEqual(most + 1);
      expect(distance === 0).toBe(a === b);
    });
  });
});

describe('patterns for misspelt words', () => {
  const letters = 'abcdefghijklmnopqrstuvwxyz';
  it('fit every word that is one typo away', () =>
    forAll(
      100,
      [
        fc.string({ minLength: 5, maxLength: 12, unit: fc.constantFrom(...letters) }),
        fc.nat(),
        fc.constantFrom('drop', 'add', 'change', 'swap'),
        fc.constantFrom(...letters),
      ],
      (word, at, kind, letter) => {
        const i = at % word.length;
        const typed = {
          drop: word.slice(0, i) + word.slice(i + 1),
          add: word.slice(0, i) + letter + word.slice(i),
          change: word.slice(0, i) + letter + word.slice(i + 1),
          swap: word.slice(0, i) + (word[i + 1] ?? '') + word[i] + word.slice(i + 2),
        }[kind];
        if (typosAllowed(typed) === 0 || typed.length < 5) return;
        const text = ` ${word} `;
        expect(typoPatterns(typed).some((pattern) => text.includes(pattern.slice(1, -1)))).toBe(true);
      },
    ));

  it('are not made of short words and numbers', () => {
    expect(typoPatterns('sap')).toEqual([]);
    expect(typoPatterns('2019')).toEqual([]);
    expect(typoPatterns('win10')).toEqual([]);
  });

  it('leave the telling words of a query', () => {
    expect(selectiveWords(['open', 'claims', 'in', '3'])).toEqual(['open', 'claims']);
    expect(selectiveWords(['sap', 'crm', 'v2'])).toEqual(['sap', 'crm']);
    expect(selectiveWords(['kafka', '3'])).toEqual(['kafka', '3']);
  });
});

describe('the ranking', () => {
  it('puts exact before beginning before misspelt, and the name before all else', () => {
    const cards = [
      candidate('clamis'),
      candidate('other', { alias: 'claims' }),
      candidate('something', { complete: true }),
      candidate('handling of claims'),
      candidate('claims'),
      candidate('claimsworks'),
      candidate('claims desk'),
      candidate('another', { alias: 'claims and more' }),
    ];
    expect(ranked('claims', cards)).toEqual([
      'claims',
      'other',
      'claims desk',
      'claimsworks',
      'handling of claims',
      'another',
      'clamis',
      'something',
    ]);
  });

  it('wants every word, and one missing only where no card has them all', () => {
    const pair = [candidate('data hub'), candidate('data lake')];
    expect(ranked('data hub', pair)).toEqual(['data hub']);
    expect(ranked('data swamp', pair)).toEqual(['data hub', 'data lake']);
    expect(ranked('swamp', pair)).toEqual([]);
  });

  it('forgives a blank too many or too few', () => {
    const cards = [candidate('customer data hub'), candidate('customer'), candidate('data')];
    expect(ranked('customerdata hub', cards)[0]).toBe('customer data hub');
    expect(ranked('cust omer data hub', cards)[0]).toBe('customer data hub');
    expect(ranked('customer dat ahub', cards)[0]).toBe('customer data hub');
  });

  it('takes numbers as they are', () =>
    expect(ranked('server 2019', [candidate('server 2018'), candidate('server 2019')])).toEqual([
      'server 2019',
    ]));

  it('does not depend on the order of the candidates', () => {
    const cards = ['b desk', 'a desk', 'desk', 'deks', 'desktop', 'my desk'].map((name) => candidate(name));
    forAll(100, [fc.shuffledSubarray(cards, { minLength: cards.length })], (shuffled) => {
      expect(ranked('desk', shuffled)).toEqual(ranked('desk', cards));
    });
  });
});

const CARDS = 6000;
const SIZE = 50;
const t = closeAfterAll(await createTestServices());
const { db } = t.services;
await query(db).run`
     insert into cards (type, subtype, name, status, approval_status, data_quality, attributes, updated_at)
     select 'Application', (array['businessApplication', 'microservice', null])[n % 3 + 1], md5(n::text) || n,
            case when n % 10 = 0 then 'ARCHIVED' else 'ACTIVE' end,
            (array['DRAFT', 'APPROVED', 'BROKEN'])[n % 7 % 3 + 1], n % 101,
            jsonb_build_object('numberOfUsers', n % 50), now() + (n % 13) * interval '1 second'
     from generate_series(1, ${CARDS}) n`;

const idsOf = async (
  memory: CardListMemory,
  topics: Map<string, number>,
  params: Record<string, unknown>,
) => {
  const request = { page: 1, page_size: SIZE, fields: 'id', ...params };
  const { items, total } = JSON.parse(await listCards(await t.ctx(), request, { memory, topics })) as {
    items: { id: string }[];
    total: number;
  };
  return { ids: items.map(({ id }) => id), total };
};

it.each([
  ['name', 'asc', 'name_key'],
  ['name', 'desc', 'name_key'],
  ['type', 'asc', 'type'],
  ['subtype', 'desc', "coalesce(subtype, '')"],
  ['status', 'asc', 'status'],
  ['approval_status', 'desc', 'approval_status'],
  ['data_quality', 'desc', 'data_quality'],
  ['created_at', 'asc', 'created_at'],
  ['updated_at', 'desc', 'updated_at'],
  ['attributes.numberOfUsers', 'desc', "(attributes ->> 'numberOfUsers')::int"],
] as const)('by %s %s are the parts of the whole, from either end', async (sort_by, sort_dir, by) => {
  const { rows } = await db.raw(
    `select id from cards where status = 'ACTIVE' order by ${by} ${sort_dir}, id ${sort_dir}`,
  );
  const all = rows.map(({ id }: { id: string }) => id);
  const memory = createCardListMemory();
  const pages = Math.ceil(all.length / SIZE);
  for (const page of [1, 40, pages / 2, pages / 2 + 1, 81, pages, pages + 1]) {
    const { ids, total } = await idsOf(memory, new Map(), { page, sort_by, sort_dir });
    expect(total).toBe(all.length);
    expect(ids).toEqual(all.slice((page - 1) * SIZE, page * SIZE));
  }
});

it('follow changes once their topic has been raised', async () => {
  const memory = createCardListMemory();
  const params = { page: 60, sort_by: 'name' };
  const before = await idsOf(memory, new Map([['cards:Application', 1]]), params);
  await idsOf(memory, new Map([['cards:Application', 1]]), params);
  await db('cards').insert({ type: 'Application', name: '!first of all' });
  const after = await idsOf(memory, new Map([['cards:Application', 2]]), params);
  expect(after.total).toBe(before.total + 1);
  expect(after.ids.slice(1)).toEqual(before.ids.slice(0, -1));
});

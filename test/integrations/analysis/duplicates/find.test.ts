import { openSearch } from '../../../../integrations/analysis/duplicates/find.ts';
import type { SearchLimits } from '../../../../integrations/analysis/duplicates/find.types.ts';
import type { MatchField } from '../../../../integrations/analysis/matching/matching.types.ts';
import { unpack } from '../../../../platform/pack.ts';

const fields: MatchField[] = [
  { name: 'name', kind: 'name', without: 'vendor' },
  { name: 'description', kind: 'text', weight: 0.5 },
];
const words = ['Ledger', 'Portal', 'Claims', 'Archive', 'Freight', 'Planner', 'Payroll'];
/** Each second card is a copy of the one before. */
const cards = Array.from({ length: 140 }, (_, at) => {
  const one = at >> 1;
  const name = `${words[one % 7]} ${words[(one * 3 + 1) % 7]} k${one * 7}z`;
  const values = { name: at % 2 ? `${name} (copy)` : name, description: `Of unit u${one % 11}` };
  return { id: `0000${1_000 + ((at * 37) % 140)}`, values };
}).sort((a, b) => (a.id < b.id ? -1 : 1));

async function* pagesOf(records = cards) {
  for (let from = 0; from < records.length; from += 30) yield records.slice(from, from + 30);
}

const search = openSearch(new AbortController().signal);
afterAll(() => search.close());

const found = async (limits?: SearchLimits, previous?: { base: Buffer; snapshot: Buffer }) =>
  await search.find({
    ...{ fields, limits, decisions: [], vocabulary: undefined, records: pagesOf() },
    ...{ base: (previous?.base as never) ?? null, previous: (previous?.snapshot as never) ?? null },
    maySkip: previous !== undefined,
    onProgress: () => undefined,
  });

test('more cards than fit in memory are compared in parts, with the same result', async () => {
  const whole = (await found())!;
  const parts = (await found({ atOnce: 100, part: 40 }))!;
  expect(whole.pairs.length).toBeGreaterThanOrEqual(70);
  expect({ ...parts, base: unpack(parts.base) }).toEqual({
    ...whole,
    // the same numbers can be packed as integers or as floats, whichever the engine holds
    base: unpack(whole.base),
    snapshot: expect.anything(),
  });
  const last = { base: Buffer.from(parts.base), snapshot: Buffer.from(parts.snapshot) };
  // nothing has changed
  expect(await found({ atOnce: 100, part: 40 }, last)).toBeNull();
  const other = { base: Buffer.from(whole.base), snapshot: Buffer.from(whole.snapshot) };
  expect(await found(undefined, other)).toBeNull();
  // a snapshot of the other kind is not used
  expect((await found(undefined, last))!.work.changed).toBe(140);
  expect((await found({ atOnce: 100, part: 40 }, other))!.work.changed).toBe(140);
});

test('cards that need more memory than the thread has fail the search alone', async () => {
  const small = openSearch(new AbortController().signal, 24);
  const large = Array.from({ length: 40_000 }, (_, at) => ({
    id: `${1_000_000 + at}`,
    values: { name: `${words[at % 7]} k${at * 7}z ${at}`, description: `${'long '.repeat(40)}${at}` },
  }));
  await expect(
    small.find({
      ...{ fields, base: null, previous: null, decisions: [], vocabulary: undefined, maySkip: false },
      records: pagesOf(large),
      onProgress: () => undefined,
    }),
  ).rejects.toMatchObject({ code: 'query_too_heavy', message: expect.stringContaining('24 MB') });
  small.close();
});

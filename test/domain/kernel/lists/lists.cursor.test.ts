import fc from 'fast-check';
import { runList } from '../../../../domain/kernel/lists/lists.run.ts';
import type { Condition, ListSpec } from '../../../../domain/kernel/lists/lists.types.ts';
import { closeAfterAll, createTestServices } from '../../../support/harness.ts';
import { forAllAsync } from '../../../support/property.ts';

const OWNER = '11111111-1111-4111-8111-111111111111';
const OTHER = '22222222-2222-4222-8222-222222222222';

const spec: ListSpec = {
  name: 'things',
  from: 'things t',
  id: 't.id',
  idType: 'bigint',
  sorts: {
    name: { sql: 't.name', type: 'text' },
    made: { sql: 't.made', type: 'timestamptz', immutable: true },
    weight: { sql: 't.weight', type: 'numeric', immutable: true },
  },
  defaultSort: 'name',
  defaultDir: 'asc',
  members: { id: 't.id', name: 't.name' },
  search: 'lower(t.name)',
};

const t = closeAfterAll(await createTestServices());
await t.services.db.raw(`create table things (id bigint primary key, name text, weight numeric not null,
    made timestamptz not null default now())`);

beforeEach(() => t.services.db.raw('truncate things, list_snapshots cascade'));

const put = (rows: { id: number; name: string | null; weight?: number; made?: string }[]) =>
  t.services.db('things').insert(rows.map((row) => ({ weight: 0, ...row })));

/** Rows n1, n2 and so on. */
const number = (most: number) =>
  put(Array.from({ length: most }, (_, n) => ({ id: n + 1, name: `n${n + 1}` })));

type Page = { items: { id: number; name: string | null }[]; next_cursor: string | null };

type Request = { sort_by?: string; sort_dir?: 'asc' | 'desc'; page_size?: number; search?: string };

const page = async (
  cursor: string,
  request: Request = {},
  owner: string | null = OWNER,
  conditions: Condition[] = [],
) => {
  const params = { page: 1, page_size: 3, ...request, cursor };
  return JSON.parse(
    await runList({ db: t.services.db, caller: { userId: owner } }, spec, conditions, params),
  ) as Page;
};

const idsOf = ({ items }: Page) => items.map(({ id }) => id);

/** All ids, page by page; `between` is called after each page. */
async function traverse(request: Request, between = async () => {}): Promise<number[]> {
  const seen: number[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const part: Page = await page(cursor, request);
    seen.push(...idsOf(part));
    cursor = part.next_cursor;
    await between();
  }
  return seen;
}

const mismatch = [422, 'cursor_mismatch', 'cursor_mismatch'];
const expired = [422, 'cursor_expired', 'cursor_expired'];

const rejected = async (promise: Promise<unknown>) => {
  const { code, status, errors } = (await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )) as { code: string; status: number; errors: { code: string }[] };
  return [status, code, errors[0]!.code];
};

describe('a traversal by cursor', () => {
  it.each(['name', 'made', 'weight'])(
    'along %s shows every row that is there throughout exactly once, whatever is written meanwhile',
    (sortBy) =>
      forAllAsync(
        25,
        [
          fc.array(fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd', null), weight: fc.nat(3) }), {
            maxLength: 25,
          }),
          fc.array(
            fc.record({ row: fc.nat(30), name: fc.constantFrom('a', 'c', 'e', null), gone: fc.boolean() }),
            { maxLength: 12 },
          ),
          fc.integer({ min: 1, max: 4 }),
          fc.constantFrom('asc' as const, 'desc' as const),
        ],
        async (rows, writes, pageSize, dir) => {
          await t.services.db.raw('truncate things, list_snapshots cascade');
          if (rows.length > 0) await put(rows.map((row, n) => ({ id: n, ...row })));
          const throughout = new Set(rows.map((_, n) => n));
          let added = 1000;
          const seen = await traverse({ sort_by: sortBy, sort_dir: dir, page_size: pageSize }, async () => {
            const write = writes.pop();
            if (!write) return;
            if (write.gone) {
              await t.services.db('things').where({ id: write.row }).delete();
              throughout.delete(write.row);
              await put([{ id: added, name: write.name }]);
              added += 1;
            } else {
              await t.services.db('things').where({ id: write.row }).update({ name: write.name });
            }
          });
          expect(new Set(seen).size).toBe(seen.length);
          for (const id of throughout) expect(seen).toContain(id);
        },
      ),
  );

  it('keeps the order that it began with', async () => {
    await number(7);
    const first = await page('');
    await t.services.db('things').where({ id: 7 }).update({ name: 'a' });
    await t.services.db('things').where({ id: 1 }).update({ name: 'z' });
    await t.services.db('things').where({ id: 5 }).delete();
    const second = await page(first.next_cursor!);
    const third = await page(second.next_cursor!);
    expect([first, second, third].map(idsOf)).toEqual([[1, 2, 3], [4, 6], [7]]);
    expect(third.next_cursor).toBeNull();
    expect(third.items[0]!.name).toBe('a');
  });

  it('passes over pages that are gone as a whole', async () => {
    await number(10);
    const first = await page('', { sort_by: 'name' });
    await t.services.db('things').whereIn('name', ['n3', 'n4', 'n5']).delete();
    expect(idsOf(first)).toEqual([1, 10, 2]);
    expect(idsOf(await page(first.next_cursor!))).toEqual([6, 7, 8]);
  });

  it('stores nothing where all fits on one page', async () => {
    await put([{ id: 1, name: 'one' }]);
    expect(await page('')).toMatchObject({ items: [{ id: 1 }], next_cursor: null });
    expect(await t.services.db('list_snapshots').select()).toEqual([]);
  });

  it('leaves out what the caller may no longer see, and goes on when only rights have changed', async () => {
    await number(6);
    const seen = (least: number): Condition[] => [
      { sql: 't.id > ?', bindings: [least], visibility: true },
      { sql: 't.weight = ?', bindings: [0] },
    ];
    const first = await page('', {}, OWNER, seen(0));
    expect(idsOf(await page(first.next_cursor!, {}, OWNER, seen(5)))).toEqual([6]);
    expect(await rejected(page(first.next_cursor!, {}, OWNER, seen(0).slice(0, 1)))).toEqual(mismatch);
  });

  it('belongs to its filter, its order and its user', async () => {
    await number(6);
    const { next_cursor } = await page('');
    expect(await rejected(page(next_cursor!, { sort_dir: 'desc' }))).toEqual(mismatch);
    expect(await rejected(page(next_cursor!, { sort_by: 'made' }))).toEqual(mismatch);
    expect(await rejected(page(next_cursor!, { search: 'n' }))).toEqual(mismatch);
    expect(await rejected(page(next_cursor!, {}, OTHER))).toEqual(expired);
    expect((await page(next_cursor!, { page_size: 1 })).items).toHaveLength(1);
  });

  it('ends an hour after its last use, and when its user has begun twenty others', async () => {
    await number(6);
    const first = await page('');
    await t.services.db.raw(`update list_snapshots set used_at = now() - interval '59 minutes'`);
    expect((await page(first.next_cursor!)).items).toHaveLength(3);
    const [snapshot] = await t.services
      .db('list_snapshots')
      .select(t.services.db.raw(`used_at > now() - interval '1 minute' as fresh`));
    expect(snapshot.fresh).toBe(true);
    await t.services.db.raw(`update list_snapshots set used_at = now() - interval '61 minutes'`);
    expect(await rejected(page(first.next_cursor!))).toEqual(expired);

    const one = await page('');
    await t.services.db.raw(`update list_snapshots set used_at = now() - interval '1 second'`);
    for (let n = 0; n < 20; n += 1) await page('');
    expect(await rejected(page(one.next_cursor!))).toEqual(expired);
    expect(await t.services.db('list_snapshots').select()).toHaveLength(20);
    const [chunks] = await t.services.db('list_snapshot_chunks').count();
    expect(chunks!.count).toBe(20);
  });

  it('walks over chunk borders', async () => {
    await t.services.db.raw(`insert into things (id, name, weight) select n, lpad(n::text, 6, '0'), 0
        from generate_series(1, 2500) n`);
    expect(await traverse({ page_size: 170 })).toEqual(Array.from({ length: 2500 }, (_, n) => n + 1));
  });
});

describe('a cursor that was tampered with', () => {
  const forge = (parts: unknown) => Buffer.from(JSON.stringify(parts)).toString('base64url');
  const boundOf = async (request: Request) => {
    const { next_cursor } = await page('', request);
    return JSON.parse(Buffer.from(next_cursor!, 'base64url').toString())[0] as string;
  };

  beforeEach(() => number(6));

  it('is 422, never a failure', async () => {
    for (const sort_by of ['name', 'made', 'weight']) {
      const bound = await boundOf({ sort_by });
      const forged = [
        [bound, 'r', 'x', '1'],
        [bound, 'r', '2026-02-31 00:00:00+00', '1'],
        [bound, 'r', '0', '99999999999999999999999'],
        [bound, 'r', '1e999999', '1'],
        [bound, 'r', '\u0000', '1'],
        [bound, 's', 'x', '1'],
        [bound, 's', OTHER, '-1'],
        [bound, 's', OTHER, '999999999999'],
        [bound, 's', OTHER, 3],
        [bound, 'x', '1', '1'],
        [bound, 'r', '1'],
        { bound },
      ];
      for (const parts of forged)
        expect(await rejected(page(forge(parts), { sort_by }))).toEqual([
          422,
          'validation_failed',
          'malformed',
        ]);
      expect(await rejected(page(forge([bound, 's', OTHER, '3']), { sort_by }))).toEqual(expired);
    }
  });

  it('is 422 for any text', () =>
    forAllAsync(50, [fc.string({ minLength: 1 })], async (text) => {
      expect((await rejected(page(text)))[0]).toBe(422);
    }));
});

it('pages show every row once, from either end, empty values last', async () => {
  await put([
    { id: 1, name: 'b' },
    { id: 2, name: null },
    { id: 3, name: 'a' },
    { id: 4, name: 'b' },
    { id: 5, name: null },
  ]);
  for (const [sort_dir, expected] of [
    ['asc', [3, 1, 4, 2, 5]],
    ['desc', [4, 1, 3, 5, 2]],
  ] as const) {
    const seen: number[] = [];
    for (let n = 1; n <= 6; n += 1) {
      const params = { page: n, page_size: 1, sort_dir };
      const answer = JSON.parse(
        await runList({ db: t.services.db, caller: { userId: null } }, spec, [], params),
      );
      expect(answer).toMatchObject({ total: 5, page: n, page_size: 1 });
      seen.push(...answer.items.map((item: { id: number }) => item.id));
    }
    expect(seen).toEqual(expected);
  }
});

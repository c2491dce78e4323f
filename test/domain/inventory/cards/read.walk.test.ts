import { describe, expect, it } from 'vitest';
import {
  type CardListMemory,
  createCardListMemory,
  listCards,
} from '../../../../domain/inventory/cards/cards.list.ts';
import { closeAfterAll, createTestServices } from '../../../support/harness.ts';

const CARDS = 6000;
const SIZE = 50;

const t = closeAfterAll(await createTestServices());
await t.services.db.raw(
  `insert into cards (type, subtype, name, status, approval_status, data_quality, attributes, updated_at)
     select 'Application', (array['businessApplication', 'microservice', null])[n % 3 + 1], md5(n::text) || n,
            case when n % 10 = 0 then 'ARCHIVED' else 'ACTIVE' end,
            (array['DRAFT', 'APPROVED', 'BROKEN'])[n % 7 % 3 + 1], n % 101,
            jsonb_build_object('numberOfUsers', n % 50), now() + (n % 13) * interval '1 second'
     from generate_series(1, ?) n`,
  [CARDS],
);

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

describe('pages of a long list', () => {
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
    const { rows } = await t.services.db.raw(
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
    await t.services.db('cards').insert({ type: 'Application', name: '!first of all' });
    const after = await idsOf(memory, new Map([['cards:Application', 2]]), params);
    expect(after.total).toBe(before.total + 1);
    expect(after.ids.slice(1)).toEqual(before.ids.slice(0, -1));
  });
});

import type { ExportRequest } from '../../../../domain/exchange/exports/export.job.ts';
import { query } from '../../../../platform/database.ts';
import { entireTable, type Snapshot, withSnapshot } from '../../../../platform/snapshot.ts';
import { planExtraction } from '../../../../reports/exchange/extraction/extraction.plan.ts';
import { prepareExtraction } from '../../../../reports/exchange/extraction/extraction.write.ts';
import { benchCards } from '../../../bench/landscape/cards.ts';
import { closeAfterAll, createTestServices } from '../../../support/harness.ts';
import { Kept } from '../../kernel/formats/tables.ts';

const CARDS = 11_000;

const t = closeAfterAll(await createTestServices());
const { db } = t.services;
await query(db).run`
   insert into cards (type, subtype, name, alias, description, lifecycle, attributes, status, external_id,
     data_quality)
   select v.*, 50
   from jsonb_to_recordset(${JSON.stringify([...benchCards({ cards: CARDS, seed: 7 })])}::jsonb) as v(
     type text, subtype text, name text, alias text, description text,
     lifecycle jsonb, attributes jsonb, status text, external_id text)`;
await db.raw(`
  insert into users (email, display_name, role) values ('ada@estate.example', 'Ada', 'admin');
  with grp as (insert into tag_groups (name) values ('Region') returning id)
  insert into tags (tag_group_id, name) select id, 'North' from grp;
  insert into card_tags (card_id, tag_id)
  select c.id, t.id from cards c, tags t where t.name = 'North' and c.external_id like '%1';
  insert into stakeholders (card_id, user_id, role)
  select c.id, u.id, 'responsible' from cards c, users u
  where u.email = 'ada@estate.example' and c.external_id like '%2';
  with numbered as (select id, row_number() over (order by id) as n from cards)
  insert into relations (type, source_id, target_id, attributes, description)
  select 'relAppSuccessor', a.id, b.id, '{}', 'Agreed in ticket ' || a.n
  from numbered a join numbered b on b.n = a.n % ${CARDS} + 1;
  analyze`);

/** The snapshot, but that all ranges are read as one. */
const asOne = (snapshot: Snapshot): Snapshot => ({
  ...snapshot,
  ranges: (form, _table, statement) => {
    const { sql, bindings } = statement(entireTable);
    return snapshot.lines(form, sql, bindings);
  },
});

it.each([
  ['csv', 'cards', 'report'],
  ['csv', 'cards', 'roundtrip'],
  ['ndjson', 'cards', 'report'],
  ['ndjson', 'cards', 'roundtrip'],
  ['csv', 'relations', 'report'],
  ['ndjson', 'relations', 'roundtrip'],
] as const)('writes %s of all %s (%s) range by range as at once', async (format, kind, profile) => {
  const ctx = await t.ctx();
  const request: ExportRequest = {
    ...{ format, kind, profile, filter: '', neutralise: true },
    ...{ types: [], columns: [], include: [] },
  };
  const plan = await planExtraction(ctx, request);
  await withSnapshot(t.services.db, async (snapshot) => {
    const written = async (of: Snapshot): Promise<Buffer> => {
      const out = new Kept();
      await (await prepareExtraction(of, ctx, plan, '1')).write(out, {});
      return out.content;
    };
    let ranges = 0;
    const counting: Snapshot = {
      ...snapshot,
      ranges: (form, table, statement) =>
        snapshot.ranges(form, table, (range) => {
          ranges += 1;
          return statement(range);
        }),
    };
    const [read, once] = [await written(counting), await written(asOne(snapshot))];
    expect(ranges).toBeGreaterThan(2);
    expect(read.equals(once)).toBe(true);
    expect(read.toString().split('\n').length - 1).toBe(CARDS + (format === 'csv' ? 1 : 0));
  });
});

it.each(['csv', 'ndjson'] as const)(
  'writes %s of a few changes in parts as all of them at once',
  async (format) => {
    const ctx = await t.ctx();
    const request: ExportRequest = {
      ...{ format, kind: 'cards', profile: 'report', filter: '', neutralise: true, after: '0' },
      ...{ types: [], columns: ['name', 'tags', 'stakeholders'], include: [] },
    };
    const plan = await planExtraction(ctx, request);
    await withSnapshot(t.services.db, async (snapshot) => {
      /** Those cards as changed, and one that is gone: too many for memory when they are all of them. */
      const written = async (condition: string): Promise<Buffer> => {
        const out = new Kept();
        const findChanged = async () => ({
          sql: `select c.id, c.type, 7::bigint as position, true as known from cards c where ${condition}
            union all select '00000000-0000-4000-8000-000000000000', 'Objective', 8, true`,
          bindings: [],
        });
        await (await prepareExtraction(snapshot, ctx, { ...plan, findChanged }, '9')).write(out, {});
        return out.content;
      };
      const lines = (bytes: Buffer) => bytes.toString().split('\n').slice(0, -1);
      const body = (bytes: Buffer) => (format === 'csv' ? lines(bytes).slice(1) : lines(bytes).slice(0, -1));
      const middle = await snapshot.query<{ id: string }>(
        `select id from cards order by id offset ${Math.floor(CARDS / 2)} limit 1`,
      );
      const all = body(await written('true'));
      expect(all).toHaveLength(CARDS + 1);
      const low = body(await written(`c.id < '${middle[0]!.id}'`));
      const [gone, ...high] = body(await written(`c.id >= '${middle[0]!.id}'`));
      expect(gone).toContain('Objective');
      expect(gone).toBe(low[0]);
      expect([...low, ...high]).toEqual(all);
    });
  },
);

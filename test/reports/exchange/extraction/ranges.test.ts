import { expect, it } from 'vitest';
import type { ExportRequest } from '../../../../domain/exchange/exports/export.job.ts';
import { entireTable, type Snapshot, withSnapshot } from '../../../../platform/snapshot.ts';
import { planExtraction } from '../../../../reports/exchange/extraction/extraction.plan.ts';
import { prepareExtraction } from '../../../../reports/exchange/extraction/extraction.write.ts';
import { connect } from '../../../bench/harness/database.ts';
import { loadDirect } from '../../../bench/harness/load-direct.ts';
import { prepareWorkspace } from '../../../bench/harness/workspace.ts';
import { closeAfterAll, createTestServices } from '../../../support/harness.ts';
import { Kept } from '../../kernel/formats/tables.ts';

const CARDS = 11_000;

const t = closeAfterAll(await createTestServices());
const url = t.services.config.databaseUrl!;
const client = await connect(url);
await prepareWorkspace(client);
await client.query(
  "insert into users (email, display_name, role) values ('ada@estate.example', 'Ada', 'admin')",
);
await loadDirect(url, { cards: CARDS, relations: CARDS, seed: 7 });
await client.query('analyze');
await client.end();

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
    const lines = read.toString().split('\n').length - 1;
    expect(lines).toBe(CARDS + (format === 'csv' ? 1 : 0));
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
        const extraction = await prepareExtraction(snapshot, ctx, { ...plan, findChanged }, '9');
        await extraction.write(out, {});
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

import os from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CopiedLines } from '../../platform/copy-out.ts';
import { openDatabase } from '../../platform/database.ts';
import { type IdRange, type Snapshot, withSnapshot } from '../../platform/snapshot.ts';
import { createTestDatabase } from '../support/database.ts';

const ROWS = 23_456;

const database = await createTestDatabase();
const db = openDatabase({ url: database.url, name: 'ranges', poolMax: 8 });
await db.raw('create table things (id uuid primary key, text text)');
await db.raw(
  `insert into things select gen_random_uuid(), repeat(n || ' "quoted", ', 20) from generate_series(1, ${ROWS}) n`,
);
await db.raw('create table nothings (id uuid primary key)');

afterAll(async () => {
  await db.destroy();
  await database.drop();
});

const statement = (cells: string) => (range: IdRange) => ({
  sql: `select ${cells} from things t where ${range('t.id')} and t.text <> ? order by t.id`,
  bindings: ['nothing'],
});
const forms = {
  rows: statement('t.id, t.text'),
  json: statement('\'{"id":"\' || t.id || \'","text":\' || to_json(t.text)::text || \'}\''),
};

async function all(lines: AsyncIterable<CopiedLines>): Promise<{ text: string; rows: number }> {
  const chunks: Buffer[] = [];
  let rows = 0;
  for await (const each of lines) {
    chunks.push(each.bytes);
    rows += each.rows;
  }
  return { text: Buffer.concat(chunks).toString(), rows };
}

const others = "application_name = 'ranges' and xact_start is not null and pid <> pg_backend_pid()";
const inTransactions = async (): Promise<number> => {
  return (await db.raw(`select count(*)::int as n from pg_stat_activity where ${others}`)).rows[0].n;
};
const ranged = (snapshot: Snapshot, form: 'rows' | 'json') => snapshot.ranges(form, 'things', forms[form]);

it.each(['rows', 'json'] as const)('reads all ranges as one statement reads the whole, as %s', (form) =>
  withSnapshot(db, async (snapshot) => {
    const read = await all(ranged(snapshot, form));
    const whole = forms[form](() => 'true');
    const once = await all(snapshot.lines(form, whole.sql, whole.bindings));
    expect(once.rows).toBe(ROWS);
    expect(read.rows).toBe(ROWS);
    expect(read.text === once.text).toBe(true);
    const none = snapshot.ranges(form, 'nothings', (range) => ({
      sql: `select id from nothings where ${range('id')}`,
      bindings: [],
    }));
    expect(await all(none)).toEqual({ text: '', rows: 0 });
  }),
);

it('sees one moment, whatever is written while it reads', async () => {
  const { rows } = await withSnapshot(db, async (snapshot) => {
    // a snapshot begins with its first statement
    await snapshot.query('select 1');
    await db.raw('insert into things select gen_random_uuid(), text from things limit 100');
    const lines = ranged(snapshot, 'rows');
    const first = await lines.next();
    await db.raw('delete from things where id in (select id from things order by id desc limit 100)');
    return { rows: first.value!.rows + (await all(lines)).rows };
  });
  expect(rows).toBe(ROWS);
});

it('reads over several connections, and over one where the pool has none to spare', async () => {
  await withSnapshot(db, async (snapshot) => {
    const lines = ranged(snapshot, 'rows');
    await lines.next();
    expect(await inTransactions()).toBeGreaterThan(1);
    await lines.return(undefined);
    expect(await inTransactions()).toBe(1);
  });
  const narrow = openDatabase({ url: database.url, name: 'ranges', poolMax: 1 });
  const { rows } = await withSnapshot(narrow, (snapshot) => all(ranged(snapshot, 'rows')));
  await narrow.destroy();
  expect(rows).toBe(ROWS);
});

it('reads parts side by side and hands them on in their order, over as many connections as are worth it', async () => {
  await withSnapshot(db, async (snapshot) => {
    for (const most of [1, 2]) {
      let given = 0;
      const lines = snapshot.parts('json', most, (connections) => {
        given = connections;
        // the first takes the longest
        return [20_000, 3].map((count) => ({
          sql: 'select n::text from generate_series(1, ?::int) n',
          bindings: [count],
        }));
      });
      const { text, rows } = await all(lines);
      expect([given, rows]).toEqual([Math.min(most, os.availableParallelism()), 20_003]);
      expect(text.endsWith('\n20000\n1\n2\n3\n')).toBe(true);
    }
    expect(await inTransactions()).toBe(1);
  });
});

it('waits for a slow reader without reading on', () =>
  withSnapshot(db, async (snapshot) => {
    let rows = 0;
    for await (const lines of ranged(snapshot, 'json')) {
      if (rows === 0) await sleep(50);
      rows += lines.rows;
    }
    expect(rows).toBe(ROWS);
  }));

it('tells a failure in a later range after the rows before it, and leaves the connections as they were', async () => {
  const work = withSnapshot(db, async (snapshot) => {
    const lines = snapshot.ranges('rows', 'things', (range) => ({
      sql: `select 1 / (t.id <> (select x.id from things x order by x.id desc limit 1))::int from things t
        where ${range('t.id')} order by t.id`,
      bindings: [],
    }));
    let rows = 0;
    try {
      for await (const each of lines) rows += each.rows;
    } catch (error) {
      expect(rows).toBeGreaterThan(ROWS / 2);
      throw error;
    }
  });
  await expect(work).rejects.toThrow('division by zero');
  expect(await inTransactions()).toBe(0);
});

it('fails when a connection is lost, and takes new ones the next time', async () => {
  const work = withSnapshot(db, async (snapshot) => {
    const lines = ranged(snapshot, 'rows');
    await lines.next();
    await db.raw(`select pg_terminate_backend(pid) from pg_stat_activity where ${others}`);
    await all(lines);
  });
  // the server's word, or that of the driver where the next statement came after the connection had ended
  await expect(work).rejects.toThrow(/terminat|not queryable/);
  expect((await withSnapshot(db, (snapshot) => all(ranged(snapshot, 'rows')))).rows).toBe(ROWS);
});

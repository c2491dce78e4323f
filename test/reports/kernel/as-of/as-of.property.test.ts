import type { Sql } from '../../../../platform/database.ts';
import type { Reads } from '../../../../reports/kernel/as-of/as-of.reads.ts';
import { asOfTables } from '../../../../reports/kernel/as-of/as-of.tables.ts';
import { readAsOf } from '../../../../reports/kernel/as-of/as-of.ts';
import { attachedActs } from '../../../domain/app/batches/acts/attached.ts';
import { cardActs } from '../../../domain/app/batches/acts/cards.ts';
import { type Act, createHand, type Tally } from '../../../domain/app/batches/acts/hand.ts';
import { riskActs } from '../../../domain/app/batches/acts/risks.ts';
import { workspaceActs } from '../../../domain/app/batches/acts/workspace.ts';
import { openApp } from '../../../support/harness.ts';

/*
 * Random writes of every kind, and what undoes them; the tables are copied at some moments. Shown as of these moments
 * afterwards, they equal the copies row for row. PAST_MOMENTS and PAST_SEED make longer and other runs.
 */
const MOMENTS = Number(process.env.PAST_MOMENTS ?? 4);
const SEED = Number(process.env.PAST_SEED ?? 7);
const WRITES = 30;

const acts: Act[] = [cardActs, attachedActs, workspaceActs, riskActs]
  .flat()
  .flatMap(([act, often]) => Array<Act>(often).fill(act));
const tables = [...asOfTables.map(({ table }) => table), 'card_tags'];
/** Told by no change: who wrote last and when, and by which act a card was archived. */
const left = ['updated_at', 'updated_by', 'archive_batch_id', 'expires_at'];

const { t, admin } = await openApp(['admin']);
await admin.post('/api/v1/cards', { type: 'Application', name: 'The first' });

const copyOfLinked = (sql: Sql) => copyOf(sql, ['cards', 'relations']);

async function copyOf(sql: Sql, of = tables): Promise<Record<string, string[]>> {
  const copy: Record<string, string[]> = {};
  for (const table of of) {
    const { rows } = await sql.raw(
      `select (to_jsonb(t) - ?::text[])::text as row from ${table} t order by 1`,
      [left],
    );
    copy[table] = rows.map(({ row }: { row: string }) => row);
  }
  return copy;
}

const few = {
  cards: [
    'type',
    'subtype',
    'name',
    'name_key',
    'parent_id',
    'status',
    'approval_status',
    'data_quality',
    'lifecycle',
  ],
  relations: ['type', 'source_id', 'target_id', 'description'],
};
/** What a reader may say that it reads. */
const reads: Reads[] = [
  { ...few, others: false },
  { ...few, others: true },
  // fields whose old values are not kept beside the events, or are kept of all
  { ...few, cards: [...few.cards, 'description'], others: false },
  { ...few, relations: few.relations.slice(0, 3), others: false },
];

/** The rows of cards and relations with the columns of them that are read, in the order of their texts. */
function ofFew(copy: Record<string, string[]>, { cards, relations }: Reads): string[][] {
  return Object.entries({ cards, relations }).map(([table, columns]) => {
    const shown = (row: string) => {
      const all = JSON.parse(row);
      return JSON.stringify(['id', ...columns!].map((column) => all[column]));
    };
    return copy[table]!.map(shown).sort();
  });
}

/** The moment up to which everything has been written. */
async function now(): Promise<Date> {
  return (await t.services.db.raw('select max(at) as at from events')).rows[0].at;
}

it('shows every table as it was at each moment, whatever was written since', {
  timeout: 120_000 + MOMENTS * 20_000,
}, async () => {
  const people = [admin.userId, (await t.as('member')).userId, (await t.as('viewer')).userId];
  const tally: Tally = { done: 0, refused: 0, last: '' };
  const moments: { at: Date; copy: Record<string, string[]> }[] = [];
  const batches: string[] = [];
  for (let moment = 0; moment < MOMENTS; moment += 1) {
    moments.push({ at: await now(), copy: await copyOf(t.services.db) });
    const { body } = await admin.post('/api/v1/mutation-batches', { tool_name: 'Random' });
    const hand = createHand(t, admin, people, SEED + moment, tally, () => ({ 'x-mutation-batch': body.id }));
    for (let n = 0; n < WRITES; n += 1) await hand.one(acts)(hand);
    expect((await admin.post(`/api/v1/mutation-batches/${body.id}/commit`, {})).status).toBe(200);
    batches.push(body.id);
    // rows that were deleted come back with their ids, and those that were made go
    if (moment % 2 === 1) {
      moments.push({ at: await now(), copy: await copyOf(t.services.db) });
      await admin.post(`/api/v1/mutation-batches/${batches.pop()}/rollback`, { dry_run: false });
    }
  }
  moments.push({ at: await now(), copy: await copyOf(t.services.db) });
  for (const [number, { at, copy }] of moments.entries()) {
    const shown = await readAsOf(t.services.db, at, (sql) => copyOf(sql));
    for (const table of tables) expect(shown[table], `${table} at moment ${number}`).toEqual(copy[table]);
    const { cards, relations } = await readAsOf(t.services.db, at, copyOfLinked, { rowwise: true });
    expect({ cards, relations }, `row by row at moment ${number}`).toEqual({
      cards: copy.cards,
      relations: copy.relations,
    });
    for (const read of reads) {
      const known = await readAsOf(t.services.db, at, (sql) => copyOf(sql), { reads: read });
      expect(ofFew(known, read), `what is read at moment ${number}`).toEqual(ofFew(copy, read));
    }
  }
  expect(tally.done).toBeGreaterThan(tally.refused);
  expect(moments[0]!.copy.cards).not.toEqual(moments.at(-1)!.copy.cards);
});

it('refuses moments to come, and those before the oldest event kept', async () => {
  await expect(readAsOf(t.services.db, new Date(Date.now() + 60_000), copyOfLinked)).rejects.toMatchObject({
    code: 'validation_failed',
  });
  const { rows } = await t.services.db.raw('select min(at) as at from events');
  const before = new Date(rows[0].at.getTime() - 1);
  await expect(readAsOf(t.services.db, before, copyOfLinked)).rejects.toMatchObject({
    code: 'as_of_expired',
  });
});

it('shows nothing as it is now of what is not read', async () => {
  const owners = (sql: Sql) => sql.raw('select card_id from stakeholders');
  for (const scope of [{ rowwise: true }, { reads: { cards: 'any', others: false } as const }])
    await expect(readAsOf(t.services.db, await now(), owners, scope)).rejects.toThrow(
      /card_id.*does not exist/s,
    );
});

it('leaves nothing behind, and lets nothing be written', async () => {
  const writing = readAsOf(t.services.db, await now(), (sql) => sql.raw('delete from stakeholders'));
  await expect(writing).rejects.toThrow(/read-only|cannot/);
  const { rows } = await t.services.db.raw(
    `select count(*)::int as left from pg_class where relnamespace::regnamespace::text like 'pg\\_temp%'`,
  );
  expect(rows[0].left).toBe(0);
});

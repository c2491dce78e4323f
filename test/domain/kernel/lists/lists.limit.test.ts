import { withTimeLimit } from '../../../../domain/kernel/lists/lists.limit.ts';
import { EstateError } from '../../../../platform/errors.ts';
import { closeAfterAll, createTestServices } from '../../../support/harness.ts';

const t = closeAfterAll(await createTestServices());
const { db } = t.services;

it('cancels a statement that takes too long, and says what to do', async () => {
  const error = await withTimeLimit(db, (sql) => sql.raw('select pg_sleep(60)'), 50).catch((met) => met);
  expect(error).toBeInstanceOf(EstateError);
  expect(error).toMatchObject({ code: 'too_slow', status: 503, headers: { 'retry-after': '30' } });
  expect(error.message).toMatch(/cancelled after 0\.05 seconds: use a filter/);
  // connections are used again, without the limit
  expect((await db.raw('show statement_timeout')).rows).toEqual([{ statement_timeout: '0' }]);
});

it('returns what is read in time, and other errors as they are', async () => {
  const read = (text: string) => withTimeLimit(db, async (sql) => (await sql.raw(text)).rows);
  expect(await read('show statement_timeout')).toEqual([{ statement_timeout: '20s' }]);
  await expect(read('select 1/0')).rejects.toMatchObject({ code: '22012' });
});

it('leaves transactions of the caller without a limit', async () => {
  await db.transaction(async (trx) => {
    const { rows } = await withTimeLimit(trx, (sql) => sql.raw('show statement_timeout'));
    expect(rows).toEqual([{ statement_timeout: '0' }]);
  });
});

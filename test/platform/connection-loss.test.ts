import { cancelOnAbort, isConnectionLoss, openDatabase } from '../../platform/database.ts';
import { createTestDatabase } from '../support/database.ts';

const database = await createTestDatabase();
const db = openDatabase({ url: database.url, name: 'test', poolMax: 2 });

afterAll(async () => {
  await db.destroy();
  await database.drop();
});

const errorOf = async (work: PromiseLike<unknown>): Promise<unknown> => {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error('there was no error');
};

it('tells a lost connection from a query that is wrong', async () => {
  const killed = db.transaction(async (trx) => {
    const { rows } = await trx.raw('select pg_backend_pid() as pid');
    const waiting = trx.raw('select pg_sleep(60)');
    await Promise.all([waiting, db.raw('select pg_terminate_backend(?)', [rows[0].pid])]);
  });
  expect(isConnectionLoss(await errorOf(killed))).toBe(true);
  for (const wrong of ['select 1 / 0', 'select nothing', 'selekt', "select 'x'::uuid"])
    expect(isConnectionLoss(await errorOf(db.raw(wrong)))).toBe(false);
});

it('knows a server that is not there, also as the cause of another error', async () => {
  const away = openDatabase({ url: 'postgres://nobody:nothing@127.0.0.1:1/none', name: 'test' });
  const error = await errorOf(away.raw('select 1'));
  await away.destroy();
  expect(isConnectionLoss(error)).toBe(true);
  expect(isConnectionLoss(new Error('the export failed', { cause: error }))).toBe(true);
});

it('leaves other errors alone', () => {
  expect(isConnectionLoss(new TypeError('no'))).toBe(false);
  expect(
    isConnectionLoss(Object.assign(new Error('no such file'), { code: 'ENOENT', syscall: 'open' })),
  ).toBe(false);
  expect(isConnectionLoss(undefined)).toBe(false);
});

it('cancels the statement of a transaction when it is aborted, and none of a later one', async () => {
  const stop = new AbortController();
  const cancelled = db.transaction(async (trx) => {
    using _cancelling = await cancelOnAbort(db, trx, stop.signal);
    setTimeout(() => stop.abort(), 50);
    await trx.raw('select pg_sleep(60)');
  });
  expect(await errorOf(cancelled)).toMatchObject({ code: '57014' });
  const later = new AbortController();
  await db.transaction(async (trx) => {
    {
      using _cancelling = await cancelOnAbort(db, trx, later.signal);
    }
    later.abort();
    await trx.raw('select pg_sleep(0.1)');
  });
});

import { done, type Result } from '../../remote.failures.ts';
import type { Right, RightFound } from '../connector.ts';
import { type Need, testTables } from '../rights.ts';
import type { ItopConfig } from './config.ts';
import { type History, WITHOUT_HISTORY } from './history.ts';
import type { Reading } from './reading.ts';
import type { Operation, Transport } from './transport.ts';

const HISTORY = 'CMDBChangeOp';
/** No class has such an attribute, and no object such a key. */
const NO_ATTRIBUTE = 'estate_tries_rights';
const NO_KEY = 0;

const remedies: Record<Right, string> = {
  read: 'a profile that reads and exports the class, besides REST Services User',
  create: 'a profile that writes the class, also in bulk, such as Configuration Manager',
  update: 'a profile that writes the class, also in bulk, such as Configuration Manager',
  delete: 'a profile that deletes objects of the class, such as Configuration Manager',
};

/**
 * Each right is tried with a request that the service refuses or passes over after it has looked at the right: it makes an
 * object with an attribute that nothing has, changes one that is not there, and simulates the deletion of none.
 */
export async function testRights(
  transport: Transport,
  { reading, history }: { reading: Reading; history: History },
  { timeZone }: Pick<ItopConfig, 'timeZone'>,
  needs: readonly Need[],
): Promise<Result<RightFound[]>> {
  return await testTables(needs, async ({ table, rights }) => {
    const found: RightFound[] = [];
    for (const right of rights) {
      const tried = await (right === 'read'
        ? tryReading(reading, table)
        : tryWriting(transport, table, right));
      if (!tried.ok) return tried;
      const isHistory = table === HISTORY && tried.value.granted === true;
      const checked = isHistory ? await tellsTime(tried.value, history, timeZone) : tried;
      if (!checked.ok) return checked;
      found.push(checked.value);
    }
    return done(found);
  });
}

async function tryReading(reading: Reading, table: string): Promise<Result<RightFound>> {
  const about = { table, right: 'read' } as const;
  const counted = await reading.count(table);
  if (counted.ok) {
    return done({ ...about, granted: true, how: `Read; the account sees ${counted.value} objects.` });
  }
  switch (counted.failure.code) {
    case 'forbidden':
      return done({
        ...about,
        granted: false,
        how: `Reading was refused; the account needs ${remedies.read}.${table.startsWith(HISTORY) ? ` ${WITHOUT_HISTORY}` : ''}`,
      });
    case 'not_found':
      return done({ ...about, granted: false, how: 'There is no such class.' });
    default:
      return counted;
  }
}

async function tryWriting(
  transport: Transport,
  table: string,
  right: Exclude<Right, 'read'>,
): Promise<Result<RightFound>> {
  const about = { table, right };
  const nothing = `SELECT ${table} WHERE id = ${NO_KEY}`;
  const fields = { [NO_ATTRIBUTE]: '' };
  const operations: Record<typeof right, Operation> = {
    create: { operation: 'core/create', class: table, comment: 'Estate', fields, output_fields: 'id' },
    update: {
      operation: 'core/update',
      class: table,
      comment: 'Estate',
      key: nothing,
      fields,
      output_fields: 'id',
    },
    delete: { operation: 'core/delete', class: table, comment: 'Estate', key: nothing, simulate: true },
  };
  const tried = await transport.ask({
    doing: `Trying to ${right} objects of ${table}`,
    isRead: true,
    operation: () => operations[right],
  });
  const code = tried.ok ? 'done' : tried.failure.code;
  if (code === 'forbidden') {
    return done({ ...about, granted: false, how: `It was refused; the account needs ${remedies[right]}.` });
  }
  const isNoClass = !tried.ok && / is not a valid class/.test(tried.failure.what);
  if (isNoClass) return done({ ...about, granted: false, how: 'There is no such class.' });
  if (code === 'done' || code === 'refused' || code === 'not_found') {
    return done({ ...about, granted: true, how: 'An attempt that changes nothing was let through.' });
  }
  return tried as Result<never>;
}

/** A newest entry that is no older shows that the zone is right: zones differ by half an hour at least, nearly all of them. */
const FRESH_MS = 15 * 60_000;

/**
 * Whether the zone that was set is the one that iTop writes its history in. Its database may have another: only what iTop has
 * written counts.
 */
async function tellsTime(read: RightFound, history: History, timeZone: string): Promise<Result<RightFound>> {
  const pace = await history.pace();
  if (!pace.ok) return pace;
  if (pace.value.ahead) {
    const how = `The history is read, but tells times to come by ${timeZone}: correct time_zone.`;
    return done({ ...read, granted: false, blocks: true, how });
  }
  if (pace.value.ageMs <= FRESH_MS) {
    return done({ ...read, how: `${read.how} The newest entry fits time_zone ${timeZone}.` });
  }
  const how = `${read.how} It is not known whether time_zone ${timeZone} is right: by it nothing has changed in iTop for the last 15 minutes. Change something there and test again.`;
  return done({ ...read, granted: null, how });
}

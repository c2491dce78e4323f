import { isRemoteError } from '../../remote.ts';
import type { Right } from '../connector.ts';
import type { RightsTest } from '../rights.ts';
import { type History, MISSING_HISTORY_EFFECTS } from './history.ts';
import type { Reading } from './reading.ts';
import type { ItopConfig, ItopTransport, Operation } from './transport.ts';

const HISTORY = 'CMDBChangeOp';
/** No class has such an attribute, and no object such a key. */
const NO_ATTRIBUTE = 'estate_tries_rights';
const NO_KEY = 0;
const NO_CLASS = 'There is no such class.';

const remedies: Record<Right, string> = {
  read: 'a profile that reads and exports the class, besides REST Services User',
  create: 'a profile that writes the class, also in bulk, such as Configuration Manager',
  update: 'a profile that writes the class, also in bulk, such as Configuration Manager',
  delete: 'a profile that deletes objects of the class, such as Configuration Manager',
};

/**
 * Tests each right with a request without effect, which the service processes only after it has checked the right: it creates an
 * object with an unknown attribute, updates a missing object, and simulates the deletion of none.
 */
export function rightsTest(
  transport: ItopTransport,
  { reading, history }: { reading: Reading; history: History },
  { timeZone }: Pick<ItopConfig, 'timeZone'>,
): RightsTest {
  return {
    unreadable({ code }, table) {
      if (code !== 'forbidden') return NO_CLASS;
      const cost = table.startsWith(HISTORY) ? ` ${MISSING_HISTORY_EFFECTS}` : '';
      return `Reading was refused; the account needs ${remedies.read}.${cost}`;
    },
    async read(table) {
      const how = `Read; the account sees ${await reading.count(table)} objects.`;
      return table === HISTORY ? await checkZone(how, history, timeZone) : { granted: true, how };
    },
    async write(table, right) {
      const key = `SELECT ${table} WHERE id = ${NO_KEY}`;
      const fields = { [NO_ATTRIBUTE]: '' };
      const common = { class: table, comment: 'Estate' };
      const operations: Record<typeof right, Operation> = {
        create: { ...common, operation: 'core/create', fields, output_fields: 'id' },
        update: { ...common, operation: 'core/update', key, fields, output_fields: 'id' },
        delete: { ...common, operation: 'core/delete', key, simulate: true },
      };
      try {
        const doing = `Testing the right to ${right} objects of ${table}`;
        await transport.execute({ doing, isRead: true, operation: () => operations[right] });
      } catch (error) {
        if (isRemoteError(error, 'forbidden'))
          return { granted: false, how: `It was refused; the account needs ${remedies[right]}.` };
        if (isRemoteError(error) && / is not a valid class/.test(error.what))
          return { granted: false, how: NO_CLASS };
        if (!isRemoteError(error, 'refused', 'not_found')) throw error;
      }
      return { granted: true, how: 'A request without effect was allowed.' };
    },
  };
}

/** If the newest entry is no older, the zone is correct: nearly all zones differ by at least half an hour. */
const FRESH_MS = 15 * 60_000;

/** Checks whether iTop writes its history in the configured zone. */
async function checkZone(how: string, history: History, timeZone: string): ReturnType<RightsTest['read']> {
  const { isAhead, ageMs } = await history.readLag();
  if (isAhead) {
    const ahead = `The history is read, but has entries in the future by ${timeZone}: correct time_zone.`;
    return { granted: false, blocksRuns: true, how: ahead };
  }
  if (ageMs <= FRESH_MS)
    return { granted: true, how: `${how} The newest entry matches time_zone ${timeZone}.` };
  const unknown = `Whether time_zone ${timeZone} is correct is unknown, since the history has no entry of the last 15 minutes. Change something in iTop and test again.`;
  return { granted: null, how: `${how} ${unknown}` };
}

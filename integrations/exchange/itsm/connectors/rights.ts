import { createSemaphore } from '../../../../platform/semaphore.ts';
import { isRemoteError, type RemoteError } from '../remote.ts';
import type { Right, RightResult } from './connector.ts';

/** Number of tables that are tested concurrently. */
const CONCURRENCY = 4;

/** The rights to test on a table. */
export interface TableRights {
  table: string;
  rights: Right[];
}

type Verdict = Pick<RightResult, 'granted' | 'how' | 'blocksRuns'>;
export type WriteRight = Exclude<Right, 'read'>;

/** How one kind of remote is tested. */
export interface RightsTest {
  /** Reads the table. @throws RemoteError; `forbidden`, `not_found` and `bad_rows` become a verdict. */
  read(table: string): Promise<Verdict>;
  /** Determines a right to write, without writing. @throws RemoteError */
  write(table: string, right: WriteRight): Promise<Verdict>;
  /** Why the table cannot be read, and what the account needs. */
  unreadable(error: RemoteError, table: string): string;
}

/**
 * Tests rights table by table, in the given order. The first table is tested before the others, since errors such as invalid
 * credentials would repeat for each. @throws RemoteError
 */
export async function testRights(needs: readonly TableRights[], test: RightsTest): Promise<RightResult[]> {
  const testOne = async (table: string, right: Right): Promise<Verdict> => {
    if (right !== 'read') return await test.write(table, right);
    try {
      return await test.read(table);
    } catch (error) {
      if (!isRemoteError(error, 'forbidden', 'not_found', 'bad_rows')) throw error;
      return { granted: false, how: test.unreadable(error, table) };
    }
  };
  let hasFailed = false;
  const testTable = async ({ table, rights }: TableRights): Promise<RightResult[]> => {
    const found: RightResult[] = [];
    try {
      for (const right of hasFailed ? [] : rights)
        found.push({ table, right, ...(await testOne(table, right)) });
    } catch (error) {
      hasFailed = true;
      throw error;
    }
    return found;
  };
  const [first, ...others] = needs;
  if (!first) return [];
  const found = await testTable(first);
  const inTurn = createSemaphore(CONCURRENCY);
  return [found, ...(await Promise.all(others.map((need) => inTurn(() => testTable(need)))))].flat();
}

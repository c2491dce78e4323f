import { done, type Result } from '../remote.failures.ts';
import type { Right, RightFound } from './connector.ts';

/** Tables that are looked at together: whoever asks for a test waits for all of them. */
const TOGETHER = 4;

/** What is to be found out about a table. */
export interface Need {
  table: string;
  rights: Right[];
}

/** Looks at some tables together, and keeps their order. @returns the first failure, where there is one. */
export async function testTables(
  needs: readonly Need[],
  testTable: (need: Need) => Promise<Result<RightFound[]>>,
): Promise<Result<RightFound[]>> {
  const found: RightFound[][] = needs.map(() => []);
  const waiting = needs.entries();
  let failure: Result<never> | undefined;
  const lane = async (): Promise<void> => {
    for (const [at, need] of waiting) {
      if (failure) return;
      const tested = await testTable(need);
      if (tested.ok) found[at] = tested.value;
      else failure ??= tested;
    }
  };
  await Promise.all(Array.from({ length: TOGETHER }, lane));
  return failure ?? done(found.flat());
}

import { done, type Result } from '../remote.failures.ts';
import type { Right, RightFound } from './connector.ts';

/** Tables that are looked at together: whoever asks for a test waits for all of them. */
const TOGETHER = 4;

/** What is to be found out about a table. */
export interface Need {
  table: string;
  rights: Right[];
}

/**
 * Looks at the first table alone, since a remote that fails for one fails for all, then at some together; keeps their order.
 * @returns the first failure, where there is one.
 */
export async function testTables(
  needs: readonly Need[],
  testTable: (need: Need) => Promise<Result<RightFound[]>>,
): Promise<Result<RightFound[]>> {
  const [first, ...others] = needs;
  if (!first) return done([]);
  const alone = await testTable(first);
  if (!alone.ok) return alone;
  const found: RightFound[][] = others.map(() => []);
  const waiting = others.entries();
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
  return failure ?? done([...alone.value, ...found.flat()]);
}

import { closeAfterAll } from '../support/harness.ts';
import { elsewhere, type ForeignRow, foreignRows, ownMarks, sharedPaths } from './foreign.data.ts';
import { table } from './matrix.data.ts';
import { demandsOf, send } from './send.ts';
import { createWorld, written } from './world.ts';

const w = closeAfterAll(await createWorld());

const statusOf: Record<string, number> = { '-': 403, '?': 404 };

/** Makes the object as a member. */
async function made(row: ForeignRow) {
  const call = row.call ?? table.find(({ operation }) => operation === row.operation)?.call;
  if (!call) throw new Error(`nothing makes what ${row.operation} acts on`);
  return await call(w, 'member');
}

describe.each(foreignRows)('$operation on somebody else’s object', (row) => {
  const [peer, administrator] = row.outcomes.split(' ') as [string, string];
  test.each([
    ['somebody of the same role', 'member', peer],
    ['another administrator', 'admin', administrator],
  ])('by %s', async (_, role, mark) => {
    const call = await made(row);
    const client = await w.t.as(role, `other ${role}`);
    await written(w);
    const { status, answer } = await send(w, row, call, client);
    if (mark === '+') {
      expect(status, answer?.text).toBeGreaterThanOrEqual(200);
      expect(status, answer?.text).toBeLessThan(300);
      return;
    }
    expect(status, answer?.text).toBe(statusOf[mark]);
    expect(await written(w)).toEqual([]);
  });
});

test('every operation whose path names an object is tried on somebody else’s, or the object is nobody’s own', () => {
  const tried = new Set(foreignRows.map(({ operation }) => operation));
  const listed = new Set([...tried, ...ownMarks, ...elsewhere]);
  const demands = demandsOf(w);
  const operations = [...demands.keys()].filter((operation) => operation.includes('{'));
  const missing = operations.filter((operation) => {
    const path = operation.slice(operation.indexOf(' ') + 1);
    // what the rights on a card allow is tried in own-card.test.ts
    const isOfCard = demands.get(operation)!.includes('card.');
    return !listed.has(operation) && !isOfCard && !sharedPaths.some((shared) => shared.test(path));
  });
  expect(missing).toEqual([]);
  for (const operation of listed) expect(operations).toContain(operation);
});

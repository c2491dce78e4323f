import { done, type Result } from '../../remote.failures.ts';
import type { Right, RightFound } from '../connector.ts';
import { type Need, testTables } from '../rights.ts';
import type { Api } from './api.ts';
import type { Row } from './records.ts';

const remedies: Record<Right, string> = {
  read: 'a permission on its object type with the action view',
  create: 'a permission on its object type with the action add, and a token that may write',
  update: 'a permission on its object type with the action change, and a token that may write',
  delete: 'a permission on its object type with the action delete, and a token that may write',
};

/** Which action of an endpoint is shown to those who have a right. */
const shownBy: Partial<Record<Right, string>> = { create: 'POST', update: 'PUT' };

/** Reads what is read, and asks the endpoint what it offers to the account; nothing is written. */
export async function testRights(api: Api, needs: readonly Need[]): Promise<Result<RightFound[]>> {
  return await testTables(needs, async ({ table, rights }) => {
    const found: RightFound[] = [];
    let actions: Row | undefined;
    for (const right of rights) {
      const about = { table, right };
      const action = shownBy[right];
      if (right === 'read') {
        const tried = await tryReading(api, table);
        if (!tried.ok) return tried;
        found.push(tried.value);
      } else if (action === undefined) {
        found.push({
          ...about,
          granted: null,
          how: `NetBox does not tell without a try; the account needs ${remedies[right]}.`,
        });
      } else {
        if (actions === undefined) {
          const offered = await api.options(table);
          if (!offered.ok && offered.failure.code !== 'forbidden' && offered.failure.code !== 'not_found')
            return offered;
          actions = ((offered.ok ? offered.value.actions : undefined) ?? {}) as Row;
        }
        found.push(
          action in actions
            ? { ...about, granted: true, how: 'NetBox offers it to the account.' }
            : {
                ...about,
                granted: false,
                how: `NetBox does not offer it; the account needs ${remedies[right]}.`,
              },
        );
      }
    }
    return done(found);
  });
}

async function tryReading(api: Api, table: string): Promise<Result<RightFound>> {
  const about = { table, right: 'read' } as const;
  const listed = await api.list(
    table,
    () => new URLSearchParams({ limit: '1', fields: 'id' }),
    1,
    `Reading ${table}`,
  );
  if (listed.ok) {
    const how = listed.value.rows.length > 0 ? 'Read.' : 'Read; the account sees no object of it.';
    return done({ ...about, granted: true, how });
  }
  const { code } = listed.failure;
  if (code !== 'forbidden' && code !== 'not_found') return listed;
  const how =
    code === 'forbidden'
      ? `Reading was refused; the account needs ${remedies.read}.`
      : 'This NetBox has no such table.';
  return done({ ...about, granted: false, how });
}

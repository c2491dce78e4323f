import { unless } from '../../remote.ts';
import type { Right } from '../connector.ts';
import type { RightsTest } from '../rights.ts';
import type { Api } from './api.ts';
import type { Row } from './records.ts';

const remedies: Record<Right, string> = {
  read: 'a permission on its object type with the action view',
  create: 'a permission on its object type with the action add, and a token that may write',
  update: 'a permission on its object type with the action change, and a token that may write',
  delete: 'a permission on its object type with the action delete, and a token that may write',
};

/** The action that an endpoint shows to accounts with a right. */
const actions: Partial<Record<Right, string>> = { create: 'POST', update: 'PUT' };

/** Reads tables, and asks endpoints what they offer to the account; nothing is written. */
export function rightsTest(api: Api): RightsTest {
  const offered = new Map<string, Promise<Row>>();
  return {
    unreadable: ({ code }) =>
      code === 'forbidden'
        ? `Reading was refused; the account needs ${remedies.read}.`
        : 'This NetBox has no such table.',
    async read(table) {
      const { rows } = await api.list(table, { fields: 'id' }, { limit: 1, doing: `Reading ${table}` });
      return { granted: true, how: rows.length > 0 ? 'Read.' : 'Read; the account sees no object of it.' };
    },
    async write(table, right) {
      const action = actions[right];
      const needs = `the account needs ${remedies[right]}.`;
      if (action === undefined) return { granted: null, how: `NetBox does not tell without a try; ${needs}` };
      const asked = offered.get(table) ?? unless(api.options(table), ['forbidden', 'not_found'], {} as Row);
      offered.set(table, asked);
      return action in (((await asked).actions ?? {}) as object)
        ? { granted: true, how: 'NetBox offers it to the account.' }
        : { granted: false, how: `NetBox does not offer it; ${needs}` };
    },
  };
}

import { withFallback } from '../../remote.ts';
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

/** The action that the description of an endpoint contains if the account has the right. */
const actions: Partial<Record<Right, string>> = { create: 'POST', update: 'PUT' };

/** Tests reading by a request, and writing by the description of the endpoint; nothing is written. */
export function rightsTest(api: Api): RightsTest {
  const descriptions = new Map<string, Promise<Row>>();
  return {
    unreadable: ({ code }) =>
      code === 'forbidden'
        ? `Reading was refused; the account needs ${remedies.read}.`
        : 'NetBox has no such table.',
    async read(table) {
      const { rows } = await api.list(table, { fields: 'id' }, { limit: 1, doing: `Reading ${table}` });
      return { granted: true, how: rows.length > 0 ? 'Read.' : 'Read; the account sees no object of it.' };
    },
    async write(table, right) {
      const action = actions[right];
      const needs = `the account needs ${remedies[right]}.`;
      if (action === undefined)
        return { granted: null, how: `It cannot be determined without a write; ${needs}` };
      const description =
        descriptions.get(table) ?? withFallback(api.options(table), ['forbidden', 'not_found'], {} as Row);
      descriptions.set(table, description);
      return action in (((await description).actions ?? {}) as object)
        ? { granted: true, how: 'The endpoint allows it to the account.' }
        : { granted: false, how: `The endpoint does not allow it; ${needs}` };
    },
  };
}

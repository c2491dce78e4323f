import { closeAfterAll, type TestClient } from '../support/harness.ts';
import { table } from './matrix.data.ts';
import type { Row } from './matrix.row.ts';
import { allScopes, namedScopes, withScopes } from './scoped.ts';
import { demandsOf, operationOf, send } from './send.ts';
import { createWorld, written } from './world.ts';

const w = closeAfterAll(await createWorld());
const admin = await w.client('admin');
const demands = demandsOf(w);
const { card } = w;
// whoever holds the role of an administrator is responsible for every card besides
w.card = async (values) => {
  const id = await card(values);
  await w.stakeholder(id, admin.userId, 'responsible');
  return id;
};

const tokens = new Map<string, Promise<TestClient>>();
function token(scopes: string[]): Promise<TestClient> {
  const key = scopes.join(' ');
  if (!tokens.has(key)) tokens.set(key, withScopes(w.t, admin, scopes));
  return tokens.get(key)!;
}

/** What these give away or lead to besides needs more. */
const alsoNeeds: Record<string, string[]> = {
  'PATCH /api/v1/users/bulk': allScopes,
  'POST /api/v1/service-accounts': allScopes,
  'GET /api/v1/accounts/{id}/personal-data': allScopes,
  'PATCH /api/v1/settings/registration-policy': allScopes,
  'PATCH /api/v1/settings/registration (on)': allScopes,
  'POST /api/v1/metamodel/types/{type_key}/stakeholder-roles': allScopes,
  'POST /api/v1/metamodel/types/{type_key}/stakeholder-roles/{role_key}/restore': allScopes,
  'POST /api/v1/itsm-sync/mappings': [
    'inventory.create',
    'inventory.edit',
    'inventory.archive',
    'relations.manage',
  ],
};

const demandOf = (row: Row): string => demands.get(operationOf(row))!;

const rows = table.filter(({ outcomes }) => outcomes.startsWith('+'));

test.each(rows.map((row, at) => ({ ...row, at })))('$operation', async ({ at, ...row }) => {
  const demand = demandOf(row);
  const named = namedScopes(demand);
  if (demand.startsWith('public') || named.length === 0) return;
  const call = await row.call(w, 'admin');
  // jobs beyond the scopes are not there, nor what hangs on cards for those who see no cards
  const isOnJobs = demand.startsWith('login') && demand.includes("others'");
  const refusalsFor = (scopes: string[]) =>
    isOnJobs || (demand.startsWith('login') && !scopes.includes('inventory.view')) ? [403, 404] : [403];
  const others = allScopes.filter((scope) => !named.includes(scope));
  const narrow = [others, [others[at % others.length]!]];
  const clients = await Promise.all(narrow.map(token));
  await written(w);
  await Promise.all(
    clients.map(async (client, n) => {
      const { status, answer } = await send(w, row, call, client);
      const refused = status === 200 && call.refused?.(answer!.body) === true;
      if (!refused) expect(refusalsFor(narrow[n]!), `${demand}: ${answer?.text}`).toContain(status);
    }),
  );
  expect(await written(w)).toEqual([]);
  if (call.usesToken || isOnJobs) return;
  const views = named.map((scope) => scope.replace(/\.\w+$/, '.view'));
  const every = demand.includes('every other permission') ? allScopes : [];
  const within = [...every, ...named, ...views, 'inventory.view', ...(alsoNeeds[row.operation] ?? [])];
  const client = await token(allScopes.filter((scope) => within.includes(scope)));
  const { status, answer } = await send(w, row, call, client);
  await call.after?.();
  if (answer?.body?.code === 'session_required') return;
  expect([401, 403, 404], answer?.text).not.toContain(status);
});

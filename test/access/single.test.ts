import { createHash } from 'node:crypto';
import { type AppPermission, appPermissions } from '../../domain/kernel/permissions/permissions.data.ts';
import { closeAfterAll } from '../support/harness.ts';
import { table } from './matrix.data.ts';
import type { Call, Row } from './matrix.row.ts';
import { demandsOf, operationOf, send } from './send.ts';
import { createWorld, type Role, written } from './world.ts';

/** How many of the permissions that an operation does not name are tried on it; `ACCESS_SAMPLE=100` tries all. */
const SAMPLE = Number(process.env.ACCESS_SAMPLE ?? 2);
/** Another seed tries other permissions. */
const SEED = Number(process.env.ACCESS_SEED ?? 1);

/** Lists of what is the caller's own: whoever is logged in reads them. */
const ownLists = ['GET /api/v1/todos', 'POST /api/v1/todos'];
/** Operations that lead to the rights of another account or role: the caller needs those too, by their own tests. */
const leadsToRights = [
  'POST /api/v1/auth/impersonate',
  'DELETE /api/v1/accounts/{id}/two-factor',
  'POST /api/v1/accounts/{id}/tokens',
  'PATCH /api/v1/users/bulk',
  'POST /api/v1/service-accounts',
  'GET /api/v1/accounts/{id}/personal-data',
  'PATCH /api/v1/settings/registration',
  'PATCH /api/v1/settings/registration-policy',
  'POST /api/v1/jobs/{id}/retry',
  'POST /api/v1/metamodel/types/{type_key}/stakeholder-roles',
  'POST /api/v1/metamodel/types/{type_key}/stakeholder-roles/{role_key}/restore',
];

const keys = Object.keys(appPermissions) as AppPermission[];
/** Sight of cards: whatever belongs to a card needs it besides. */
const sight: AppPermission = 'inventory.view';

/** The permissions that a demand names, anywhere in it. */
const named = (demand: string): AppPermission[] => {
  const words = demand.split(/[^a-z_.]+/);
  return keys.filter((key) => words.includes(key));
};

/**
 * Sets of permissions that the description says are enough: one key of several, or all that a demand names where it
 * says more than that.
 */
function enough(demand: string): AppPermission[][] {
  if (demand.includes('every other permission')) return [keys];
  const sets = demand.includes(' / ') ? [named(demand)] : named(demand).map((key) => [key]);
  return (sets.length > 0 ? sets : [[]]).map((set) => [...new Set([...set, sight])]);
}

/** Whether any login may do it: scopes bound the tokens of programs alone. */
const isOpenToLogins = (demand: string): boolean =>
  /^(?:login|public)(?: \/ scope [a-z_.]+(?:; (?:only the owner|and .*))?)?$/.test(demand);

/** The key of the role that holds these permissions and no other. */
const roleOf = (permissions: readonly AppPermission[]): string =>
  `only_${createHash('sha256')
    .update([...permissions].sort().join())
    .digest('hex')
    .slice(0, 16)}`;

const demandOf = (row: Row): string => demands.get(operationOf(row))!;

const w = closeAfterAll(await createWorld());
const demands = demandsOf(w);
const sets = [...keys.map((key) => [key]), ...[...demands.values()].flatMap(enough)];
const roles = [...new Map(sets.map((set) => [roleOf(set), set]))].map(([key, set]) => ({
  key,
  label: key,
  permissions: JSON.stringify(Object.fromEntries(set.map((permission) => [permission, true]))),
}));
await w.t.services.db('roles').insert(roles);
await w.t.services.db.raw("select record_events('[]', '{roles}')");

describe.each(table.map((row, at) => ({ ...row, at })))('$operation', (row) => {
  /** A refused request leaves its object as it was: the first allowed one acts on it, unless its call asks for the role. */
  let unchanged: Call | undefined;

  test('is refused to roles of a single permission that it does not name', async () => {
    const demand = demandOf(row);
    if (isOpenToLogins(demand) || ownLists.includes(operationOf(row))) return;
    const others = keys.filter((key) => !named(demand).includes(key));
    const call = await row.call(w, 'viewer');
    const tried = Array.from(
      { length: Math.min(SAMPLE, others.length) },
      (_, n) => others[(SEED * 31 + row.at * 7 + n * 37) % others.length]!,
    );
    const clients = await Promise.all(tried.map((permission) => w.t.as(roleOf([permission]))));
    await written(w);
    // sent together: none may write, so that none changes what another finds
    await Promise.all(
      tried.map(async (permission, n) => {
        const { status, answer } = await send(w, row, call, clients[n]!);
        if (status === 200 && call.refused) expect(call.refused(answer!.body), permission).toBe(true);
        else expect([403, 404], `${permission}: ${status} ${answer?.text}`).toContain(status);
      }),
    );
    expect(await written(w), tried.join()).toEqual([]);
    await call.after?.();
    if (row.call.length < 2) unchanged = call;
  });

  test('is allowed to a role that holds what it names, and sight of cards', async () => {
    const demand = demandOf(row);
    // what not even an administrator may do is tried above
    if (demand === 'public' || row.outcomes.startsWith('?')) return;
    if (leadsToRights.includes(operationOf(row))) return;
    for (const permissions of enough(demand)) {
      const role = roleOf(permissions) as Role;
      const call = unchanged ?? (await row.call(w, role));
      unchanged = undefined;
      const client = await (call.usesToken ? w.passing(role) : w.client(role));
      const { status, answer } = await send(w, row, call, client);
      await call.after?.();
      // a remote without an emulator does not answer
      expect([401, 403, 404, 500], `${permissions.join('+')}: ${status} ${answer?.text}`).not.toContain(
        status,
      );
    }
  });
});

test('every exception is an operation', () => {
  for (const operation of [...ownLists, ...leadsToRights]) expect([...demands.keys()]).toContain(operation);
});

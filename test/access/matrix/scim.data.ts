import { randomUUID } from 'node:crypto';
import { type Row, row } from '../matrix.row.ts';
import type { World } from '../world.ts';

const newUser = () => ({ userName: `${randomUUID()}@estate.example`, displayName: 'Provisioned' });
const newGroup = () => ({ displayName: `Group ${randomUUID()}` });

const user = async (w: World) => ({ path: { id: await w.user() } });
const group = async (w: World) => {
  const [made] = await w.t.services.db('scim_groups').insert({ display_name: randomUUID() }).returning('id');
  return { path: { id: made.id as string } };
};
const patch = (path: string, value: unknown) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
  Operations: [{ op: 'replace', path, value }],
});

const marks = '+ - - - - - 0';
const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';

/** An identity provider keeps accounts: it does what administrators of users do. */
export const scimRows: Row[] = [
  row('GET /scim/v2/ServiceProviderConfig', marks),
  row('GET /scim/v2/Schemas', marks),
  row('GET /scim/v2/Schemas/{id}', marks, () => ({ path: { id: USER } })),
  row('GET /scim/v2/ResourceTypes', marks),
  row('GET /scim/v2/ResourceTypes/{id}', marks, () => ({ path: { id: 'User' } })),
  row('GET /scim/v2/Users', marks),
  row('POST /scim/v2/Users/.search', marks, () => ({ body: { count: 1 } })),
  row('POST /scim/v2/Users', marks, () => ({ body: newUser() })),
  row('GET /scim/v2/Users/{id}', marks, user),
  row('PUT /scim/v2/Users/{id}', marks, async (w) => {
    const id = await w.user();
    const { email } = await w.t.services.db('users').where({ id }).first('email');
    return { path: { id }, body: { userName: email, displayName: 'Provisioned' } };
  }),
  row('PATCH /scim/v2/Users/{id}', marks, user, patch('displayName', 'Renamed')),
  row('DELETE /scim/v2/Users/{id}', marks, user),
  row('GET /scim/v2/Me', marks),
  row('PUT /scim/v2/Me', marks, async (w, role) => ({
    body: { userName: (await w.client(role)).email || 'nobody', displayName: 'Provisioned' },
  })),
  row('PATCH /scim/v2/Me', marks, () => ({ body: patch('displayName', 'Myself') })),
  row('GET /scim/v2/Groups', marks),
  row('POST /scim/v2/Groups/.search', marks, () => ({ body: { count: 1 } })),
  row('POST /scim/v2/Groups', marks, () => ({ body: newGroup() })),
  row('GET /scim/v2/Groups/{id}', marks, group),
  row('PUT /scim/v2/Groups/{id}', marks, async (w) => ({ ...(await group(w)), body: newGroup() })),
  row('PATCH /scim/v2/Groups/{id}', marks, group, () => patch('displayName', randomUUID())),
  row('DELETE /scim/v2/Groups/{id}', marks, group),
];

import { createTestApp, type TestClient } from './harness.ts';

/** URNs of RFC 7643 and RFC 7644. */
export const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
export const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group';

export type Provisioned = Awaited<ReturnType<typeof provisioned>>;

/** The body of a PATCH. */
export const patch = (...Operations: unknown[]) => ({ schemas: [PATCH], Operations });

/** The application with groups that give roles, and an agent. */
export async function provisioned() {
  const t = await createTestApp();
  const admin = await t.as('admin', 'keeper');
  const account = await admin.post('/api/v1/service-accounts', { display_name: 'Agent', role: 'admin' });
  const { body } = await admin.post(`/api/v1/accounts/${account.body.id}/tokens`, { name: 'Provisioning' });
  await admin.patch('/api/v1/settings/sso', {
    group_roles: [
      { group: 'Administrators', role: 'admin' },
      { group: 'b5f2-viewers', role: 'viewer' },
      { group: 'Architects', role: 'bpm_admin' },
    ],
  });
  const agent = withToken(t.anonymous, body.token);
  return {
    t,
    /** Sends what provisioning agents send, with the token of a service account that is an administrator. */
    agent,
    filtered: (kind: 'Users' | 'Groups', filter: string, more = '') =>
      agent.get(`/scim/v2/${kind}?filter=${encodeURIComponent(filter)}${more}`),
    roleOf: async (id: string) => (await t.services.db('users').where({ id }).first('role'))?.role,
    /** Creates `<name>@example.org`. @returns the id. */
    newUser: async (name: string): Promise<string> =>
      (await agent.post('/scim/v2/Users', { schemas: [USER], userName: `${name}@example.org` })).body.id,
  };
}

function withToken(anonymous: TestClient, token: string): TestClient {
  const headers = {
    'content-type': 'application/scim+json',
    accept: 'application/scim+json',
    authorization: `Bearer ${token}`,
  };
  const send =
    (method: 'POST' | 'PATCH' | 'PUT' | 'DELETE'): TestClient['post'] =>
    (url, body, more = {}) =>
      anonymous.request({
        method,
        url,
        headers: { ...headers, ...more },
        ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
      });
  return {
    ...anonymous,
    request: (options) => anonymous.request({ ...options, headers: { ...headers, ...options.headers } }),
    get: (url, more = {}) => anonymous.request({ method: 'GET', url, headers: { ...headers, ...more } }),
    post: send('POST'),
    patch: send('PATCH'),
    put: send('PUT'),
    delete: send('DELETE'),
  };
}

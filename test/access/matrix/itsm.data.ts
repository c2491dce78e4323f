import { randomUUID } from 'node:crypto';
import { authority, serverCertificate } from '../../emulators/certificates.ts';
import { startServiceNow } from '../../emulators/servicenow/server.ts';
import { bearer } from '../../support/accounts.ts';
import { type Row, row } from '../matrix.row.ts';
import type { Role, World } from '../world.ts';

const base = '/api/v1/itsm-sync/connections';
const administering = '+ - - - - - 0';

const body = (address = 'https://127.0.0.1:9') => ({
  name: randomUUID(),
  instance_url: address,
  username: 'estate',
  password: 'secret',
  ca: authority,
});

const connection = async (w: World, address?: string): Promise<{ conn_id: string; table: string }> => {
  const answer = await (await w.t.as('admin', 'maker')).post(base, body(address));
  return { conn_id: answer.body.id as string, table: 'cmdb_ci' };
};

/** Somebody answers at the address where the remote is called. */
const atRemote = (method: 'GET' | 'POST', rest: string) => async (w: World, role: Role) => {
  if (role !== 'admin') return { path: await connection(w) };
  const instance = await startServiceNow({ tls: serverCertificate });
  const { conn_id } = await connection(w, instance.base);
  return {
    async send(w: World, token: string) {
      const url = `${base}/${conn_id}/${rest}`;
      const answer = await w.t.anonymous.request({ method, url, headers: bearer(token) });
      await instance.close();
      return answer.status;
    },
  };
};

const onConnection = async (w: World) => ({ path: await connection(w) });

const mappings = '/api/v1/itsm-sync/mappings';

const mappingBody = async (w: World, address?: string) => ({
  connection_id: (await connection(w, address)).conn_id,
  card_type_key: 'Application',
  remote_table: 'cmdb_ci_business_app',
  field_mappings: [{ card_field: 'name', remote_field: 'name', is_identity: true }],
});

const mapping = async (w: World, address?: string): Promise<string> => {
  const answer = await (await w.t.as('admin', 'maker')).post(mappings, await mappingBody(w, address));
  return answer.body.id;
};
const onMapping = async (w: World) => ({ path: { mapping_id: await mapping(w) } });

/** Somebody answers at the address where the mapping's remote is called. */
const atMappedRemote = (rest: string) => async (w: World, role: Role) => {
  if (role !== 'admin') return await onMapping(w);
  const instance = await startServiceNow({ tls: serverCertificate });
  const url = `${mappings}/${await mapping(w, instance.base)}/${rest}`;
  return {
    async send(w: World, token: string) {
      const answer = await w.t.anonymous.request({ method: 'POST', url, headers: bearer(token) });
      await instance.close();
      return answer.status;
    },
  };
};

/** Synchronisation is for administrators, unless a role of the workspace's own may see or manage it. */
export const itsmRows: Row[] = [
  row(`GET ${base}`, administering),
  row(`POST ${base}`, administering, () => ({ body: body() })),
  row(`GET ${base}/{conn_id}`, administering, onConnection),
  row(`PATCH ${base}/{conn_id}`, administering, onConnection, { is_active: false }),
  row(`DELETE ${base}/{conn_id}`, administering, onConnection),
  row(`POST ${base}/{conn_id}/test`, administering, atRemote('POST', 'test')),
  row(`GET ${base}/{conn_id}/tables`, administering, atRemote('GET', 'tables')),
  row(`GET ${base}/{conn_id}/tables/{table}/fields`, administering, atRemote('GET', 'tables/cmdb_ci/fields')),
  row(`GET ${mappings}`, administering),
  row(`POST ${mappings}`, administering, async (w) => ({ body: await mappingBody(w) })),
  row(`GET ${mappings}/{mapping_id}`, administering, onMapping),
  row(`PATCH ${mappings}/{mapping_id}`, administering, onMapping, { is_active: false }),
  row(`DELETE ${mappings}/{mapping_id}`, administering, onMapping),
  row(`POST ${mappings}/{mapping_id}/validate`, administering, atMappedRemote('validate')),
  row(`POST ${mappings}/{mapping_id}/preview`, administering, atMappedRemote('preview')),
  row(`GET ${mappings}/{mapping_id}/coverage`, administering, onMapping),
  row('GET /api/v1/itsm-sync/presets', administering),
  row(`GET ${base}/{conn_id}/health`, administering, onConnection),
  row(`GET ${base}/{conn_id}/relation-types`, administering, atRemote('GET', 'relation-types')),
];

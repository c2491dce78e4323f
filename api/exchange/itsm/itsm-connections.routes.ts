import Type from 'typebox';
import {
  createConnection,
  deleteConnection,
  patchConnection,
} from '../../../domain/exchange/itsm/connections.commands.ts';
import { ConnectionCreate, ConnectionPatch } from '../../../domain/exchange/itsm/connections.input.ts';
import { connectionList } from '../../../domain/exchange/itsm/connections.queries.ts';
import { Connection } from '../../../domain/exchange/itsm/itsm.model.ts';
import { PresetItem, presets } from '../../../domain/exchange/itsm/presets/presets.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { itemComponent, Nullable, NullableText, object, Uuid } from '../../../domain/kernel/shapes.ts';
import {
  ConnectionHealth,
  readHealth,
} from '../../../integrations/exchange/itsm/connections/connections.health.ts';
import {
  ConnectionTest,
  listRemoteFields,
  listRemoteRelationTypes,
  listRemoteTables,
  RemoteFieldItem,
  RemoteRelationTypeItem,
  RemoteTableItem,
  testConnection,
} from '../../../integrations/exchange/itsm/connections/connections.remote.ts';
import { created, ok, page, routesOf } from '../../operation.ts';
import { listQuery } from '../../schemas.ts';
import type { App } from '../../types.ts';
import { usesNote } from './itsm-rights.ts';

const Masked = NullableText('A mask if the secret is set');

const ItsmConnectionSchema = itemComponent('ItsmConnection', {
  ...Connection.shown.columns,
  password: Masked,
  client_secret: Masked,
  refresh_token: Masked,
  token: Masked,
  private_key: Masked,
  client_key: Masked,
  owner_name: Nullable(Type.String()),
  mapping_count: Type.Integer(),
});

const manage = 'itsm_sync.manage';
const base = '/api/v1/itsm-sync/connections';

/** Connections to ITSM systems. */
export function registerItsmConnectionRoutes(app: App, services: Services): void {
  const routes = routesOf(app, { tag: 'ITSM synchronisation' });

  routes.list('listItsmConnections', base, connectionList, {
    summary: 'List connections',
    responses: page('Connections', ItsmConnectionSchema),
  });

  routes.get('listItsmPresets', '/api/v1/itsm-sync/presets', {
    summary: 'List presets of connections',
    description:
      'Connections to well-known sources, and the mappings that fit them. Create a connection with `preset` and its parameters, then the mappings.',
    permission: 'itsm_sync.view',
    responses: ok('The presets', object({ items: Type.Array(PresetItem) })),
    handler: async () => ({ items: presets }),
  });

  routes.post('createItsmConnection', base, {
    summary: 'Create a connection',
    description:
      'The remote is not called: test the connection next. Secrets are stored encrypted and never returned. The address must be https and public, unless OUTBOUND_ALLOW contains it.',
    permission: manage,
    body: ConnectionCreate,
    responses: created('The connection', ItsmConnectionSchema),
    errors: ['name_taken'],
    handler: ({ ctx, body }) => createConnection(ctx, services, body),
  });

  routes.item('readItsmConnection', '/api/v1/itsm-sync/connections/:conn_id', connectionList, 'connection', {
    summary: 'Read one connection',
    responses: ok('The connection', ItsmConnectionSchema),
  });

  routes.patch('patchItsmConnection', '/api/v1/itsm-sync/connections/:conn_id', {
    summary: 'Change, pause or resume a connection',
    description:
      'If the address changes, all secrets have to be sent again. A caller who changes how the remote is accessed, or resumes the connection, becomes its owner and needs the permissions that its mappings use. Changed access also clears the result of the last test.',
    permission: manage,
    permissionNote: usesNote,
    body: ConnectionPatch,
    responses: ok('The connection', ItsmConnectionSchema),
    errors: ['name_taken'],
    handler: ({ ctx, params, body }) => patchConnection(ctx, services, params.conn_id, body),
  });

  routes.delete('deleteItsmConnection', '/api/v1/itsm-sync/connections/:conn_id', {
    summary: 'Delete a connection',
    permission: manage,
    ifMatch: true,
    errors: ['mappings_present'],
    handler: ({ ctx, params }) => deleteConnection(ctx, params.conn_id),
  });

  registerItsmRemoteRoutes(app, services);
}

/** Operations that call the remote of a connection, and its health. */
function registerItsmRemoteRoutes(app: App, services: Services): void {
  const routes = routesOf(app, { tag: 'ITSM synchronisation' });

  routes.post('testItsmConnection', '/api/v1/itsm-sync/connections/:conn_id/test', {
    summary: 'Test a connection and the rights of its account on each table',
    description:
      'Logs in, reads each table that is needed and checks the roles of the account; nothing is written to the remote. Takes at most 10 seconds. The response of a failed test is 200 with `success: false`. A paused connection can be tested.',
    permission: manage,
    responses: ok('The result', ConnectionTest),
    errors: ['conflict'],
    handler: ({ ctx, params }) => testConnection(ctx, services, params.conn_id),
  });

  routes.get('listItsmRemoteTables', '/api/v1/itsm-sync/connections/:conn_id/tables', {
    summary: 'List the tables of the remote',
    description:
      'The tables that its account can see now; `search` applies to names and labels. Takes at most 10 seconds.',
    permission: manage,
    query: listQuery(['name'], 'name', {}),
    responses: page('Tables', RemoteTableItem),
    errors: ['upstream_failed', 'wrong_state'],
    handler: ({ ctx, params, query }) => listRemoteTables(ctx, services, params.conn_id, query),
  });

  routes.get('listItsmRemoteFields', '/api/v1/itsm-sync/connections/:conn_id/tables/:table/fields', {
    summary: 'List the columns of a table of the remote',
    description: 'Includes inherited columns. Takes at most 10 seconds.',
    permission: manage,
    params: object({
      conn_id: Uuid,
      table: Type.String({ pattern: '^[A-Za-z][A-Za-z0-9_./-]{0,199}$', examples: ['cmdb_ci_server'] }),
    }),
    query: listQuery(['name'], 'name', {}),
    responses: page('Columns', RemoteFieldItem),
    errors: ['upstream_failed', 'wrong_state'],
    handler: ({ ctx, params, query }) => listRemoteFields(ctx, services, params.conn_id, params.table, query),
  });

  routes.get('listItsmRemoteRelationTypes', '/api/v1/itsm-sync/connections/:conn_id/relation-types', {
    summary: 'List the relation types of the remote',
    description: 'Their ids are the `remote_type` of relation mappings. Takes at most 10 seconds.',
    permission: manage,
    query: listQuery(['name'], 'name', {}),
    responses: page('Relation types', RemoteRelationTypeItem),
    errors: ['upstream_failed', 'wrong_state'],
    handler: ({ ctx, params, query }) => listRemoteRelationTypes(ctx, services, params.conn_id, query),
  });

  routes.get('readItsmConnectionHealth', '/api/v1/itsm-sync/connections/:conn_id/health', {
    summary: 'Read the health of a connection',
    description:
      'Its last runs, open plans and review items, and the current request rate. The remote is not called.',
    permission: 'itsm_sync.view',
    responses: ok('The health', ConnectionHealth),
    handler: ({ ctx, params }) => readHealth(ctx, services, params.conn_id),
  });
}

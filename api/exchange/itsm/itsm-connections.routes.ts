import Type from 'typebox';
import {
  createConnection,
  deleteConnection,
  patchConnection,
} from '../../../domain/exchange/itsm/connections.commands.ts';
import { ConnectionCreate, ConnectionPatch } from '../../../domain/exchange/itsm/connections.input.ts';
import { listConnections, readConnection } from '../../../domain/exchange/itsm/connections.queries.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { object, Uuid } from '../../../domain/kernel/shapes.ts';
import { readHealth } from '../../../integrations/itsm/connections/connections.health.ts';
import {
  listRemoteFields,
  listRemoteRelationTypes,
  listRemoteTables,
  testConnection,
} from '../../../integrations/itsm/connections/connections.remote.ts';
import { sendResource } from '../../json.ts';
import { routesOf } from '../../operation.ts';
import { listAnswer, listQuery } from '../../schemas/common.ts';
import {
  ItsmConnectionHealthSchema,
  ItsmConnectionSchema,
  ItsmConnectionTestSchema,
  ItsmRemoteFieldSchema,
  ItsmRemoteRelationTypeSchema,
  ItsmRemoteTableSchema,
} from '../../schemas/itsm.ts';
import type { App } from '../../types.ts';
import { usesNote } from './itsm-rights.ts';

const see = 'itsm_sync.view';
const manage = 'itsm_sync.manage';
const base = '/api/v1/itsm-sync/connections';

const connection = (description: string) => ({ description, schema: ItsmConnectionSchema });

/** Connections to remote databases of configuration items. */
export function registerItsmConnectionRoutes(app: App, services: Services): void {
  const routes = routesOf(app, { tag: 'ITSM synchronisation' });

  routes.get(base, {
    id: 'listItsmConnections',
    summary: 'List connections',
    permission: see,
    query: listQuery(['name', 'created_at'], 'name', {
      is_active: Type.Optional(Type.Boolean({ description: 'Whether it is not paused' })),
    }),
    answers: { 200: { description: 'Connections', schema: listAnswer(ItsmConnectionSchema) } },
    handler: ({ ctx, query }) => listConnections(ctx, query),
  });

  routes.post(base, {
    id: 'createItsmConnection',
    summary: 'Set up a connection',
    description:
      'Nothing is called yet: test it next. Secrets are kept encrypted and shown to nobody. The address must be https and public, unless OUTBOUND_ALLOW names it.',
    permission: manage,
    body: ConnectionCreate,

    answers: { 201: connection('The connection') },
    errors: ['name_taken'],
    handler: async ({ ctx, body, reply }) =>
      sendResource(reply.code(201), await createConnection(ctx, services, body)),
  });

  routes.get('/api/v1/itsm-sync/connections/:conn_id', {
    id: 'readItsmConnection',
    summary: 'Read one connection',
    permission: see,
    answers: { 200: connection('The connection') },
    handler: ({ ctx, params }) => readConnection(ctx, params.conn_id),
  });

  routes.patch('/api/v1/itsm-sync/connections/:conn_id', {
    id: 'patchItsmConnection',
    summary: 'Change, pause or resume a connection',
    description:
      'With another address every secret is needed again. Whoever has the remote called in another way, or resumes the connection, becomes its owner and must hold the permissions that its mappings use; what the last test found is then forgotten.',
    permission: manage,
    permissionNote: usesNote,
    body: ConnectionPatch,

    headers: ['If-Match'],
    answers: { 200: connection('The connection') },
    errors: ['name_taken'],
    handler: ({ ctx, params, body }) => patchConnection(ctx, services, params.conn_id, body),
  });

  routes.delete('/api/v1/itsm-sync/connections/:conn_id', {
    id: 'deleteItsmConnection',
    summary: 'Delete a connection',
    permission: manage,
    headers: ['If-Match'],
    errors: ['mappings_present'],
    handler: ({ ctx, params }) => deleteConnection(ctx, params.conn_id),
  });

  registerItsmRemoteRoutes(app, services);
}

/** What the remote of a connection answers. */
function registerItsmRemoteRoutes(app: App, services: Services): void {
  const routes = routesOf(app, { tag: 'ITSM synchronisation' });

  routes.post('/api/v1/itsm-sync/connections/:conn_id/test', {
    id: 'testItsmConnection',
    summary: 'Test a connection and the rights of its account, table by table',
    description:
      'Logs in, reads each table that is needed and looks at the roles of the account; nothing is written over there. Takes 10 seconds at most. A test that fails is answered with 200 and `success: false`; a paused connection can be tested.',
    permission: manage,
    answers: { 200: { description: 'What was found', schema: ItsmConnectionTestSchema } },
    errors: ['conflict'],
    handler: ({ ctx, params }) => testConnection(ctx, services, params.conn_id),
  });

  routes.get('/api/v1/itsm-sync/connections/:conn_id/tables', {
    id: 'listItsmRemoteTables',
    summary: 'List the tables of the remote',
    description:
      'As its account sees them now; `search` looks into names and labels. Takes 10 seconds at most.',
    permission: manage,
    query: listQuery(['name'], 'name', {}),
    answers: { 200: { description: 'Tables', schema: listAnswer(ItsmRemoteTableSchema) } },
    errors: ['upstream_failed', 'wrong_state'],
    handler: ({ ctx, params, query }) => listRemoteTables(ctx, services, params.conn_id, query),
  });

  routes.get('/api/v1/itsm-sync/connections/:conn_id/tables/:table/fields', {
    id: 'listItsmRemoteFields',
    summary: 'List the columns of a table of the remote',
    description: 'Inherited ones included. Takes 10 seconds at most.',
    permission: manage,
    params: object({
      conn_id: Uuid,
      table: Type.String({ pattern: '^[A-Za-z][A-Za-z0-9_./-]{0,199}$', examples: ['cmdb_ci_server'] }),
    }),
    query: listQuery(['name'], 'name', {}),
    answers: { 200: { description: 'Columns', schema: listAnswer(ItsmRemoteFieldSchema) } },
    errors: ['upstream_failed', 'wrong_state'],
    handler: ({ ctx, params, query }) => listRemoteFields(ctx, services, params.conn_id, params.table, query),
  });

  routes.get('/api/v1/itsm-sync/connections/:conn_id/relation-types', {
    id: 'listItsmRemoteRelationTypes',
    summary: 'List the kinds of relations of the remote',
    description: 'Their keys are what relation mappings name. Takes 10 seconds at most.',
    permission: manage,
    query: listQuery(['name'], 'name', {}),
    answers: {
      200: { description: 'Kinds of relations', schema: listAnswer(ItsmRemoteRelationTypeSchema) },
    },
    errors: ['upstream_failed', 'wrong_state'],
    handler: ({ ctx, params, query }) => listRemoteRelationTypes(ctx, services, params.conn_id, query),
  });

  routes.get('/api/v1/itsm-sync/connections/:conn_id/health', {
    id: 'readItsmConnectionHealth',
    summary: 'See how a connection has fared',
    description:
      'Its last runs, what waits for a person, and the pace at which the remote is called now. Nothing is called.',
    permission: see,
    answers: { 200: { description: 'Its health', schema: ItsmConnectionHealthSchema } },
    handler: ({ ctx, params }) => readHealth(ctx, services, params.conn_id),
  });
}

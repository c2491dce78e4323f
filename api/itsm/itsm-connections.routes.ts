import Type, { type TSchema } from 'typebox';
import {
  createConnection,
  deleteConnection,
  patchConnection,
} from '../../domain/exchange/itsm/connections.commands.ts';
import { ConnectionCreate, ConnectionPatch } from '../../domain/exchange/itsm/connections.input.ts';
import { listConnections, readConnection } from '../../domain/exchange/itsm/connections.queries.ts';
import type { Services } from '../../domain/kernel/services.ts';
import { closed, Uuid } from '../../domain/kernel/shapes.ts';
import { readHealth } from '../../integrations/itsm/connections/connections.health.ts';
import {
  listRemoteFields,
  listRemoteRelationTypes,
  listRemoteTables,
  testConnection,
} from '../../integrations/itsm/connections/connections.remote.ts';
import { sendJson, sendResource } from '../json.ts';
import { operation } from '../operation.ts';
import { listAnswer, listQuery } from '../schemas/common.ts';
import {
  ItsmConnectionHealthSchema,
  ItsmConnectionSchema,
  ItsmConnectionTestSchema,
  ItsmRemoteFieldSchema,
  ItsmRemoteRelationTypeSchema,
  ItsmRemoteTableSchema,
} from '../schemas/itsm.ts';
import type { App } from '../types.ts';
import { usesNote } from './itsm-rights.ts';

const tag = 'ITSM synchronisation';
const see = 'itsm_sync.view';
const manage = 'itsm_sync.manage';
const base = '/api/v1/itsm-sync/connections';
const params = Type.Object({ conn_id: Uuid }, closed);

const connection = (description: string) => ({ description, schema: Type.Ref('ItsmConnection#') });

/** Connections to remote databases of configuration items. */
export function registerItsmConnectionRoutes(app: App, services: Services): void {
  const schemas = [
    ItsmConnectionHealthSchema,
    ItsmConnectionSchema,
    ItsmConnectionTestSchema,
    ItsmRemoteTableSchema,
    ItsmRemoteFieldSchema,
    ItsmRemoteRelationTypeSchema,
  ];
  for (const schema of schemas as TSchema[]) app.addSchema(schema);

  operation(app, {
    method: 'GET',
    url: base,
    id: 'listItsmConnections',
    tag,
    summary: 'List connections',
    permission: see,
    query: listQuery(['name', 'created_at'], 'name', {
      is_active: Type.Optional(Type.Boolean({ description: 'Whether it is not paused' })),
    }),
    answers: { 200: { description: 'Connections', schema: listAnswer(Type.Ref('ItsmConnection#')) } },
    handler: async ({ ctx, query, reply }) => sendJson(reply, await listConnections(ctx, query)),
  });

  operation(app, {
    method: 'POST',
    url: base,
    id: 'createItsmConnection',
    tag,
    summary: 'Set up a connection',
    description:
      'Nothing is called yet: test it next. Secrets are kept encrypted and shown to nobody. The address must be https and public, unless OUTBOUND_ALLOW names it.',
    permission: manage,
    body: ConnectionCreate,
    bodyExample: {
      name: 'ServiceNow',
      instance_url: 'https://example.service-now.com',
      auth_type: 'basic',
      username: 'estate.sync',
      password: 'a password of its own',
    },
    answers: { 201: connection('The connection') },
    errors: ['name_taken'],
    handler: async ({ ctx, body, reply }) =>
      sendResource(reply.code(201), await createConnection(ctx, services, body)),
  });

  operation(app, {
    method: 'GET',
    url: `${base}/:conn_id`,
    id: 'readItsmConnection',
    tag,
    summary: 'Read one connection',
    permission: see,
    params,
    answers: { 200: connection('The connection') },
    handler: async ({ ctx, params, reply }) => sendJson(reply, await readConnection(ctx, params.conn_id)),
  });

  operation(app, {
    method: 'PATCH',
    url: `${base}/:conn_id`,
    id: 'patchItsmConnection',
    tag,
    summary: 'Change, pause or resume a connection',
    description:
      'With another address every secret is needed again. Whoever has the remote called in another way, or resumes the connection, becomes its owner and must hold the permissions that its mappings use; what the last test found is then forgotten.',
    permission: manage,
    permissionNote: usesNote,
    params,
    body: ConnectionPatch,
    bodyExample: { is_active: false },
    headers: ['If-Match'],
    answers: { 200: connection('The connection') },
    errors: ['name_taken'],
    handler: async ({ ctx, params, body, reply }) =>
      sendResource(reply, await patchConnection(ctx, services, params.conn_id, body)),
  });

  operation(app, {
    method: 'DELETE',
    url: `${base}/:conn_id`,
    id: 'deleteItsmConnection',
    tag,
    summary: 'Delete a connection',
    permission: manage,
    params,
    headers: ['If-Match'],
    answers: { 204: { description: 'Deleted' } },
    errors: ['mappings_present'],
    handler: async ({ ctx, params, reply }) => {
      await deleteConnection(ctx, params.conn_id);
      return reply.code(204).send();
    },
  });

  registerItsmRemoteRoutes(app, services);
}

/** What the remote of a connection answers. */
function registerItsmRemoteRoutes(app: App, services: Services): void {
  operation(app, {
    method: 'POST',
    url: `${base}/:conn_id/test`,
    id: 'testItsmConnection',
    tag,
    summary: 'Test a connection and the rights of its account, table by table',
    description:
      'Logs in, reads each table that is needed and looks at the roles of the account; nothing is written over there. Takes 10 seconds at most. A test that fails is answered with 200 and `success: false`; a paused connection can be tested.',
    permission: manage,
    params,
    answers: { 200: { description: 'What was found', schema: Type.Ref('ItsmConnectionTest#') } },
    errors: ['conflict'],
    handler: async ({ ctx, params, reply }) =>
      reply.send(await testConnection(ctx, services, params.conn_id)),
  });

  operation(app, {
    method: 'GET',
    url: `${base}/:conn_id/tables`,
    id: 'listItsmRemoteTables',
    tag,
    summary: 'List the tables of the remote',
    description:
      'As its account sees them now; `search` looks into names and labels. Takes 10 seconds at most.',
    permission: manage,
    params,
    query: listQuery(['name'], 'name', {}),
    answers: { 200: { description: 'Tables', schema: listAnswer(Type.Ref('ItsmRemoteTable#')) } },
    errors: ['upstream_failed', 'wrong_state'],
    handler: async ({ ctx, params, query, reply }) =>
      sendJson(reply, await listRemoteTables(ctx, services, params.conn_id, query)),
  });

  operation(app, {
    method: 'GET',
    url: `${base}/:conn_id/tables/:table/fields`,
    id: 'listItsmRemoteFields',
    tag,
    summary: 'List the columns of a table of the remote',
    description: 'Inherited ones included. Takes 10 seconds at most.',
    permission: manage,
    params: Type.Object(
      {
        conn_id: Uuid,
        table: Type.String({ pattern: '^[A-Za-z][A-Za-z0-9_./-]{0,199}$', examples: ['cmdb_ci_server'] }),
      },
      closed,
    ),
    query: listQuery(['name'], 'name', {}),
    answers: { 200: { description: 'Columns', schema: listAnswer(Type.Ref('ItsmRemoteField#')) } },
    errors: ['upstream_failed', 'wrong_state'],
    handler: async ({ ctx, params, query, reply }) =>
      sendJson(reply, await listRemoteFields(ctx, services, params.conn_id, params.table, query)),
  });

  operation(app, {
    method: 'GET',
    url: `${base}/:conn_id/relation-types`,
    id: 'listItsmRemoteRelationTypes',
    tag,
    summary: 'List the kinds of relations of the remote',
    description: 'Their keys are what relation mappings name. Takes 10 seconds at most.',
    permission: manage,
    params,
    query: listQuery(['name'], 'name', {}),
    answers: {
      200: { description: 'Kinds of relations', schema: listAnswer(Type.Ref('ItsmRemoteRelationType#')) },
    },
    errors: ['upstream_failed', 'wrong_state'],
    handler: async ({ ctx, params, query, reply }) =>
      sendJson(reply, await listRemoteRelationTypes(ctx, services, params.conn_id, query)),
  });

  operation(app, {
    method: 'GET',
    url: `${base}/:conn_id/health`,
    id: 'readItsmConnectionHealth',
    tag,
    summary: 'See how a connection has fared',
    description:
      'Its last runs, what waits for a person, and the pace at which the remote is called now. Nothing is called.',
    permission: see,
    params,
    answers: { 200: { description: 'Its health', schema: Type.Ref('ItsmConnectionHealth#') } },
    handler: async ({ ctx, params, reply }) => reply.send(await readHealth(ctx, services, params.conn_id)),
  });
}

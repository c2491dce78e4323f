import Type, { type Static } from 'typebox';
import { storeTestResult } from '../../../../domain/exchange/itsm/connections.commands.ts';
import { MANAGE_SYNC } from '../../../../domain/exchange/itsm/connections.queries.ts';
import {
  type LoadedConnection,
  loadConnection,
  loadMappingsOf,
} from '../../../../domain/exchange/itsm/itsm.load.ts';
import type { Mapping } from '../../../../domain/exchange/itsm/mappings.types.ts';
import type { Ctx } from '../../../../domain/kernel/context.ts';
import { runList } from '../../../../domain/kernel/lists/lists.run.ts';
import { textLiteral } from '../../../../domain/kernel/lists/lists.sql.ts';
import type { JsonText, ListParams, ListSpec } from '../../../../domain/kernel/lists/lists.types.ts';
import { requirePermission } from '../../../../domain/kernel/permissions/policy.ts';
import {
  arrayOf,
  Choice,
  component,
  itemComponent,
  Nullable,
  NullableText,
} from '../../../../domain/kernel/shapes.ts';
import { EstateError, notFound } from '../../../../platform/errors.ts';
import type { Connector, Right, RightResult } from '../connectors/connector.ts';
import { advice, isRemoteError, RemoteError, type RemoteErrorCode, withFallback } from '../remote.ts';
import { openConnection, type RemoteTools, remoteKinds, type TestedTable } from './connections.open.ts';

/** Maximum duration of a request to a remote. */
const MAX_MS = 10_000;
/** A test reads many tables, and the remote may be slow. */
const MAX_TEST_MS = 30_000;

/** The result of a connection test. */
export const ConnectionTest = component('ItsmConnectionTest', {
  success: Type.Boolean({ description: 'Whether the account has all rights that are needed' }),
  message: Type.String(),
  failure: Nullable(Choice(Object.keys(advice) as RemoteErrorCode[], 'Why the remote could not be called')),
  rights: arrayOf({
    table: Type.String(),
    right: Choice(['read', 'create', 'update', 'delete']),
    needed: Type.Boolean({ description: 'Whether synchronisation needs the right' }),
    granted: Nullable(Type.Boolean({ description: 'Null if the remote does not report it' })),
    how: Type.String({
      description: 'How that was determined, or what to request from the administrator',
    }),
  }),
});
export type ConnectionTest = Static<typeof ConnectionTest>;
type TestedRight = ConnectionTest['rights'][number];

/**
 * Logs in and tests the account's rights table by table, without writing to the remote; stores the result.
 * @throws EstateError `forbidden`, `not_found`, `conflict`.
 */
export async function testConnection(ctx: Ctx, tools: RemoteTools, id: string): Promise<ConnectionTest> {
  requirePermission(ctx.caller, MANAGE_SYNC);
  const connection = await loadConnection(ctx.db, tools.secrets, id);
  const kind = remoteKinds[connection.settings.kind];
  const tested = addMappedTables(kind.rightsToTest(connection), await loadMappingsOf(ctx.db, id));
  const needs = tested.map(({ table, rights }) => ({ table, rights }));
  const test = await callWithin(tools, connection, (remote) => remote.testRights(needs), MAX_TEST_MS).then(
    (found) => summarizeRights(found, tested),
    (error) => {
      if (!isRemoteError(error)) throw error;
      return { success: false, message: describeRemoteError(error), failure: error.code, rights: [] };
    },
  );
  await storeTestResult(ctx, connection, {
    test_status: test.success ? 'passed' : 'failed',
    test_message: test.message,
  });
  return test;
}

/** Maximum number of tested tables of mappings, since a request waits for the test. */
const MAX_MAPPED_TABLES = 10;

/** Adds the tables of the connection's mappings, with the rights that they need. */
function addMappedTables(defaults: readonly TestedTable[], mappings: readonly Mapping[]): TestedTable[] {
  const tested = new Map(defaults.map((one) => [one.table, one]));
  for (const { remote_table: table, sync_direction, sync_mode } of mappings) {
    if (!tested.has(table) && tested.size >= defaults.length + MAX_MAPPED_TABLES) continue;
    const writes = sync_direction !== 'pull';
    const { rights, needed } = tested.get(table) ?? { rights: [], needed: [] };
    const mapped: Right[] = ['read'];
    if (writes) mapped.push('create', 'update');
    if (writes && sync_mode !== 'additive') mapped.push('delete');
    tested.set(table, {
      table,
      rights: [...new Set([...rights, ...mapped])],
      needed: [...new Set([...needed, 'read' as const])],
    });
  }
  return [...tested.values()];
}

function summarizeRights(found: RightResult[], tested: readonly TestedTable[]): ConnectionTest {
  const rights = found.map(({ blocksRuns: blocks = false, ...one }) => ({
    ...one,
    needed: blocks || tested.some(({ table, needed }) => table === one.table && needed.includes(one.right)),
  }));
  const missing = rights.filter(({ needed, granted }) => needed && granted === false);
  const denied = rights.filter(({ needed, granted }) => !needed && granted === false);
  const list = (some: TestedRight[]) => some.map(({ right, table }) => `${right} ${table}`).join(', ');
  const blocking = found.find(({ blocksRuns, granted }) => blocksRuns && granted === false);
  const message = blocking
    ? blocking.how
    : missing.length > 0
      ? `The account lacks rights: ${list(missing)}.`
      : denied.length > 0
        ? `The account can read. It lacks other rights: ${list(denied)}.`
        : 'The account can read; no missing right was found.';
  return { success: missing.length === 0, message, failure: null, rights };
}

const describeRemoteError = ({ what, advice }: RemoteError): string => `${what}. ${advice}`;

export const RemoteTableItem = itemComponent('ItsmRemoteTable', {
  name: Type.String(),
  label: Type.String(),
  parent: NullableText('The table whose columns it inherits'),
});
export const RemoteFieldItem = itemComponent('ItsmRemoteField', {
  name: Type.String(),
  label: Type.String(),
  type: Choice(['text', 'integer', 'decimal', 'boolean', 'date', 'datetime', 'reference', 'other']),
  remote_type: Type.String({ description: 'The remote’s name of the type' }),
  reference: NullableText('The table that a reference refers to'),
  max_length: Nullable(Type.Integer()),
  mandatory: Type.Boolean(),
  choices: arrayOf({ value: Type.String(), label: Type.String() }),
});
export const RemoteRelationTypeItem = itemComponent('ItsmRemoteRelationType', {
  id: Type.String({ description: 'The `remote_type` of relation mappings' }),
  name: Type.String(),
  forward: Type.String({ description: 'How it reads from its parent' }),
  reverse: Type.String({ description: 'How it reads from its child' }),
});

/** Lists of a remote. `searched`: the members that a search reads; without them the remote searches. */
const remoteLists = {
  tables: { item: RemoteTableItem, id: 'name' },
  fields: { item: RemoteFieldItem, id: 'name', searched: ['name', 'label'] },
  'relation-types': { item: RemoteRelationTypeItem, id: 'id', searched: ['name', 'forward', 'reverse'] },
} as const satisfies Record<
  string,
  { item: { properties: object }; id: string; searched?: readonly string[] }
>;

/** Pages, sorts and searches rows that a remote returned. @param of what was requested from the remote. */
async function listRows(
  ctx: Ctx,
  kind: keyof typeof remoteLists,
  found: unknown[],
  params: ListParams,
  of: unknown[],
): Promise<JsonText> {
  const { item, id, ...list } = remoteLists[kind];
  const text = (member: string) => `r.row ->> '${member}'`;
  const spec: ListSpec = {
    name: `itsm-remote-${kind}`,
    from: `jsonb_array_elements(${textLiteral(JSON.stringify(found))}::jsonb) as r(row)`,
    id: `(${text(id)})`,
    idType: 'text',
    sorts: { name: { sql: `(${text('name')})`, type: 'text', filled: true } },
    defaultSort: 'name',
    members: Object.fromEntries(
      Object.keys(item.properties).map((member) => [member, `r.row -> '${member}'`]),
    ),
    ...('searched' in list ? { search: `fold(concat_ws(' ', ${list.searched.map(text).join(', ')}))` } : {}),
  };
  return await runList(ctx, spec, [], params, { asked: [...of, params.search] });
}

/**
 * The tables of the remote whose name or label contains the search text.
 * @throws EstateError `forbidden`, `not_found`, `upstream_failed`, `wrong_state`.
 */
export async function listRemoteTables(
  ctx: Ctx,
  tools: RemoteTools,
  id: string,
  { search = '', ...params }: ListParams,
): Promise<JsonText> {
  const connection = await loadActive(ctx, tools, id);
  const tables = await callRemote(tools, connection, (remote) => remote.describeTables(search));
  return await listRows(ctx, 'tables', tables, params, [id, search]);
}

/**
 * The columns of a table of the remote, inherited ones included.
 * @throws EstateError `forbidden`, `not_found`, `upstream_failed`, `wrong_state`.
 */
export async function listRemoteFields(
  ctx: Ctx,
  tools: RemoteTools,
  id: string,
  table: string,
  params: ListParams,
): Promise<JsonText> {
  const connection = await loadActive(ctx, tools, id);
  const fields = await callRemote(tools, connection, (remote) =>
    withFallback(remote.describeFields(table), ['not_found'], null),
  );
  if (fields === null) throw notFound('table at the remote', table);
  const rows = fields.map(({ kind: type, remoteKind: remote_type, maxLength: max_length, ...field }) => ({
    ...field,
    type,
    remote_type,
    max_length,
  }));
  return await listRows(ctx, 'fields', rows, params, [id, table]);
}

/**
 * The relation types of the remote.
 * @throws EstateError `forbidden`, `not_found`, `upstream_failed`, `wrong_state`.
 */
export async function listRemoteRelationTypes(
  ctx: Ctx,
  tools: RemoteTools,
  id: string,
  params: ListParams,
): Promise<JsonText> {
  const connection = await loadActive(ctx, tools, id);
  const types = await callRemote(tools, connection, (remote) => remote.describeRelationTypes());
  return await listRows(ctx, 'relation-types', types, params, [id]);
}

/** Loads a connection that may be called. @throws EstateError `forbidden`, `not_found`, `wrong_state` when it is paused. */
export async function loadActive(ctx: Ctx, tools: RemoteTools, id: string): Promise<LoadedConnection> {
  requirePermission(ctx.caller, MANAGE_SYNC);
  const connection = await loadConnection(ctx.db, tools.secrets, id);
  if (connection.settings.is_active) return connection;
  throw new EstateError('wrong_state', 'The connection is paused; set is_active to true.');
}

/** Calls a remote with fewer attempts and shorter waits than a run. @throws RemoteError */
async function callWithin<T>(
  tools: RemoteTools,
  connection: LoadedConnection,
  call: (remote: Connector) => Promise<T>,
  maxMs: number,
): Promise<T> {
  const transport = { timeoutMs: 8_000, attempts: 2, maxWaitMs: 3_000 };
  const remote = openConnection(tools, connection, { signal: AbortSignal.timeout(maxMs), transport });
  try {
    return await call(remote);
  } catch (error) {
    if (!isRemoteError(error, 'aborted')) throw error;
    throw new RemoteError('timed_out', error.where, `The remote did not respond within ${maxMs / 1000} s`);
  } finally {
    await remote.close();
  }
}

/** Calls a remote within an API request. @throws EstateError `upstream_failed`, with the advice of the error. */
export async function callRemote<T>(
  tools: RemoteTools,
  connection: LoadedConnection,
  call: (remote: Connector) => Promise<T>,
): Promise<T> {
  try {
    return await callWithin(tools, connection, call, MAX_MS);
  } catch (error) {
    if (!isRemoteError(error)) throw error;
    const { code, retryAfterMs } = error;
    const headers: Record<string, string> = retryAfterMs
      ? { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) }
      : {};
    const detail = describeRemoteError(error);
    throw new EstateError('upstream_failed', detail, { extra: { failure: code }, headers });
  }
}

import { storeTestResult } from '../../../domain/exchange/itsm/connections.commands.ts';
import { MANAGE_SYNC } from '../../../domain/exchange/itsm/connections.queries.ts';
import {
  type LoadedConnection,
  loadConnection,
  loadMappingsOf,
} from '../../../domain/exchange/itsm/itsm.load.ts';
import type { Mapping } from '../../../domain/exchange/itsm/mappings.types.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { runList } from '../../../domain/kernel/lists/lists.run.ts';
import { textLiteral } from '../../../domain/kernel/lists/lists.sql.ts';
import type { JsonText, ListParams, ListSpec } from '../../../domain/kernel/lists/lists.types.ts';
import { requirePermission } from '../../../domain/kernel/permissions/policy.ts';
import { EstateError, notFound } from '../../../platform/errors.ts';
import type { Connector, Right, RightFound } from '../connectors/connector.ts';
import { isRemoteError, RemoteError, unless } from '../remote.ts';
import { openConnection, type RemoteTools, remoteKinds, type Tested } from './connections.open.ts';

/** How long a request waits for a remote. */
const MAX_MS = 10_000;
/** A test reads many tables, and the remote may be slow. */
const MAX_TEST_MS = 30_000;

/** A right that was tested. */
interface TestedRight extends Omit<RightFound, 'blocks'> {
  /** Nothing can be read without it. */
  needed: boolean;
}

/** The result of a connection test. */
export interface ConnectionTest {
  success: boolean;
  message: string;
  /** Why the remote could not be called; null if it could. */
  failure: RemoteError['code'] | null;
  rights: TestedRight[];
}

/**
 * Logs in and tests the account's rights table by table, without writing to the remote; stores the result.
 * @throws EstateError `forbidden`, `not_found`, `conflict`.
 */
export async function testConnection(ctx: Ctx, tools: RemoteTools, id: string): Promise<ConnectionTest> {
  requirePermission(ctx.caller, MANAGE_SYNC);
  const connection = await loadConnection(ctx.db, tools.secrets, id);
  const kind = remoteKinds[connection.settings.kind];
  const tested = withMapped(kind.tested(connection), await loadMappingsOf(ctx.db, id));
  const needs = tested.map(({ table, rights }) => ({ table, rights }));
  const test = await callWithin(tools, connection, (remote) => remote.testRights(needs), MAX_TEST_MS).then(
    (found) => judge(found, tested),
    (error) => {
      if (!isRemoteError(error)) throw error;
      return { success: false, message: sentence(error), failure: error.code, rights: [] };
    },
  );
  await storeTestResult(ctx, connection, {
    test_status: test.success ? 'passed' : 'failed',
    test_message: test.message,
  });
  return test;
}

/** Tables of mappings that are tested at most, since a request waits for the test. */
const MAX_MAPPED = 10;

/** The usual tables, and those of the connection's mappings with the rights that these need. */
function withMapped(usual: readonly Tested[], mappings: readonly Mapping[]): Tested[] {
  const tested = new Map(usual.map((one) => [one.table, one]));
  for (const { remote_table: table, sync_direction, sync_mode } of mappings) {
    if (!tested.has(table) && tested.size >= usual.length + MAX_MAPPED) continue;
    const writes = sync_direction !== 'pull';
    const { rights, needed } = tested.get(table) ?? { rights: [], needed: [] };
    const more: Right[] = ['read'];
    if (writes) more.push('create', 'update');
    if (writes && sync_mode !== 'additive') more.push('delete');
    tested.set(table, {
      table,
      rights: [...new Set([...rights, ...more])],
      needed: [...new Set([...needed, 'read' as const])],
    });
  }
  return [...tested.values()];
}

function judge(found: RightFound[], tested: readonly Tested[]): ConnectionTest {
  const rights = found.map(({ blocks = false, ...one }) => ({
    ...one,
    needed: blocks || tested.some(({ table, needed }) => table === one.table && needed.includes(one.right)),
  }));
  const missing = rights.filter(({ needed, granted }) => needed && granted === false);
  const denied = rights.filter(({ needed, granted }) => !needed && granted === false);
  const named = (some: TestedRight[]) => some.map(({ right, table }) => `${right} ${table}`).join(', ');
  const blocking = found.find(({ blocks, granted }) => blocks && granted === false);
  const message = blocking
    ? blocking.how
    : missing.length > 0
      ? `The account lacks rights: ${named(missing)}.`
      : denied.length > 0
        ? `The account can read. It lacks further rights: ${named(denied)}.`
        : 'The account can read, and lacks no right as far as it shows.';
  return { success: missing.length === 0, message, failure: null, rights };
}

const sentence = ({ what, advice }: RemoteError): string => `${what}. ${advice}`;

/** A list of what a remote has, by name. */
async function listFound(
  ctx: Ctx,
  found: unknown[],
  {
    columns,
    params,
    ...list
  }: Pick<ListSpec, 'name' | 'id' | 'members' | 'search'> & {
    /** Names and types of the columns of `found`. */
    columns: string;
    params: ListParams;
    asked: unknown[];
  },
): Promise<JsonText> {
  const { asked, ...rest } = list;
  const spec: ListSpec = {
    from: `jsonb_to_recordset(${textLiteral(JSON.stringify(found))}::jsonb) as r(${columns})`,
    idType: 'text',
    sorts: { name: { sql: 'r.name', type: 'text', filled: true } },
    defaultSort: 'name',
    ...rest,
  };
  return await runList(ctx.db, spec, [], params, { owner: ctx.caller.userId, asked });
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
  return await listFound(ctx, tables, {
    name: 'itsm-remote-tables',
    id: 'r.name',
    columns: 'name text, label text, parent text',
    members: { name: 'r.name', label: 'r.label', parent: 'r.parent' },
    params,
    asked: [id, search],
  });
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
    unless(remote.describeFields(table), ['not_found'], null),
  );
  if (fields === null) throw notFound('table at the remote', table);
  return await listFound(ctx, fields, {
    name: 'itsm-remote-fields',
    id: 'r.name',
    columns: `name text, label text, kind text, "remoteKind" text, reference text, "maxLength" int, mandatory boolean,
      choices jsonb`,
    members: {
      name: 'r.name',
      label: 'r.label',
      type: 'r.kind',
      remote_type: 'r."remoteKind"',
      reference: 'r.reference',
      max_length: 'r."maxLength"',
      mandatory: 'r.mandatory',
      choices: 'r.choices',
    },
    search: `fold(r.name || ' ' || r.label)`,
    params,
    asked: [id, table, params.search],
  });
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
  return await listFound(ctx, types, {
    name: 'itsm-remote-relation-types',
    id: 'r.id',
    columns: 'id text, name text, forward text, reverse text',
    members: { id: 'r.id', name: 'r.name', forward: 'r.forward', reverse: 'r.reverse' },
    search: `fold(r.name || ' ' || r.forward || ' ' || r.reverse)`,
    params,
    asked: [id, params.search],
  });
}

/** Loads a connection that may be called. @throws EstateError `forbidden`, `not_found`, `wrong_state` when it is paused. */
export async function loadActive(ctx: Ctx, tools: RemoteTools, id: string): Promise<LoadedConnection> {
  requirePermission(ctx.caller, MANAGE_SYNC);
  const connection = await loadConnection(ctx.db, tools.secrets, id);
  if (connection.settings.is_active) return connection;
  throw new EstateError('wrong_state', 'The connection is paused; set is_active to true.');
}

/** Calls a remote within the time of a request: with fewer attempts and shorter waits. @throws RemoteError */
async function callWithin<T>(
  tools: RemoteTools,
  connection: LoadedConnection,
  call: (remote: Connector) => Promise<T>,
  maxMs: number,
): Promise<T> {
  const remote = openConnection(tools, connection, {
    signal: AbortSignal.timeout(maxMs),
    transport: { timeoutMs: 8_000, attempts: 2, longestWaitMs: 3_000 },
  });
  try {
    return await call(remote);
  } catch (error) {
    if (!isRemoteError(error, 'stopped')) throw error;
    throw new RemoteError('timed_out', error.where, `The remote did not answer within ${maxMs / 1000} s`);
  } finally {
    await remote.close();
  }
}

/** Calls a remote within a request. @throws EstateError `upstream_failed`, with what to do. */
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
    throw new EstateError('upstream_failed', sentence(error), { extra: { failure: code }, headers });
  }
}

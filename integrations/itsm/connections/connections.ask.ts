import { keepTest } from '../../../domain/exchange/itsm/connections.commands.ts';
import { type LoadedConnection, loadConnection } from '../../../domain/exchange/itsm/connections.load.ts';
import { MANAGE_SYNC } from '../../../domain/exchange/itsm/connections.queries.ts';
import { loadMappingRows } from '../../../domain/exchange/itsm/mappings.load.ts';
import type { MappingRow } from '../../../domain/exchange/itsm/mappings.types.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { runList } from '../../../domain/kernel/lists/lists.run.ts';
import { textLiteral } from '../../../domain/kernel/lists/lists.sql.ts';
import type { JsonText, ListParams, ListSpec } from '../../../domain/kernel/lists/lists.types.ts';
import { requirePermission } from '../../../domain/kernel/permissions/policy.ts';
import { EstateError, notFound } from '../../../platform/errors.ts';
import type { Connector, Right, RightFound } from '../connectors/connector.ts';
import { failed, type RemoteFailure, type Result } from '../remote.failures.ts';
import type { Tested } from './connections.kind.types.ts';
import { remoteKinds } from './connections.kinds.ts';
import { openConnection, type RemoteTools } from './connections.open.ts';

/** What asking a remote within a request needs. */
export type AskTools = RemoteTools;

/** Whoever waits for an answer of ours waits no longer for one of the remote. */
const LONGEST_MS = 10_000;
/** A test asks for many tables, of a remote that may be slow. */
const LONGEST_TEST_MS = 30_000;

/** A right that was looked at. */
interface TestedRight extends Omit<RightFound, 'blocks'> {
  /** Without it nothing can be read. */
  needed: boolean;
}

/** What a test of a connection says. */
export interface ConnectionTest {
  success: boolean;
  message: string;
  /** Why the remote could not be asked; null when it could. */
  failure: RemoteFailure['code'] | null;
  rights: TestedRight[];
}

/**
 * Logs in and looks at the account's rights, table by table, without writing anything over there; keeps what came of it.
 * @throws EstateError `forbidden`, `not_found`, `conflict`.
 */
export async function testConnection(ctx: Ctx, tools: AskTools, id: string): Promise<ConnectionTest> {
  requirePermission(ctx.caller, MANAGE_SYNC);
  const connection = await loadConnection(ctx.db, tools.secrets, id);
  const kind = remoteKinds[connection.settings.kind];
  const usual = typeof kind.tested === 'function' ? kind.tested(connection) : kind.tested;
  const tested = withMapped(usual, await loadMappingRows(ctx.db, id));
  const found = await ask(
    tools,
    connection,
    (remote) => remote.testRights(tested.map(({ table, rights }) => ({ table, rights }))),
    LONGEST_TEST_MS,
  );
  const test = found.ok ? judged(found.value, tested) : fallen(found.failure);
  await keepTest(ctx, connection, {
    test_status: test.success ? 'passed' : 'failed',
    test_message: test.message,
  });
  return test;
}

/** Tables of mappings that are tested besides the usual ones: an answer is waited for. */
const MOST_MAPPED = 10;

/** The usual tables, and those of the connection's mappings with what these do there. */
function withMapped(usual: readonly Tested[], mappings: readonly MappingRow[]): Tested[] {
  const tested = new Map(usual.map((one) => [one.table, one]));
  for (const { remote_table: table, sync_direction, sync_mode } of mappings) {
    if (!tested.has(table) && tested.size >= usual.length + MOST_MAPPED) continue;
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

function judged(found: RightFound[], tested: readonly Tested[]): ConnectionTest {
  const rights = found.map(({ blocks = false, ...one }) => ({
    ...one,
    needed: blocks || tested.some(({ table, needed }) => table === one.table && needed.includes(one.right)),
  }));
  const missing = rights.filter(({ needed, granted }) => needed && granted === false);
  const denied = rights.filter(({ needed, granted }) => !needed && granted === false);
  const named = (some: TestedRight[]) => some.map(({ right, table }) => `${right} ${table}`).join(', ');
  const message =
    missing.length > 0
      ? `The account lacks rights: ${named(missing)}.`
      : denied.length > 0
        ? `The account can read. It lacks further rights: ${named(denied)}.`
        : 'The account can read, and lacks no right as far as it shows.';
  return { success: missing.length === 0, message, failure: null, rights };
}

const fallen = (failure: RemoteFailure): ConnectionTest => ({
  success: false,
  message: sentence(failure),
  failure: failure.code,
  rights: [],
});

const sentence = ({ what, advice }: RemoteFailure): string => `${what}. ${advice}`;

const byName = { name: { sql: 'r.name', type: 'text', filled: true } } as const;

/**
 * The tables of the remote whose name or label holds the words.
 * @throws EstateError `forbidden`, `not_found`, `upstream_failed`, `wrong_state`.
 */
export async function listRemoteTables(
  ctx: Ctx,
  tools: AskTools,
  id: string,
  { search = '', ...params }: ListParams,
): Promise<JsonText> {
  const connection = await loadActive(ctx, tools, id);
  const found = await ask(tools, connection, (remote) => remote.describeTables(search));
  const tables = found.ok ? found.value : refuse(found.failure);
  const list: ListSpec = {
    name: 'itsm-remote-tables',
    from: `jsonb_to_recordset(${textLiteral(JSON.stringify(tables))}::jsonb) as r(name text, label text, parent text)`,
    id: 'r.name',
    idType: 'text',
    sorts: byName,
    defaultSort: 'name',
    defaultDir: 'asc',
    members: { name: 'r.name', label: 'r.label', parent: 'r.parent' },
  };
  return await runList(ctx.db, list, [], params, { owner: ctx.caller.userId, asked: [id, search] });
}

/**
 * The columns of a table of the remote, inherited ones included.
 * @throws EstateError `forbidden`, `not_found`, `upstream_failed`, `wrong_state`.
 */
export async function listRemoteFields(
  ctx: Ctx,
  tools: AskTools,
  id: string,
  table: string,
  params: ListParams,
): Promise<JsonText> {
  const connection = await loadActive(ctx, tools, id);
  const found = await ask(tools, connection, (remote) => remote.describeFields(table));
  if (!found.ok && found.failure.code === 'not_found') throw notFound('table at the remote', table);
  const fields = found.ok ? found.value : refuse(found.failure);
  const list: ListSpec = {
    name: 'itsm-remote-fields',
    from: `jsonb_to_recordset(${textLiteral(JSON.stringify(fields))}::jsonb) as r(name text, label text, kind text,
      "remoteKind" text, reference text, "maxLength" int, mandatory boolean, choices jsonb)`,
    id: 'r.name',
    idType: 'text',
    sorts: byName,
    defaultSort: 'name',
    defaultDir: 'asc',
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
  };
  return await runList(ctx.db, list, [], params, {
    owner: ctx.caller.userId,
    asked: [id, table, params.search],
  });
}

/**
 * The kinds of relations that the remote knows.
 * @throws EstateError `forbidden`, `not_found`, `upstream_failed`, `wrong_state`.
 */
export async function listRemoteRelationTypes(
  ctx: Ctx,
  tools: AskTools,
  id: string,
  params: ListParams,
): Promise<JsonText> {
  const connection = await loadActive(ctx, tools, id);
  const found = await ask(tools, connection, (remote) => remote.describeRelationTypes());
  const types = found.ok ? found.value : refuse(found.failure);
  const list: ListSpec = {
    name: 'itsm-remote-relation-types',
    from: `jsonb_to_recordset(${textLiteral(JSON.stringify(types))}::jsonb) as r(id text, name text, forward text,
      reverse text)`,
    id: 'r.id',
    idType: 'text',
    sorts: byName,
    defaultSort: 'name',
    defaultDir: 'asc',
    members: { id: 'r.id', name: 'r.name', forward: 'r.forward', reverse: 'r.reverse' },
    search: `fold(r.name || ' ' || r.forward || ' ' || r.reverse)`,
  };
  return await runList(ctx.db, list, [], params, { owner: ctx.caller.userId, asked: [id, params.search] });
}

/** A connection that may be called. @throws EstateError `forbidden`, `not_found`, `wrong_state` when it is paused. */
export async function loadActive(ctx: Ctx, tools: AskTools, id: string): Promise<LoadedConnection> {
  requirePermission(ctx.caller, MANAGE_SYNC);
  const connection = await loadConnection(ctx.db, tools.secrets, id);
  if (connection.settings.is_active) return connection;
  throw new EstateError('wrong_state', 'The connection is paused; set is_active to true.');
}

/** Asks within the time that a request has: fewer tries, shorter waits. */
export async function ask<T>(
  tools: RemoteTools,
  connection: LoadedConnection,
  question: (remote: Connector) => Promise<Result<T>>,
  longestMs = LONGEST_MS,
): Promise<Result<T>> {
  const signal = AbortSignal.timeout(longestMs);
  const remote = openConnection(tools, connection, {
    signal,
    patience: { timeoutMs: 8_000, attempts: 2, longestWaitMs: 3_000 },
  });
  try {
    const answer = await question(remote);
    if (answer.ok || answer.failure.code !== 'stopped') return answer;
    return failed(
      'timed_out',
      answer.failure.where,
      `The remote did not answer within ${longestMs / 1000} s`,
    );
  } finally {
    await remote.close();
  }
}

/** @throws EstateError `upstream_failed`, with what to do. */
export function refuse(failure: RemoteFailure): never {
  const { code, retryAfterMs } = failure;
  const headers: Record<string, string> = retryAfterMs
    ? { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) }
    : {};
  throw new EstateError('upstream_failed', sentence(failure), { extra: { failure: code }, headers });
}

import { isDeepStrictEqual } from 'node:util';
import type { SecretBox } from '../../../platform/crypto.ts';
import { type Sql, sqlState } from '../../../platform/database.ts';
import { EstateError } from '../../../platform/errors.ts';
import type { Outbound } from '../../../platform/outbound.ts';
import { ownedBy } from '../../access/jobs.owner.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { checkIfMatch } from '../../kernel/etag.ts';
import { rowChanges, type StoredRow } from '../../kernel/events/row-changes.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import type { ConnectionCreate, ConnectionPatch, ConnectionSettings } from './connections.input.ts';
import {
  connectionOwnedBy,
  type LoadedConnection,
  loadConnection,
  secretContext,
} from './connections.load.ts';
import { connectionText, MANAGE_SYNC } from './connections.queries.ts';
import { mergeConnection } from './connections.rules.ts';

/** What storing a connection needs besides the request. */
export interface ConnectionTools {
  secrets: SecretBox;
  outbound: Outbound;
}

const told = `select id, name, kind, instance_url, auth_type, grant_type, username, client_id, time_zone, ca, client_certificate,
    sources, new_records, correlation_column, is_active, paused_reason, owner_id, utc(last_tested_at) as last_tested_at, test_status, test_message, utc(created_at) as created_at
  from itsm_connections where id = ?`;

/** Sets up a connection; nothing is called. @throws EstateError `forbidden`, `name_taken`, `validation_failed`. */
export async function createConnection(
  ctx: Ctx,
  tools: ConnectionTools,
  input: ConnectionCreate,
): Promise<JsonText> {
  requirePermission(ctx.caller, MANAGE_SYNC);
  const { settings, secrets } = mergeConnection(tools.outbound, input, undefined);
  return await command(ctx, async (work) => {
    const { sql } = work;
    const id: string = (await sql.raw('select uuidv7() as id')).rows[0].id;
    const sealed = tools.secrets.seal(JSON.stringify(secrets), secretContext(id));
    await named(
      sql('itsm_connections').insert({ id, ...rowOf(settings), secrets: sealed, ...ownedBy(ctx.caller) }),
    );
    work.emit({
      event_type: 'itsm_connection.created',
      data: { id, changes: rowChanges(null, await connectionEventRow(sql, id)) },
    });
    return await connectionText(sql, id);
  });
}

/**
 * Changes a connection. What was tested no longer stands once it is called in another way. Whoever has it called in
 * another way, or ends a pause, becomes its owner and must hold what its mappings use.
 * @throws EstateError `forbidden`, `name_taken`, `not_found`, `precondition_failed`, `validation_failed`.
 */
export async function patchConnection(
  ctx: Ctx,
  tools: ConnectionTools,
  id: string,
  patch: ConnectionPatch,
): Promise<JsonText> {
  requirePermission(ctx.caller, MANAGE_SYNC);
  return await command(ctx, async (work) => {
    const { sql } = work;
    const before = await loadConnection(sql, tools.secrets, id, 'for update');
    checkIfMatch(ctx, await connectionText(sql, id));
    const { settings, secrets } = mergeConnection(tools.outbound, patch, before);
    const secretsChanged = !isDeepStrictEqual(secrets, before.secrets);
    const { name, is_active, ...called } = settings;
    const { name: _, is_active: __, ...calledBefore } = before.settings;
    const anew = secretsChanged || !isDeepStrictEqual(called, calledBefore);
    const resumed = is_active && !before.settings.is_active;
    const row = await connectionEventRow(sql, id);
    await named(
      sql('itsm_connections')
        .where({ id })
        .update({
          ...rowOf(settings),
          ...(secretsChanged
            ? { secrets: tools.secrets.seal(JSON.stringify(secrets), secretContext(id)) }
            : {}),
          ...(anew ? { last_tested_at: null, test_status: null, test_message: null } : {}),
          ...(anew || resumed ? await connectionOwnedBy(ctx, work, id) : {}),
          ...(is_active ? { paused_reason: null } : {}),
        }),
    );
    const changes = rowChanges(row, await connectionEventRow(sql, id));
    if (Object.keys(changes).length > 0 || secretsChanged) {
      await sql('itsm_connections').where({ id }).update({ updated_at: sql.fn.now() });
      work.emit({
        event_type: 'itsm_connection.updated',
        data: { id, changes, ...(secretsChanged ? { secrets_changed: true } : {}) },
      });
    }
    return await connectionText(sql, id);
  });
}

/** Ends a connection. @throws EstateError `forbidden`, `mappings_present`, `not_found`, `precondition_failed`. */
export async function deleteConnection(ctx: Ctx, id: string): Promise<void> {
  requirePermission(ctx.caller, MANAGE_SYNC);
  await command(ctx, async ({ sql, emit }) => {
    await sql.raw('select from itsm_connections where id = ? for update', [id]);
    checkIfMatch(ctx, await connectionText(sql, id));
    const row = await connectionEventRow(sql, id);
    const { rows } = await sql.raw('select count(*) as count from itsm_mappings where connection_id = ?', [
      id,
    ]);
    const count: number = rows[0].count;
    if (count > 0) {
      throw new EstateError('mappings_present', `The connection has ${count} mappings: delete them first.`, {
        extra: { mapping_count: count },
      });
    }
    await sql('itsm_connections').where({ id }).delete();
    emit({ event_type: 'itsm_connection.deleted', data: { id, changes: rowChanges(row, null) } });
  });
}

/** What a test of a connection came to. */
export interface TestOutcome {
  test_status: 'passed' | 'failed';
  test_message: string;
}

/**
 * Keeps what came of a test of the connection as it was loaded.
 * @throws EstateError `not_found`; `conflict` when it has been changed meanwhile.
 */
export async function storeTestResult(
  ctx: Ctx,
  tested: LoadedConnection,
  outcome: TestOutcome,
): Promise<void> {
  requirePermission(ctx.caller, MANAGE_SYNC);
  const { id, version } = tested;
  await command(ctx, async ({ sql, emit }) => {
    const { rows } = await sql.raw(
      'select updated_at::text as version from itsm_connections where id = ? for update',
      [id],
    );
    // tells that it is gone
    await connectionText(sql, id);
    if (rows[0].version !== version) {
      throw new EstateError('conflict', 'The connection was changed while it was tested; test it again.');
    }
    const row = await connectionEventRow(sql, id);
    await sql.raw(
      `update itsm_connections set last_tested_at = date_trunc('milliseconds', clock_timestamp()), test_status = ?,
         test_message = ? where id = ?`,
      [outcome.test_status, outcome.test_message, id],
    );
    emit({
      event_type: 'itsm_connection.tested',
      data: { id, changes: rowChanges(row, await connectionEventRow(sql, id)) },
    });
  });
}

/** Settings as they are stored: an array would be taken for one of the database's own. */
const rowOf = ({ sources, new_records, ...settings }: ConnectionSettings) => ({
  ...settings,
  sources: sources === null ? null : JSON.stringify(sources),
  new_records: new_records === null ? null : JSON.stringify(new_records),
});

async function connectionEventRow(sql: Sql, id: string): Promise<StoredRow> {
  return (await sql.raw(told, [id])).rows[0];
}

/** Tells that a name is taken as what it is. */
async function named(write: PromiseLike<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (sqlState(error) === '23505') {
      throw new EstateError('name_taken', 'Another connection has this name already.', { cause: error });
    }
    throw error;
  }
}

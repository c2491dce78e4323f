import { isDeepStrictEqual } from 'node:util';
import type { SecretBox } from '../../../platform/crypto.ts';
import { embed, query, type Sql } from '../../../platform/database.ts';
import { EstateError } from '../../../platform/errors.ts';
import type { Outbound } from '../../../platform/outbound.ts';
import { ownedBy } from '../../access/jobs.owner.ts';
import { command } from '../../kernel/command.ts';
import { type Ctx, checkIfMatch } from '../../kernel/context.ts';
import { rowChanges, type StoredRow } from '../../kernel/events/row-changes.ts';
import { columnMembers } from '../../kernel/lists/lists.run.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import type { ConnectionCreate, ConnectionPatch } from './connections.input.ts';
import { connectionText, MANAGE_SYNC } from './connections.queries.ts';
import { mergeConnection } from './connections.rules.ts';
import {
  type LoadedConnection,
  loadConnection,
  ownerColumnsOfConnection,
  refuseDuplicate,
  secretContext,
} from './itsm.load.ts';
import { Connection, type ConnectionSettings } from './itsm.model.ts';
import { applyPreset } from './presets/presets.ts';

/** The services that creating and changing a connection need. */
export interface ConnectionTools {
  secrets: SecretBox;
  outbound: Outbound;
}

const eventColumns = Object.entries(columnMembers('c', Connection.shown))
  .map(([column, value]) => `${value} as ${column}`)
  .join(', ');

const nameTaken = ['name_taken', 'Another connection has this name already.'] as const;

/** Creates a connection without calling the remote. @throws EstateError `forbidden`, `name_taken`, `validation_failed`. */
export async function createConnection(
  ctx: Ctx,
  tools: ConnectionTools,
  input: ConnectionCreate,
): Promise<JsonText> {
  requirePermission(ctx.caller, MANAGE_SYNC);
  const { settings, secrets } = mergeConnection(tools.outbound, applyPreset(input), undefined);
  return await command(ctx, async (work) => {
    const { sql } = work;
    const id = await query(sql).value<string>`select uuidv7()`;
    const sealed = tools.secrets.seal(JSON.stringify(secrets), secretContext(id));
    const data = { id, ...toColumns(settings), secrets: sealed, ...ownedBy(ctx.caller) };
    await refuseDuplicate(sql('itsm_connections').insert(data), ...nameTaken);
    work.emit({
      event_type: 'itsm_connection.created',
      data: { id, changes: rowChanges(null, await connectionEventRow(sql, id)) },
    });
    return await connectionText(sql, id);
  });
}

/**
 * Changes a connection. A caller who changes how the remote is accessed, or resumes the connection, becomes its owner and
 * needs the permissions that its mappings use. Changed access also clears the result of the last test.
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
    const { name, is_active, ...access } = settings;
    const { name: _, is_active: __, ...accessBefore } = before.settings;
    const isAccessChanged = secretsChanged || !isDeepStrictEqual(access, accessBefore);
    const isResumed = is_active && !before.settings.is_active;
    const row = await connectionEventRow(sql, id);
    await refuseDuplicate(
      sql('itsm_connections')
        .where({ id })
        .update({
          ...toColumns(settings),
          ...(secretsChanged
            ? { secrets: tools.secrets.seal(JSON.stringify(secrets), secretContext(id)) }
            : {}),
          ...(isAccessChanged ? { last_tested_at: null, test_status: null, test_message: null } : {}),
          ...(isAccessChanged || isResumed ? await ownerColumnsOfConnection(ctx, work, id) : {}),
          ...(is_active ? { paused_reason: null } : {}),
        }),
      ...nameTaken,
    );
    const changes = rowChanges(row, await connectionEventRow(sql, id));
    if (Object.keys(changes).length > 0 || secretsChanged) {
      await sql('itsm_connections').where({ id }).update({ updated_at: sql.fn.now() });
      const data = { id, changes, ...(secretsChanged ? { secrets_changed: true } : {}) };
      work.emit({ event_type: 'itsm_connection.updated', data });
    }
    return await connectionText(sql, id);
  });
}

/** Deletes a connection. @throws EstateError `forbidden`, `mappings_present`, `not_found`, `precondition_failed`. */
export async function deleteConnection(ctx: Ctx, id: string): Promise<void> {
  requirePermission(ctx.caller, MANAGE_SYNC);
  await command(ctx, async ({ sql, emit }) => {
    await query(sql).run`select from itsm_connections where id = ${id} for update`;
    checkIfMatch(ctx, await connectionText(sql, id));
    const row = await connectionEventRow(sql, id);
    const count = await query(sql)
      .value<number>`select count(*) from itsm_mappings where connection_id = ${id}`;
    if (count > 0) {
      throw new EstateError('mappings_present', `The connection has ${count} mappings: delete them first.`, {
        extra: { mapping_count: count },
      });
    }
    await sql('itsm_connections').where({ id }).delete();
    emit({ event_type: 'itsm_connection.deleted', data: { id, changes: rowChanges(row, null) } });
  });
}

/** The result of testing a connection. */
export interface ConnectionTestResult {
  test_status: 'passed' | 'failed';
  test_message: string;
}

/**
 * Stores the result of a test.
 * @param tested the connection as it was loaded before the test.
 * @throws EstateError `not_found`; `conflict` when the connection was changed during the test.
 */
export async function storeTestResult(
  ctx: Ctx,
  tested: LoadedConnection,
  result: ConnectionTestResult,
): Promise<void> {
  requirePermission(ctx.caller, MANAGE_SYNC);
  const { id, version } = tested;
  await command(ctx, async ({ sql, emit }) => {
    const rows = await query(sql)
      .rows`select updated_at::text as version from itsm_connections where id = ${id} for update`;
    // throws `not_found` when it was deleted
    await connectionText(sql, id);
    if (rows[0].version !== version) {
      throw new EstateError('conflict', 'The connection was changed while it was tested; test it again.');
    }
    const row = await connectionEventRow(sql, id);
    await query(sql)
      .run`update itsm_connections set last_tested_at = date_trunc('milliseconds', clock_timestamp()), test_status = ${result.test_status},
         test_message = ${result.test_message} where id = ${id}`;
    emit({
      event_type: 'itsm_connection.tested',
      data: { id, changes: rowChanges(row, await connectionEventRow(sql, id)) },
    });
  });
}

/** The columns of the settings. Lists become JSON text, since the driver would send an array as a PostgreSQL array. */
const toColumns = ({ sources, new_records, oauth, api_key, ...settings }: ConnectionSettings) => ({
  ...settings,
  sources: textOf(sources),
  new_records: textOf(new_records),
  oauth: textOf(oauth),
  api_key: textOf(api_key),
});

const textOf = (value: object | null): string | null => (value === null ? null : JSON.stringify(value));

async function connectionEventRow(sql: Sql, id: string): Promise<StoredRow> {
  return (await query(sql)
    .row<StoredRow>`select ${embed(eventColumns)} from itsm_connections c where id = ${id}`)!;
}

import type { Sql } from '../../../platform/database.ts';
import type { Ctx } from '../../kernel/context.ts';
import { readItem, runList } from '../../kernel/lists/lists.run.ts';
import type { Condition, JsonText, ListParams, ListSpec } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { MASK } from '../../kernel/settings/settings.read.ts';

/** The permission to read connections, mappings and runs. */
export const VIEW_SYNC = 'itsm_sync.view';
/** The permission to change them and to call a remote. */
export const MANAGE_SYNC = 'itsm_sync.manage';

// validation requires the secrets of each authentication type, so the type implies which are set
const masked = (condition: string): string => `case when ${condition} then '${MASK}' end`;

const connectionList: ListSpec = {
  name: 'itsm-connections',
  from: 'itsm_connections c left join users u on u.id = c.owner_id',
  id: 'c.id',
  sorts: {
    name: { sql: 'lower(c.name)', type: 'text', filled: true },
    created_at: { sql: 'c.created_at', type: 'timestamptz', immutable: true },
  },
  defaultSort: 'name',
  defaultDir: 'asc',
  members: {
    id: 'c.id',
    name: 'c.name',
    kind: 'c.kind',
    instance_url: 'c.instance_url',
    auth_type: 'c.auth_type',
    grant_type: 'c.grant_type',
    username: 'c.username',
    password: masked(`c.auth_type = 'basic' or c.grant_type = 'password'`),
    client_id: 'c.client_id',
    client_secret: masked(`c.auth_type = 'oauth2'`),
    refresh_token: masked(`c.grant_type = 'refresh_token'`),
    time_zone: 'c.time_zone',
    token: masked(`c.auth_type = 'token'`),
    ca: 'c.ca',
    client_certificate: 'c.client_certificate',
    sources: 'c.sources',
    new_records: 'c.new_records',
    correlation_column: 'c.correlation_column',
    client_key: masked('c.client_certificate is not null'),
    is_active: 'c.is_active',
    paused_reason: 'c.paused_reason',
    owner_id: 'c.owner_id',
    owner_name: 'u.display_name',
    last_tested_at: 'utc(c.last_tested_at)',
    test_status: 'c.test_status',
    test_message: 'c.test_message',
    mapping_count: '(select count(*) from itsm_mappings m where m.connection_id = c.id)',
    created_at: 'utc(c.created_at)',
    updated_at: 'utc(c.updated_at)',
  },
  search: `fold(c.name || ' ' || c.instance_url)`,
};

/** The connections, without their secrets. @throws EstateError `forbidden`. */
export async function listConnections(
  ctx: Ctx,
  { is_active: active, ...params }: ListParams & { is_active?: boolean },
): Promise<JsonText> {
  requirePermission(ctx.caller, VIEW_SYNC);
  const where: Condition[] = active === undefined ? [] : [{ sql: 'c.is_active = ?', bindings: [active] }];
  return await runList(ctx.db, connectionList, where, params, { owner: ctx.caller.userId });
}

/** One connection as JSON, without its secrets. @throws EstateError `forbidden`, `not_found`. */
export async function readConnection(ctx: Ctx, id: string): Promise<JsonText> {
  requirePermission(ctx.caller, VIEW_SYNC);
  return await connectionText(ctx.db, id);
}

/** One connection as JSON, without a permission check. @throws EstateError `not_found`. */
export async function connectionText(sql: Sql, id: string): Promise<JsonText> {
  return await readItem(sql, connectionList, 'connection', id);
}

import type { Sql } from '../../../platform/database.ts';
import type { Ctx } from '../../kernel/context.ts';
import { columnMembers, readItem, runList } from '../../kernel/lists/lists.run.ts';
import type { Condition, JsonText, ListParams, ListSpec } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { MASK } from '../../kernel/settings/settings.read.ts';
import { visibleConnection } from './itsm.model.ts';

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
    ...columnMembers('c', visibleConnection),
    password: masked(`c.auth_type = 'basic' or c.grant_type = 'password'`),
    client_secret: masked(`c.auth_type = 'oauth2'`),
    refresh_token: masked(`c.grant_type = 'refresh_token'`),
    token: masked(`c.auth_type = 'token'`),
    client_key: masked('c.client_certificate is not null'),
    owner_name: 'u.display_name',
    mapping_count: '(select count(*) from itsm_mappings m where m.connection_id = c.id)',
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
  return await runList(ctx, connectionList, where, params);
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

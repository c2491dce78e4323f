import type { Sql } from '../../../platform/database.ts';
import { defineList } from '../../kernel/lists/lists.define.ts';
import { columnMembers, readItem } from '../../kernel/lists/lists.run.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { MASK } from '../../kernel/settings/settings.read.ts';
import { BooleanOf } from '../../kernel/shapes.ts';
import { Connection } from './itsm.model.ts';

/** The permission to read connections, mappings and runs. */
export const VIEW_SYNC = 'itsm_sync.view';
/** The permission to change them and to call a remote. */
export const MANAGE_SYNC = 'itsm_sync.manage';

// validation requires the secrets of each authentication type, so the type implies which are set
const masked = (condition: string): string => `case when ${condition} then '${MASK}' end`;

const signs = `(c.oauth ->> 'client_auth' = 'private_key_jwt')`;

/** The connections, without their secrets. */
export const connectionList = defineList({
  name: 'itsm-connections',
  permission: VIEW_SYNC,
  from: 'itsm_connections c left join users u on u.id = c.owner_id',
  id: 'c.id',
  sorts: {
    name: { sql: 'lower(c.name)', type: 'text', filled: true },
    created_at: { sql: 'c.created_at', type: 'timestamptz', immutable: true },
  },
  defaultSort: 'name',
  filters: {
    is_active: [BooleanOf('`true`: active connections; `false`: paused ones'), 'c.is_active = ?'],
  },
  members: {
    ...columnMembers('c', Connection.shown),
    password: masked(`c.auth_type = 'basic' or c.grant_type = 'password'`),
    client_secret: masked(`c.auth_type = 'oauth2' and ${signs} is not true`),
    refresh_token: masked(`c.grant_type = 'refresh_token'`),
    token: masked(`c.auth_type in ('token', 'api_key')`),
    private_key: masked(signs),
    client_key: masked('c.client_certificate is not null'),
    owner_name: 'u.display_name',
    mapping_count: '(select count(*) from itsm_mappings m where m.connection_id = c.id)',
  },
  search: `fold(c.name || ' ' || c.instance_url)`,
});

/** One connection as JSON, without its secrets and without a permission check. @throws EstateError `not_found`. */
export async function connectionText(sql: Sql, id: string): Promise<JsonText> {
  return await readItem(sql, connectionList, 'connection', id);
}

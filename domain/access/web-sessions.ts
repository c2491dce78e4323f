import Type from 'typebox';
import { embed, fragment, query, type Sql } from '../../platform/database.ts';
import { defineList } from '../kernel/lists/lists.define.ts';
import { columnMembers, columnSorts } from '../kernel/lists/lists.run.ts';
import { requireLogin } from '../kernel/permissions/grants.ts';
import { Internal, rowModel } from '../kernel/resources/rows.ts';
import { LOGIN_SECONDS } from '../kernel/sessions.ts';
import { Nullable, Timestamp, Uuid } from '../kernel/shapes.ts';

/** A session of the web interface. */
export class WebSession extends rowModel('web_sessions', {
  id: Uuid,
  user_id: Internal(Uuid),
  token_version: Internal(Type.Integer()),
  created_at: Timestamp,
  last_used_at: Timestamp,
  expires_at: Timestamp,
  user_agent: Nullable(Type.String()),
  address: Type.String(),
}) {}

/** A session continues until it expires, is revoked (then its row is deleted) or all logins of its user end. */
const continues = 's.token_version = u.token_version and s.expires_at > now()';
const from = 'web_sessions s join users u on u.id = s.user_id';

/** The caller's web sessions. */
export const webSessionList = defineList({
  name: 'web_sessions',
  from,
  id: 's.id',
  sorts: columnSorts('s', WebSession, 'last_used_at', 'created_at'),
  defaultSort: 'last_used_at',
  defaultDir: 'desc',
  members: {
    ...columnMembers('s', WebSession.shown),
    is_current: ({ caller }) => fragment`coalesce(s.id = ${caller.tokenId}::uuid, false)`,
  },
  where({ caller }) {
    requireLogin(caller);
    return [fragment`s.user_id = ${caller.userId}::uuid and ${embed(continues)}`];
  },
});

/** Maximum length of a stored user agent. */
const USER_AGENT_LENGTH = 300;

/** The client of a request, as the list of sessions shows it. */
export interface WebClient {
  userAgent: string | undefined;
  address: string;
}

interface OpenSession extends WebClient {
  id: string;
  userId: string;
  tokenVersion: number;
  /** When the user logged in, and when the cookie expires, in seconds since 1970. */
  loginAt: number;
  expiresAt: number;
}

const shortened = (userAgent: string | undefined) => userAgent?.slice(0, USER_AGENT_LENGTH) ?? null;

/** Stores a session whose cookie is being issued. */
export async function storeWebSession(sql: Sql, session: OpenSession): Promise<void> {
  await query(sql).run`insert into web_sessions as s
      (id, user_id, token_version, created_at, expires_at, user_agent, address)
    values (${session.id}, ${session.userId}, ${session.tokenVersion}, to_timestamp(${session.loginAt}),
      to_timestamp(${session.expiresAt}), ${shortened(session.userAgent)}, ${session.address})
    on conflict (id) do update set token_version = excluded.token_version, last_used_at = now(),
      expires_at = excluded.expires_at, user_agent = excluded.user_agent, address = excluded.address`;
}

/**
 * Stores the use of a session whose cookie is older than an hour, for one of the requests that send it.
 * @returns whether the cookie is to be renewed.
 */
export async function renewWebSession(
  sql: Sql,
  session: Pick<OpenSession, 'id' | 'expiresAt' | keyof WebClient>,
): Promise<boolean> {
  const count = await query(sql).count`update web_sessions set last_used_at = now(),
      expires_at = to_timestamp(${session.expiresAt}), user_agent = ${shortened(session.userAgent)},
      address = ${session.address}
    where id = ${session.id}::uuid and last_used_at < now() - interval '1 hour'`;
  return count > 0;
}

/** Whether a session continues, although one of its cookies is no longer valid. */
export async function continuesWebSession(sql: Sql, id: string): Promise<boolean> {
  return await query(sql).value<boolean>`select exists (select from ${embed(from)}
    where s.id = ${id}::uuid and u.is_active and ${embed(continues)})`;
}

/** Revokes all cookies of a session, also those that are being sent. */
export async function revokeWebSession(sql: Sql, id: string): Promise<void> {
  await sql('web_sessions').where({ id }).delete();
  const expires_at = sql.raw('now() + make_interval(secs => ?)', [LOGIN_SECONDS]);
  await sql('revoked_tokens').insert({ jti: id, expires_at }).onConflict('jti').ignore();
}

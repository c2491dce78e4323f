import { coalesce } from '../../platform/coalesce.ts';
import type { Db } from '../../platform/database.ts';
import { prepared } from '../../platform/prepared.ts';
import type { Caller } from '../context.ts';
import type { AppPermission } from './permissions.data.ts';

/** The claims of an access token that a session is looked up by. */
export interface TokenClaims {
  sub: string;
  jti: string;
  /** The user's token version when the token was made. */
  tv: number;
  /** Seconds since 1970. */
  exp: number;
  iat: number;
  /** The key of the role as which an administrator looks at the service. */
  impersonated_role?: string;
  /** Set where the token only serves to set up the second factor. */
  use?: 'two_factor_setup';
}

/** A personal or service token, known by its SHA-256 alone. */
export interface ApiTokenKey {
  hash: string;
}

/** What a request shows to say who sends it. */
export type Credential = TokenClaims | ApiTokenKey;

interface SessionRow {
  id: string;
  email: string;
  display_name: string;
  role: string;
  token_version: number;
  permissions: Record<string, boolean>;
  is_archived: boolean;
}

interface ApiTokenRow {
  id: string;
  user_id: string;
  hash: string;
  scopes: string[];
  expires_at: string | null;
}

export interface SessionSnapshot {
  /** The caller, or undefined when the token is revoked, stale or its user inactive. */
  caller: Caller | undefined;
  /** Versions of all topics, read in the same query. */
  topics: ReadonlyMap<string, number>;
}

/** Reads who a token stands for, and the topics' versions, as they are after the call was made. */
export interface SessionReader {
  read(credential: Credential | null): Promise<SessionSnapshot>;
}

/** A user as a session knows it, with the permissions made ready once for all requests of a read. */
interface KnownUser {
  row: SessionRow;
  permissions: Caller['permissions'];
}

interface Answer {
  users: Map<string, KnownUser>;
  revoked: Set<string>;
  tokens: Map<string, ApiTokenRow>;
  /** The permissions of roles as which somebody looks at the service; archived ones are not among them. */
  roles: Map<string, Caller['permissions']>;
  topics: ReadonlyMap<string, number>;
}

/** A database that is slower than this counts as away. */
const LIMIT_MS = 7_000;

const TOPICS = `
  g.sum,
  case when g.sum = ?::bigint then null
       else (select json_object_agg(topic, version) from topic_versions) end as topics`;
const USERS = `
  select json_agg(json_build_object('id', u.id, 'email', u.email, 'display_name', u.display_name,
      'role', u.role, 'token_version', u.token_version, 'permissions', r.permissions,
      'is_archived', r.is_archived))
  from users u join roles r on r.key = u.role where u.is_active`;
const REVOKED = '(select json_agg(jti) from revoked_tokens where jti = any(?::uuid[])) as revoked';
const SUM = '(select coalesce(sum(version), 0)::bigint as sum from topic_versions) g';

/** Bindings: the sum of versions that is known already, user ids, token ids. */
const SESSIONS = `select ${TOPICS}, (${USERS} and u.id = any(?::uuid[])) as users, ${REVOKED} from ${SUM}`;

/**
 * The same where API tokens or impersonated roles are among what was shown: hashes (to note the use), the known sum,
 * hashes, user ids, token ids, hashes, role keys. A token that is being revoked at this moment is not waited for.
 */
const SESSIONS_AND_TOKENS = `
  with shown as (
    select id, user_id, hash, scopes, expires_at, last_used_at from api_tokens
    where hash = any(?::text[]) and (expires_at is null or expires_at > now())
  ), used as (
    update api_tokens set last_used_at = now() where id in (
      select t.id from api_tokens t join shown s on s.id = t.id
      where t.last_used_at is null or t.last_used_at < now() - interval '1 minute'
      for update of t skip locked)
  )
  select ${TOPICS},
    (${USERS} and u.id in (select unnest(?::uuid[]) union all select user_id from shown)) as users,
    ${REVOKED},
    (select json_agg(json_build_object('id', id, 'user_id', user_id, 'hash', hash, 'scopes', scopes,
        'expires_at', expires_at)) from shown) as tokens,
    (select json_object_agg(key, permissions) from roles where key = any(?::text[]) and not is_archived) as roles
  from ${SUM}`;

/** All topics' versions as they were when their sum was that. */
interface KnownTopics {
  sum: number;
  topics: ReadonlyMap<string, number>;
}

const isApiToken = (credential: Credential): credential is ApiTokenKey => 'hash' in credential;

/**
 * One query serves all requests that arrive while the one before is under way; nothing of it is kept between
 * queries, so a logout, a role change or a write counts for every request sent after its answer. Versions only
 * grow, so an unchanged sum tells that none has changed: then they are not sent again, and readers are given the
 * very same map.
 */
export function createSessionReader(db: Db): SessionReader {
  let known: KnownTopics | undefined;

  const read = coalesce<Credential | null, Answer>(async (keys) => {
    const shown = keys.filter((key) => key !== null);
    const claims = shown.filter((key): key is TokenClaims => !isApiToken(key));
    const hashes = [...new Set(shown.filter(isApiToken).map(({ hash }) => hash))];
    const roleKeys = new Set(claims.flatMap(({ impersonated_role: key }) => key ?? []));
    const sum = known?.sum ?? null;
    const userIds = [...new Set(claims.map((claim) => claim.sub))];
    const tokenIds = [...new Set(claims.map((claim) => claim.jti))];
    const plain = hashes.length === 0 && roleKeys.size === 0;
    const { rows } = await prepared(
      db,
      plain ? SESSIONS : SESSIONS_AND_TOKENS,
      plain ? [sum, userIds, tokenIds] : [hashes, sum, userIds, tokenIds, [...roleKeys]],
      // every request waits for it, so none hangs with a server that does
      { timeoutMs: LIMIT_MS },
    ).catch((error: unknown) => {
      // the database that comes back may be a restored one
      known = undefined;
      throw error;
    });
    return answerOf(rows[0]);
  });

  function answerOf(row: Record<string, unknown>): Answer {
    const sum = row.sum as number;
    if (known?.sum !== sum) {
      known = { sum, topics: new Map(Object.entries((row.topics as Record<string, number>) ?? {})) };
    }
    const roles = (row.roles ?? {}) as Record<string, Record<string, boolean>>;
    return {
      topics: known.topics,
      users: new Map(
        ((row.users ?? []) as SessionRow[]).map((user) => [
          user.id,
          { row: user, permissions: permissionSet(user.permissions) },
        ]),
      ),
      revoked: new Set((row.revoked ?? []) as string[]),
      tokens: new Map(((row.tokens ?? []) as ApiTokenRow[]).map((token) => [token.hash, token])),
      roles: new Map(Object.entries(roles).map(([key, permissions]) => [key, permissionSet(permissions)])),
    };
  }

  return {
    async read(credential) {
      const answer = await read(credential);
      const { topics } = answer;
      if (!credential) return { caller: undefined, topics };
      const caller = isApiToken(credential)
        ? callerOfApiToken(answer, credential)
        : callerOfSession(answer, credential);
      return { caller, topics };
    },
  };
}

function callerOfSession(answer: Answer, claims: TokenClaims): Caller | undefined {
  const user = answer.users.get(claims.sub);
  if (!user || user.row.is_archived) return undefined;
  if (user.row.token_version !== claims.tv || answer.revoked.has(claims.jti)) return undefined;
  const caller: Caller = {
    userId: user.row.id,
    email: user.row.email,
    displayName: user.row.display_name,
    role: user.row.role,
    permissions: user.permissions,
    tokenId: claims.jti,
    tokenExpiresAt: new Date(claims.exp * 1000),
    tokenVersion: claims.tv,
  };
  if (claims.use === 'two_factor_setup') return { ...caller, permissions: new Set(), setupOnly: true };
  if (claims.impersonated_role === undefined) return caller;
  const seen = answer.roles.get(claims.impersonated_role);
  const allowed = user.permissions === '*' || user.permissions.has('admin.impersonate');
  if (!seen || !allowed) return undefined;
  return {
    ...caller,
    role: claims.impersonated_role,
    permissions: commonPermissions(seen, user.permissions),
    impersonatedRole: claims.impersonated_role,
  };
}

function callerOfApiToken(answer: Answer, { hash }: ApiTokenKey): Caller | undefined {
  const token = answer.tokens.get(hash);
  const user = token && answer.users.get(token.user_id);
  if (!user || user.row.is_archived) return undefined;
  return {
    userId: user.row.id,
    email: user.row.email,
    displayName: user.row.display_name,
    role: user.row.role,
    permissions: commonPermissions(user.permissions, scopeSet(token.scopes)),
    tokenId: null,
    tokenExpiresAt: token.expires_at === null ? null : new Date(token.expires_at),
    apiTokenId: token.id,
  };
}

/** A role's stored permission map as a set; `'*'` for the wildcard. */
export function permissionSet(map: Record<string, boolean>): ReadonlySet<AppPermission> | '*' {
  if (map['*']) return '*';
  return new Set(Object.keys(map).filter((key) => map[key]) as AppPermission[]);
}

const scopeSet = (scopes: string[]): Caller['permissions'] =>
  scopes.includes('*') ? '*' : new Set(scopes as AppPermission[]);

/** What both allow. */
export function commonPermissions(a: Caller['permissions'], b: Caller['permissions']): Caller['permissions'] {
  if (a === '*') return b;
  if (b === '*') return a;
  return new Set([...a].filter((key) => b.has(key)));
}

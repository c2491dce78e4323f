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
}

interface SessionRow {
  id: string;
  email: string;
  display_name: string;
  role: string;
  token_version: number;
  permissions: Record<string, boolean>;
  is_archived: boolean;
}

export interface SessionSnapshot {
  /** The caller, or undefined when the token is revoked, stale or its user inactive. */
  caller: Caller | undefined;
  /** Versions of all topics, read in the same query. */
  topics: ReadonlyMap<string, number>;
}

/** Reads who a token stands for, and the topics' versions, as they are after the call was made. */
export interface SessionReader {
  read(claims: TokenClaims | null): Promise<SessionSnapshot>;
}

/** A user as a session knows it, with the permissions made ready once for all requests of a read. */
interface KnownUser {
  row: SessionRow;
  permissions: Caller['permissions'];
}

interface Answer {
  users: Map<string, KnownUser>;
  revoked: Set<string>;
  topics: ReadonlyMap<string, number>;
}

/** A database that is slower than this counts as away. */
const LIMIT_MS = 7_000;

/** Bindings: the sum of versions that is known already, user ids, token ids. */
const SESSIONS = `
  select g.sum,
    case when g.sum = ?::bigint then null
         else (select json_object_agg(topic, version) from topic_versions) end as topics,
    (select json_agg(json_build_object('id', u.id, 'email', u.email, 'display_name', u.display_name,
        'role', u.role, 'token_version', u.token_version, 'permissions', r.permissions,
        'is_archived', r.is_archived))
     from users u join roles r on r.key = u.role
     where u.id = any(?::uuid[]) and u.is_active) as users,
    (select json_agg(jti) from revoked_tokens where jti = any(?::uuid[])) as revoked
  from (select coalesce(sum(version), 0)::bigint as sum from topic_versions) g`;

/** All topics' versions as they were when their sum was that. */
interface KnownTopics {
  sum: number;
  topics: ReadonlyMap<string, number>;
}

/**
 * One query serves all requests that arrive while the one before is under way; nothing of it is kept between
 * queries, so a logout, a role change or a write counts for every request sent after its answer. Versions only
 * grow, so an unchanged sum tells that none has changed: then they are not sent again, and readers are given the
 * very same map.
 */
export function createSessionReader(db: Db): SessionReader {
  let known: KnownTopics | undefined;

  const read = coalesce<TokenClaims | null, Answer>(async (keys) => {
    const claims = keys.filter((key) => key !== null);
    const { rows } = await prepared(
      db,
      SESSIONS,
      [
        known?.sum ?? null,
        [...new Set(claims.map((claim) => claim.sub))],
        [...new Set(claims.map((claim) => claim.jti))],
      ],
      // every request waits for it, so none hangs with a server that does
      { timeoutMs: LIMIT_MS },
    ).catch((error: unknown) => {
      // the database that comes back may be a restored one
      known = undefined;
      throw error;
    });
    const { sum, topics, users, revoked } = rows[0];
    if (known?.sum !== sum) known = { sum, topics: new Map(Object.entries(topics ?? {})) };
    return {
      topics: known!.topics,
      users: new Map(
        ((users ?? []) as SessionRow[]).map((row) => [
          row.id,
          { row, permissions: permissionSet(row.permissions) },
        ]),
      ),
      revoked: new Set((revoked ?? []) as string[]),
    };
  });

  return {
    async read(claims) {
      const { topics, users, revoked } = await read(claims);
      const user = claims ? users.get(claims.sub) : undefined;
      if (
        !claims ||
        !user ||
        user.row.is_archived ||
        user.row.token_version !== claims.tv ||
        revoked.has(claims.jti)
      ) {
        return { caller: undefined, topics };
      }
      return { caller: callerOf(user, claims), topics };
    },
  };
}

function callerOf({ row, permissions }: KnownUser, claims: TokenClaims): Caller {
  return {
    userId: row.id,
    email: row.email,
    displayName: row.display_name,
    role: row.role,
    permissions,
    tokenId: claims.jti,
    tokenExpiresAt: new Date(claims.exp * 1000),
  };
}

/** A role's stored permission map as a set; `'*'` for the wildcard. */
export function permissionSet(map: Record<string, boolean>): ReadonlySet<AppPermission> | '*' {
  if (map['*']) return '*';
  return new Set(Object.keys(map).filter((key) => map[key]) as AppPermission[]);
}

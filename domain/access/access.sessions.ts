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
  /** By id; the very same objects as in the answer before for users of whom nothing has changed. */
  users: ReadonlyMap<string, KnownUser>;
  revoked: ReadonlySet<string>;
  /** By hash; the very same objects likewise. */
  tokens: ReadonlyMap<string, ApiTokenRow>;
  /** The permissions of roles as which somebody looks at the service; archived ones are not among them. */
  roles: Map<string, Caller['permissions']>;
  topics: ReadonlyMap<string, number>;
}

/** A database that is slower than this counts as away. */
const LIMIT_MS = 7_000;

const TOPICS = `'sum', g.sum, 'topics',
    case when g.sum = ?::bigint then null else (select json_object_agg(topic, version) from topic_versions) end`;
const USERS = `
  select json_object_agg(u.id, json_build_object('id', u.id, 'email', u.email, 'display_name', u.display_name,
      'role', u.role, 'token_version', u.token_version, 'permissions', r.permissions,
      'is_archived', r.is_archived)::text)
  from users u join roles r on r.key = u.role where u.is_active`;
const REVOKED = `'revoked', (select json_agg(jti) from revoked_tokens where jti = any(?::uuid[]))`;
const SUM = '(select coalesce(sum(version), 0)::bigint as sum from topic_versions) g';

/** Bindings: the sum of versions that is known already, user ids, token ids. */
const SESSIONS = `
  select json_build_object(${TOPICS}, 'users', (${USERS} and u.id = any(?::uuid[])), ${REVOKED})::text as answer
  from ${SUM}`;

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
  select json_build_object(${TOPICS},
    'users', (${USERS} and u.id in (select unnest(?::uuid[]) union all select user_id from shown)),
    ${REVOKED},
    'tokens', (select json_object_agg(hash, json_build_object('id', id, 'user_id', user_id, 'hash', hash,
        'scopes', scopes, 'expires_at', expires_at)::text) from shown),
    'roles', (select json_object_agg(key, permissions) from roles where key = any(?::text[]) and not is_archived)
  )::text as answer
  from ${SUM}`;

/** The answer of either statement; users and tokens are texts of JSON. */
interface Read {
  sum: number;
  /** Null where the sum is known. */
  topics: Record<string, number> | null;
  users: Record<string, string> | null;
  revoked: string[] | null;
  tokens?: Record<string, string> | null;
  roles?: Record<string, Record<string, boolean>> | null;
}

/** All topics' versions as they were when their sum was that. */
interface KnownTopics {
  sum: number;
  topics: ReadonlyMap<string, number>;
}

const isApiToken = (credential: Credential): credential is ApiTokenKey => 'hash' in credential;

/**
 * One query serves all requests that arrive while the one before is under way; nothing is decided by what an earlier
 * one said, so a logout, a role change or a write counts for every request sent after its answer. Versions only
 * grow, so an unchanged sum tells that none has changed: then they are not sent again, and readers are given the
 * very same map. What is read of a user is compared with what was read before, letter by letter: where nothing has
 * changed, requests with the same credential are given the very same caller.
 */
export function createSessionReader(db: Db): SessionReader {
  let known: KnownTopics | undefined;
  /** Most reads say what the one before said. */
  let last: { text: string; answer: Answer } | undefined;
  const usersOf = rememberParsed((row: SessionRow) => ({ row, permissions: permissionSet(row.permissions) }));
  const tokensOf = rememberParsed((row: ApiTokenRow) => row);
  const callers = new WeakMap<Credential, KnownCaller>();

  const read = coalesce<Credential | null, Answer>(async (keys) => {
    const shown = keys.filter((key) => key !== null);
    const claims = shown.filter((key): key is TokenClaims => !isApiToken(key));
    const hashes = [...new Set(shown.filter(isApiToken).map(({ hash }) => hash))];
    const roleKeys = new Set(claims.flatMap(({ impersonated_role: key }) => key ?? []));
    const told = known;
    const sum = told?.sum ?? null;
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
      last = undefined;
      throw error;
    });
    return answerOf(rows[0].answer, told);
  });

  /**
   * @param told the versions that were known when this was asked: where none are sent, they are those. Another read may
   * have ended since and said newer ones.
   */
  function answerOf(text: string, told: KnownTopics | undefined): Answer {
    if (text === last?.text) return last.answer;
    const { sum, topics, users, revoked, tokens, roles }: Read = JSON.parse(text);
    const versions = topicsOf(sum, topics, told);
    const answer = {
      topics: versions,
      users: usersOf(users ?? {}),
      revoked: new Set(revoked),
      tokens: tokensOf(tokens ?? {}),
      roles: new Map(
        Object.entries(roles ?? {}).map(([key, permissions]) => [key, permissionSet(permissions)]),
      ),
    };
    last = { text, answer };
    return answer;
  }

  function topicsOf(sum: number, sent: Read['topics'], told: KnownTopics | undefined): Answer['topics'] {
    if (sent === null && told) return told.topics;
    if (sum === known?.sum) return known.topics;
    const read = { sum, topics: new Map(Object.entries(sent ?? {})) };
    // where another read has ended meanwhile, the later one counts; where a failure has, the next one does
    if (told === known || (known && sum > known.sum)) known = read;
    return read.topics;
  }

  function callerOf(answer: Answer, credential: Credential): Caller | undefined {
    const token = isApiToken(credential) ? answer.tokens.get(credential.hash) : undefined;
    if (isApiToken(credential) ? token === undefined : answer.revoked.has(credential.jti)) return undefined;
    const user = answer.users.get(isApiToken(credential) ? token!.user_id : credential.sub);
    if (!user || user.row.is_archived) return undefined;
    if (!isApiToken(credential) && credential.impersonated_role !== undefined) {
      return impersonated(answer, callerOfSession(user, credential), credential.impersonated_role);
    }
    const before = callers.get(credential);
    if (before?.user === user && before.token === token) return before.caller;
    const caller = isApiToken(credential)
      ? callerOfApiToken(user, token!)
      : callerOfSession(user, credential);
    callers.set(credential, { user, token, caller });
    return caller;
  }

  return {
    async read(credential) {
      const answer = await read(credential);
      const { topics } = answer;
      if (!credential) return { caller: undefined, topics };
      return { caller: callerOf(answer, credential), topics };
    },
  };
}

/** The caller of a credential, and of what it was made; undefined where the token is stale. */
interface KnownCaller {
  user: KnownUser;
  token: ApiTokenRow | undefined;
  caller: Caller | undefined;
}

/** Objects whose text is remembered. */
const REMEMBERED = 1_000;

/**
 * Reads an object of JSON texts by key. A text that has not changed yields the very same value again, and is not parsed.
 */
function rememberParsed<Row, T>(
  make: (row: Row) => T,
): (texts: Record<string, string>) => ReadonlyMap<string, T> {
  const parsed = new Map<string, { text: string; value: T }>();
  return (texts) => {
    const values = new Map<string, T>();
    for (const [key, text] of Object.entries(texts)) {
      let entry = parsed.get(key);
      if (entry?.text !== text) {
        entry = { text, value: make(JSON.parse(text) as Row) };
        parsed.delete(key);
        parsed.set(key, entry);
        if (parsed.size > REMEMBERED) parsed.delete(parsed.keys().next().value!);
      }
      values.set(key, entry.value);
    }
    return values;
  };
}

function callerOfSession(user: KnownUser, claims: TokenClaims): Caller | undefined {
  if (user.row.token_version !== claims.tv) return undefined;
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
  if (claims.use !== 'two_factor_setup') return caller;
  return { ...caller, permissions: new Set(), setupOnly: true };
}

/** The caller as an administrator who looks at the service as a role does: what both may. */
function impersonated(answer: Answer, caller: Caller | undefined, role: string): Caller | undefined {
  if (caller === undefined || caller.setupOnly) return caller;
  const seen = answer.roles.get(role);
  const allowed = caller.permissions === '*' || caller.permissions.has('admin.impersonate');
  if (!seen || !allowed) return undefined;
  return {
    ...caller,
    role,
    permissions: commonPermissions(seen, caller.permissions),
    impersonatedRole: role,
  };
}

function callerOfApiToken(user: KnownUser, token: ApiTokenRow): Caller {
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

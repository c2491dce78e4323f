import { coalesce } from '../../platform/coalesce.ts';
import type { Db } from '../../platform/database.ts';
import { createLru } from '../../platform/lru.ts';
import { prepared } from '../../platform/prepared.ts';
import type { Caller } from '../kernel/context.ts';
import type { AppPermission, TokenScope } from '../kernel/permissions/permissions.data.ts';
import type { ApiTokenKey, Credential, SessionReader, TokenClaims } from '../kernel/sessions.ts';
import type { ApiTokenRow } from './api-tokens.ts';
import type { RoleRow } from './roles.model.ts';
import type { UserRow } from './users.model.ts';

type SessionRow = Pick<UserRow, 'id' | 'email' | 'display_name' | 'role' | 'token_version'> &
  Pick<RoleRow, 'permissions' | 'is_archived'>;

type StoredToken = Pick<ApiTokenRow, 'id' | 'user_id' | 'hash' | 'scopes' | 'expires_at'>;

/** A user of a session, with permissions that are parsed once for all requests of a read. */
interface KnownUser {
  row: SessionRow;
  permissions: Caller['permissions'];
}

/** The state of the database seen by a read. */
interface Seen {
  /** The start time of the server: snapshots and sums of another server are not comparable. */
  server: string;
  /** An equal snapshot sees the same rows. */
  snapshot: string;
  /** Sum of the topic versions. */
  sum: number;
  topics: ReadonlyMap<string, number>;
}

interface Answer {
  /** The same object for responses of the same snapshot. */
  seen: Seen;
  /** By id; the same objects as in the previous read for unchanged users. */
  users: ReadonlyMap<string, KnownUser>;
  revoked: ReadonlySet<string>;
  /** By hash; the same objects for unchanged tokens. */
  tokens: ReadonlyMap<string, StoredToken>;
  /** The permissions of impersonated roles; archived roles are omitted. */
  roles: ReadonlyMap<string, Caller['permissions']>;
  /** Time of the process's clock after which an API token may have expired, or its use has to be recorded again. */
  goodUntil: number;
}

/** The result of one read, shared by its requests. */
interface Round {
  topics: ReadonlyMap<string, number>;
  answers: ReadonlyMap<Credential, Answer>;
}

/** A database that takes longer counts as unavailable. */
const LIMIT_MS = 7_000;

/** Bindings: the known server, snapshot and sum; user ids, token ids, hashes, keys of roles. */
const STATE = 'select session_state(?, ?, ?, ?, ?, ?, ?) as answer';

/** Does not wait for a concurrent transaction that revokes a token. */
const NOTE_USE = `
  update api_tokens set last_used_at = now() where id in (
    select id from api_tokens
    where id = any(?) and (last_used_at is null or last_used_at < now() - interval '1 minute')
    for update skip locked)`;

/** The result row of {@link STATE}; users and tokens are JSON texts. */
interface Read {
  server: string;
  snapshot: string;
  sum: number;
  /** Null if the sum is the known one. */
  topics: Record<string, number> | null;
  users: Record<string, string> | null;
  revoked: string[] | null;
  tokens: Record<string, string> | null;
  /** Ids of the tokens whose use has to be recorded. */
  unnoted: string[] | null;
  /** Milliseconds for which the token data is valid if nothing is written. */
  good_seconds: number | null;
  roles: Record<string, Record<string, boolean>> | null;
}

const isApiToken = (credential: Credential): credential is ApiTokenKey => 'hash' in credential;

/** The credentials to look up. */
function bindingsOf(credentials: Credential[]): unknown[] {
  const claims = credentials.filter((key): key is TokenClaims => !isApiToken(key));
  const hashes = new Set(credentials.filter(isApiToken).map(({ hash }) => hash));
  const userIds = new Set(claims.map((claim) => claim.sub));
  const roleKeys = new Set(claims.flatMap(({ impersonated_role: key }) => key ?? []));
  return [[...userIds], claims.map((claim) => claim.jti), [...hashes], [...roleKeys]];
}

/**
 * One query serves all requests that arrive while the previous query runs; results of earlier queries are not reused,
 * so that a logout, a role change or a write applies to every request sent after its response. Exception: if the
 * database reports that nothing was committed since it answered for the same credentials, that result is reused.
 * Versions only increase, so an unchanged sum means that none has changed: then they are not sent again, and readers
 * get the same map. The text of a user is compared with the previous one: if it is unchanged, requests with the same
 * credential get the same caller object.
 */
export function createSessionReader(db: Db): SessionReader {
  let last: Seen | undefined;
  const answers = new WeakMap<Credential, Answer>();
  const usersOf = rememberParsed((row: SessionRow) => ({ row, permissions: permissionSet(row.permissions) }));
  const tokensOf = rememberParsed((row: StoredToken) => row);
  const callers = new WeakMap<Credential, KnownCaller>();

  const read = coalesce<Credential | null, Round>(async (keys) => {
    const shown = keys.filter((key) => key !== null);
    const known = last;
    // Read the variable now: another read may replace it with an older state meanwhile.
    const cached = known && cachedFor(shown, known);
    const asked = performance.now();
    const { rows } = await prepared(
      db,
      STATE,
      [known?.server ?? null, cached ? known.snapshot : null, known?.sum ?? null, ...bindingsOf(shown)],
      // Every request waits for it, so it has a timeout.
      { timeoutMs: LIMIT_MS },
    ).catch((error: unknown) => {
      // After an outage the database may be a restored one.
      last = undefined;
      throw error;
    });
    if (rows[0].answer === null && cached) return { topics: known.topics, answers: cached };
    const answer = await answerOf(known, JSON.parse(rows[0].answer), asked);
    for (const credential of shown) answers.set(credential, answer);
    return { topics: answer.seen.topics, answers: new Map(shown.map((credential) => [credential, answer])) };
  });

  /** The cached result for these credentials, if all of it belongs to the latest state. */
  function cachedFor(credentials: Credential[], seen: Seen): Round['answers'] | undefined {
    const cached = new Map<Credential, Answer>();
    const now = performance.now();
    for (const credential of credentials) {
      const answer = answers.get(credential);
      if (answer?.seen !== seen || answer.goodUntil <= now) return undefined;
      cached.set(credential, answer);
    }
    return cached;
  }

  async function answerOf(known: Seen | undefined, said: Read, asked: number): Promise<Answer> {
    if (said.unnoted) await prepared(db, NOTE_USE, [said.unnoted], { timeoutMs: LIMIT_MS });
    return {
      seen: seenOf(known, said),
      users: usersOf(said.users ?? {}),
      revoked: new Set(said.revoked),
      tokens: tokensOf(said.tokens ?? {}),
      roles: new Map(
        Object.entries(said.roles ?? {}).map(([key, permissions]) => [key, permissionSet(permissions)]),
      ),
      goodUntil: said.good_seconds === null ? Number.POSITIVE_INFINITY : asked + said.good_seconds * 1000,
    };
  }

  /** @param known the state when this read started; another read may have finished with a newer one since. */
  function seenOf(known: Seen | undefined, { server, snapshot, sum, topics: sent }: Read): Seen {
    if (last?.server === server && last.snapshot === snapshot) return last;
    // None are sent if they are unchanged.
    let topics = sent === null ? known!.topics : new Map(Object.entries(sent));
    if (last?.server === server && last.sum === sum) topics = last.topics;
    const seen = { server, snapshot, sum, topics };
    // If another read has finished meanwhile, the later one is stored; after a failure, that of the next one.
    if (known === last || (last && sum > last.sum)) last = seen;
    return seen;
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
      const { topics, answers: said } = await read(credential);
      return { caller: credential ? callerOf(said.get(credential)!, credential) : undefined, topics };
    },
  };
}

/** The caller of a credential, and the row it was created from; undefined if the token is outdated. */
interface KnownCaller {
  user: KnownUser;
  token: StoredToken | undefined;
  caller: Caller | undefined;
}

/** Maximum size in bytes of the cached texts and values. */
const REMEMBERED_BYTES = 8 * 1024 * 1024;

/**
 * Caches parsed JSON texts by key. For an unchanged text it returns the same object without parsing.
 */
function rememberParsed<Row, T>(
  make: (row: Row) => T,
): (texts: Record<string, string>) => ReadonlyMap<string, T> {
  // A value takes about as much memory as its text.
  const parsed = createLru<{ text: string; value: T }>(REMEMBERED_BYTES, ({ text }) => 4 * text.length);
  return (texts) => {
    const values = new Map<string, T>();
    for (const [key, text] of Object.entries(texts)) {
      let entry = parsed.get(key);
      if (entry?.text !== text) {
        entry = { text, value: make(JSON.parse(text) as Row) };
        parsed.set(key, entry);
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
    loginAt: claims.auth_time ?? claims.iat,
    ...(claims.web ? { isWebSession: true } : {}),
  };
  if (claims.use !== 'two_factor_setup') return caller;
  return { ...caller, permissions: new Set(), setupOnly: true };
}

/** The caller for an administrator who impersonates a role: the permissions that both have. */
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

function callerOfApiToken(user: KnownUser, token: StoredToken): Caller {
  return {
    userId: user.row.id,
    email: user.row.email,
    displayName: user.row.display_name,
    role: user.row.role,
    ...boundedBy(user.permissions, scopesOf(token.scopes)),
    tokenId: null,
    tokenExpiresAt: token.expires_at === null ? null : new Date(token.expires_at),
    apiTokenId: token.id,
  };
}

/** A role's stored permission map as a set; `'*'` is the wildcard. */
export function permissionSet(map: Record<string, boolean>): ReadonlySet<AppPermission> | '*' {
  if (map['*']) return '*';
  return new Set(Object.keys(map).filter((key) => map[key]) as AppPermission[]);
}

const scopesOf = (scopes: string[]): Caller['scopes'] =>
  scopes.includes('*') ? undefined : new Set(scopes as TokenScope[]);

/** A caller's permissions and scopes, limited by the scopes of a token. */
function boundedBy(
  permissions: Caller['permissions'],
  scopes: Caller['scopes'],
): Pick<Caller, 'permissions' | 'scopes'> {
  if (scopes === undefined) return { permissions };
  const keys = [...scopes].filter((scope) => scope !== 'account');
  return { permissions: commonPermissions(permissions, new Set(keys)), scopes };
}

/** The permissions in both sets. */
export function commonPermissions(a: Caller['permissions'], b: Caller['permissions']): Caller['permissions'] {
  if (a === '*') return b;
  if (b === '*') return a;
  return new Set([...a].filter((key) => b.has(key)));
}

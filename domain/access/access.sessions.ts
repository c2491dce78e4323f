import { coalesce } from '../../platform/coalesce.ts';
import type { Db } from '../../platform/database.ts';
import { createLru } from '../../platform/lru.ts';
import { prepared } from '../../platform/prepared.ts';
import type { Caller } from '../kernel/context.ts';
import type { AppPermission, TokenScope } from '../kernel/permissions/permissions.data.ts';
import type { ApiTokenKey, Credential, SessionReader, TokenClaims } from '../kernel/sessions.ts';

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

/** A user as a session knows it, with the permissions made ready once for all requests of a read. */
interface KnownUser {
  row: SessionRow;
  permissions: Caller['permissions'];
}

/** The database as a read has seen it. */
interface Seen {
  /** When the server was started: another one's snapshots and sums say nothing here. */
  server: string;
  /** An equal snapshot sees the very same rows. */
  snapshot: string;
  /** Of the topics' versions. */
  sum: number;
  topics: ReadonlyMap<string, number>;
}

interface Answer {
  /** The very same object for answers of the same snapshot. */
  seen: Seen;
  /** By id; the very same objects as in the answer before for users of whom nothing has changed. */
  users: ReadonlyMap<string, KnownUser>;
  revoked: ReadonlySet<string>;
  /** By hash; the very same objects likewise. */
  tokens: ReadonlyMap<string, ApiTokenRow>;
  /** The permissions of roles as which somebody looks at the service; archived ones are not among them. */
  roles: ReadonlyMap<string, Caller['permissions']>;
  /** On the process's clock: from then on an API token may have expired, or is to be noted as used again. */
  goodUntil: number;
}

/** What one read says to all who share it. */
interface Round {
  topics: ReadonlyMap<string, number>;
  answers: ReadonlyMap<Credential, Answer>;
}

/** A database that is slower than this counts as away. */
const LIMIT_MS = 7_000;

/** Bindings: the known server, snapshot and sum; user ids, token ids, hashes, keys of roles. */
const STATE = 'select session_state(?, ?, ?, ?, ?, ?, ?) as answer';

/** A token that is being revoked at this moment is not waited for. */
const NOTE_USE = `
  update api_tokens set last_used_at = now() where id in (
    select id from api_tokens
    where id = any(?) and (last_used_at is null or last_used_at < now() - interval '1 minute')
    for update skip locked)`;

/** The answer of {@link STATE} where there is one; users and tokens are texts of JSON. */
interface Read {
  server: string;
  snapshot: string;
  sum: number;
  /** Null where the sum is known. */
  topics: Record<string, number> | null;
  users: Record<string, string> | null;
  revoked: string[] | null;
  tokens: Record<string, string> | null;
  /** Ids of the tokens that are to be noted as used. */
  unnoted: string[] | null;
  /** For how long what is said of the tokens holds while nothing is written. */
  good_seconds: number | null;
  roles: Record<string, Record<string, boolean>> | null;
}

const isApiToken = (credential: Credential): credential is ApiTokenKey => 'hash' in credential;

/** What is asked about the credentials. */
function bindingsOf(credentials: Credential[]): unknown[] {
  const claims = credentials.filter((key): key is TokenClaims => !isApiToken(key));
  const hashes = new Set(credentials.filter(isApiToken).map(({ hash }) => hash));
  const userIds = new Set(claims.map((claim) => claim.sub));
  const roleKeys = new Set(claims.flatMap(({ impersonated_role: key }) => key ?? []));
  return [[...userIds], claims.map((claim) => claim.jti), [...hashes], [...roleKeys]];
}

/**
 * One query serves all requests that arrive while the one before is under way; nothing is decided by what an earlier
 * one said, so a logout, a role change or a write counts for every request sent after its answer. Where the database
 * says that nothing whatever was committed since it answered about the same credentials, that answer holds. Versions
 * only grow, so an unchanged sum means that none has changed: then they are not sent again, and readers are given the
 * very same map. What is read of a user is compared with what was read before, letter by letter: where nothing has
 * changed, requests with the same credential are given the very same caller.
 */
export function createSessionReader(db: Db): SessionReader {
  let last: Seen | undefined;
  const answers = new WeakMap<Credential, Answer>();
  const usersOf = rememberParsed((row: SessionRow) => ({ row, permissions: permissionSet(row.permissions) }));
  const tokensOf = rememberParsed((row: ApiTokenRow) => row);
  const callers = new WeakMap<Credential, KnownCaller>();

  const read = coalesce<Credential | null, Round>(async (keys) => {
    const shown = keys.filter((key) => key !== null);
    const known = last;
    // taken now: what another read puts in their place meanwhile may be older than what is asked about here
    const cached = known && cachedFor(shown, known);
    const asked = performance.now();
    const { rows } = await prepared(
      db,
      STATE,
      [known?.server ?? null, cached ? known.snapshot : null, known?.sum ?? null, ...bindingsOf(shown)],
      // every request waits for it, so none hangs with a server that does
      { timeoutMs: LIMIT_MS },
    ).catch((error: unknown) => {
      // the database that comes back may be a restored one
      last = undefined;
      throw error;
    });
    if (rows[0].answer === null && cached) return { topics: known.topics, answers: cached };
    const answer = await answerOf(known, JSON.parse(rows[0].answer), asked);
    for (const credential of shown) answers.set(credential, answer);
    return { topics: answer.seen.topics, answers: new Map(shown.map((credential) => [credential, answer])) };
  });

  /** What was answered about these credentials, if all of it is of what was seen last. */
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

  /** @param known the state when this was read; another read may have ended since with a newer one. */
  function seenOf(known: Seen | undefined, { server, snapshot, sum, topics: sent }: Read): Seen {
    if (last?.server === server && last.snapshot === snapshot) return last;
    // none are sent where they are those that were told
    let topics = sent === null ? known!.topics : new Map(Object.entries(sent));
    if (last?.server === server && last.sum === sum) topics = last.topics;
    const seen = { server, snapshot, sum, topics };
    // where another read has ended meanwhile, the later one counts; where a failure has, the next one does
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

/** The caller of a credential, and of what it was made; undefined where the token is stale. */
interface KnownCaller {
  user: KnownUser;
  token: ApiTokenRow | undefined;
  caller: Caller | undefined;
}

/** Bytes of the texts that are remembered, and of what was made of them. */
const REMEMBERED_BYTES = 8 * 1024 * 1024;

/**
 * Reads an object of JSON texts by key. A text that has not changed yields the very same value again, and is not parsed.
 */
function rememberParsed<Row, T>(
  make: (row: Row) => T,
): (texts: Record<string, string>) => ReadonlyMap<string, T> {
  // a value takes about as much as its text
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
    ...boundedBy(user.permissions, scopesOf(token.scopes)),
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

const scopesOf = (scopes: string[]): Caller['scopes'] =>
  scopes.includes('*') ? undefined : new Set(scopes as TokenScope[]);

/** A caller's permissions and scopes, where the scopes of a token bound them. */
function boundedBy(
  permissions: Caller['permissions'],
  scopes: Caller['scopes'],
): Pick<Caller, 'permissions' | 'scopes'> {
  if (scopes === undefined) return { permissions };
  const keys = [...scopes].filter((scope) => scope !== 'account');
  return { permissions: commonPermissions(permissions, new Set(keys)), scopes };
}

/** What both allow. */
function commonPermissions(a: Caller['permissions'], b: Caller['permissions']): Caller['permissions'] {
  if (a === '*') return b;
  if (b === '*') return a;
  return new Set([...a].filter((key) => b.has(key)));
}

import { query, type Sql } from '../../../platform/database.ts';
import { EstateError } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { lockRow } from '../../kernel/resources/rows.ts';
import { named, recordLogin } from '../access.entry.ts';
import type { TokenSubject } from '../access.login.ts';
import { hasOtherAdministrator, lockAdministrators } from '../administrators.ts';
import { isAdministrator } from '../users.delete.ts';
import { User, type UserRow } from '../users.model.ts';
import { insertUser, updateUser } from '../users.store.ts';
import { roleOfGroups } from './sso.roles.ts';

/** The user who has logged in at the provider, from its verified response. */
export interface ProviderIdentity {
  issuer: string;
  subject: string;
  /** Undefined if the provider has not verified it. */
  email: string | undefined;
  displayName: string | undefined;
  /** Undefined if the provider sends none. */
  groups: string[] | undefined;
  /** Whether an account is created for users who were not invited. */
  mayJoin: boolean;
}

/** First logins are serialised, so that two of the same user do not create two accounts. */
const FIRST_LOGIN_LOCK = 7203016;

/**
 * Logs in a user of the provider. The account is found by the provider's subject; by its address only before its first
 * login. If groups determine roles, the role is updated at every login.
 * @throws EstateError `sso_refused` for accounts that are deactivated, belong to another subject, or were not invited.
 */
export async function loginByProvider(
  ctx: Ctx,
  identity: ProviderIdentity,
  { address, languages }: { address: string; languages: readonly string[] },
): Promise<TokenSubject> {
  const outcome = await command<TokenSubject | string>(ctx, async (work) => {
    const { sql, emit } = work;
    await lockAdministrators(sql);
    const found = (await linkedUser(sql, identity)) ?? (await firstLogin(work, identity, address));
    const reason = typeof found === 'string' ? found : await refusalOf(sql, found);
    const account = { email: identity.email ?? null, address, provider: identity.issuer };
    if (typeof found === 'string' || reason !== undefined) {
      emit({
        event_type: 'auth.login_failed',
        ...(typeof found === 'string' ? {} : { user_id: found.id }),
        data: { ...account, reason },
      });
      return reason!;
    }
    const role = await followGroups(work, ctx, found, identity);
    await recordLogin(work, found, languages);
    const data = { ...account, email: found.email, ...named(languages) };
    emit({ event_type: 'auth.login', user_id: found.id, data });
    const tokenVersion = found.token_version + (role === found.role ? 0 : 1);
    return { userId: found.id, role, tokenVersion };
  });
  if (typeof outcome === 'string') throw new EstateError('sso_refused', refusals[outcome as Refusal]);
  return outcome;
}

/** Why a user of the provider is refused. */
const refusals = {
  inactive: 'The account is deactivated; ask an administrator.',
  unverified: 'The provider does not vouch for an e-mail address of the account.',
  not_invited: 'Nobody has invited this account; ask an administrator.',
  taken:
    'There is an account with this e-mail address that logs in otherwise; an administrator can open it for single sign-on.',
};
type Refusal = keyof typeof refusals;

async function linkedUser(sql: Sql, { issuer, subject }: ProviderIdentity): Promise<UserRow | undefined> {
  const identity = await sql('sso_identities').where({ issuer, subject }).first('user_id');
  return identity && (await lockRow(sql, User, { id: identity.user_id }));
}

/** The account that expects this user's first login, or a new one. @returns it, or why there is none. */
async function firstLogin(
  work: Work,
  identity: ProviderIdentity,
  address: string,
): Promise<UserRow | Refusal> {
  const { sql } = work;
  await query(sql).run`select pg_advisory_xact_lock(${FIRST_LOGIN_LOCK})`;
  // A concurrent first login of the same user may have finished meanwhile.
  const linked = await linkedUser(sql, identity);
  if (linked) return linked;
  if (identity.email === undefined) return 'unverified';
  const waiting = await userOfEmail(sql, identity);
  if (waiting === 'taken') return waiting;
  if (!waiting && !identity.mayJoin) return 'not_invited';
  const user = waiting ? await openAccount(work, waiting) : await join(work, identity, address);
  const data = { issuer: identity.issuer, subject: identity.subject, user_id: user.id };
  await sql('sso_identities').insert(data);
  work.emit({
    event_type: 'auth.identity_linked',
    user_id: user.id,
    // The subject identifies a person permanently, and events outlive accounts.
    data: { id: user.id, issuer: identity.issuer },
  });
  return user;
}

/** The account with the address, if it expects a first login through this provider. */
async function userOfEmail(sql: Sql, identity: ProviderIdentity): Promise<UserRow | 'taken' | undefined> {
  const row = await sql('users').whereRaw('lower(email) = lower(?)', [identity.email!]).first('id');
  const user = row && (await lockRow(sql, User, { id: row.id }));
  if (!user) return undefined;
  const invited = user.invited_at !== null && user.password_hash === null;
  const linked = await sql('sso_identities')
    .where({ user_id: user.id, issuer: identity.issuer })
    .first('subject');
  const waits = user.kind === 'person' && (user.auth_provider === 'sso' || invited) && !linked;
  return waits ? user : 'taken';
}

async function openAccount(work: Work, user: UserRow): Promise<UserRow> {
  if (user.auth_provider === 'sso' && user.invited_at === null) return user;
  await work.sql('one_time_tokens').where({ user_id: user.id }).delete();
  return await updateUser(work, user, { auth_provider: 'sso', invited_at: null });
}

async function join(work: Work, identity: ProviderIdentity, address: string): Promise<UserRow> {
  const fallback = await work.sql('roles').where({ is_default: true }).first('key');
  const role = (await roleOfGroups(work.sql, identity.groups)) ?? fallback.key;
  const email = identity.email!;
  return await insertUser(
    work,
    { email, display_name: identity.displayName ?? email, role, auth_provider: 'sso' },
    { event_type: 'auth.registered', data: { role, address } },
  );
}

async function refusalOf(sql: Sql, user: UserRow): Promise<Refusal | undefined> {
  const role = await sql('roles').where({ key: user.role }).first('is_archived');
  return user.is_active && !role.is_archived ? undefined : 'inactive';
}

/** Assigns the role that follows from the groups; the last administrator keeps the role. @returns the role. */
async function followGroups(
  work: Work,
  ctx: Ctx,
  user: UserRow,
  { groups }: ProviderIdentity,
): Promise<string> {
  const role = await roleOfGroups(work.sql, groups);
  if (role === undefined || role === user.role) return user.role;
  if (isAdministrator(user) && !(await hasOtherAdministrator(work.sql, [user.id]))) return user.role;
  await updateUser(work, user, { role }, { revokes: true });
  await work.extensions.userRightsChanged(work, ctx, [user.id]);
  return role;
}

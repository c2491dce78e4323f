import Type, { type Static } from 'typebox';
import { query, type Sql } from '../../platform/database.ts';
import { EstateError } from '../../platform/errors.ts';
import { retryWhile } from '../../platform/retry.ts';
import { commandWith } from '../kernel/command.ts';
import type { Ctx, Work } from '../kernel/context.ts';
import { isMailAddress, mailConfigured } from '../kernel/mail/mail.enqueue.ts';
import { INVITABLE_ROLES, missingFrom, type PermissionMap } from '../kernel/permissions/grants.ts';
import { forbidden, requirePermission } from '../kernel/permissions/policy.ts';
import { Choice, Count, component, Nullable, NullableId, NullableText, object } from '../kernel/shapes.ts';
import {
  LINK_NEEDS_LOGIN,
  mailInvitations,
  setupMissing,
  showInvitations,
  type Told,
  type UserInput,
} from './users.create.ts';
import { isAddress, type UserRow } from './users.model.ts';
import { insertUsers } from './users.store.ts';

/** Whether mails that a request asked for are sent. */
export const MailConfigured = Type.Optional(
  Type.Boolean({
    description:
      'Of a requested mail: whether a mail server is configured. If not, none is sent, and the invitation is handed over by other means',
  }),
);

/** With what an invitation is handed over that is not mailed. */
export const Handover = {
  setup_token: Type.Optional(Type.String({ description: 'Token to set the password; only returned here' })),
  setup_link: Type.Optional(
    Type.String({
      description: 'Address of the page for it; without `app_base_url` in the settings of mail its path',
      examples: ['https://estate.example/set-password?token=…'],
    }),
  ),
  setup_missing: Type.Optional(
    Type.String({
      description:
        'Of an invitation that was not mailed, and whose link the caller does not get: why, and what to do',
    }),
  ),
};

export const CreatedUsersSchema = component('CreatedUsers', {
  results: Type.Array(
    object({
      email: Type.String(),
      status: Choice(['created', 'failed']),
      id: NullableId('Null in a dry run, and where it failed'),
      code: Nullable(Choice(['email_taken', 'duplicate', 'required', 'format', 'unknown_role', 'forbidden'])),
      error: NullableText('Why the user was not created'),
      ...Handover,
    }),
    { description: 'In the order of the request' },
  ),
  created: Count,
  failed: Count,
  mail_configured: MailConfigured,
  dry_run: Type.Boolean(),
});
type Report = Static<typeof CreatedUsersSchema>;
type Failure = { code: NonNullable<Report['results'][number]['code']>; error: string };

/** How often it is tried again when a concurrent request has taken an address. */
const ATTEMPTS = 5;

type Item = Pick<UserInput, 'email' | 'display_name' | 'role' | 'auth_provider'>;

/**
 * Creates or invites many users; those who cannot be created are reported, and the others created. Roles other than
 * member and viewer can only be assigned by callers who have their permissions.
 * @throws EstateError `forbidden`, `email_taken` if addresses are taken meanwhile again and again.
 */
export async function createUsers(
  ctx: Ctx,
  items: readonly Item[],
  options: { dry_run: boolean; send_email: boolean },
): Promise<Report> {
  requirePermission(ctx.caller, 'admin.users');
  const isTaken = (error: unknown) => error instanceof EstateError && error.code === 'email_taken';
  return await retryWhile(ATTEMPTS, isTaken, () => createAll(ctx, items, options));
}

async function createAll(
  ctx: Ctx,
  items: readonly Item[],
  { dry_run, send_email }: { dry_run: boolean; send_email: boolean },
): Promise<Report> {
  return await commandWith(ctx, { dryRun: dry_run }, async (work) => {
    const roles = await permissionsOf(work.sql, items);
    const failures = await failuresOf(work, ctx, items, roles, send_email);
    const invited_at = new Date().toISOString();
    const rows = items.flatMap(({ email, display_name, role, auth_provider }, n) => {
      const provider = auth_provider ?? 'local';
      const values = { email, display_name: display_name.trim(), role, auth_provider: provider };
      return failures[n] ? [] : [{ ...values, invited_at: provider === 'local' ? invited_at : null }];
    });
    const users = await insertUsers(work, rows);
    const invited = users.filter((user) => user.invited_at !== null);
    const told = send_email ? { mail_configured: await mailConfigured(work.sql) } : {};
    if (told.mail_configured && invited.length > 0) await mailInvitations(work, ctx, invited);
    const shown = dry_run || told.mail_configured ? [] : invited;
    const handovers = await handOver(work.sql, ctx, shown, roles, send_email);
    const ids = new Map(users.map(({ email, id }) => [email, id]));
    const results = items.map(({ email }, n): Report['results'][number] => {
      const failure = failures[n];
      if (failure) return { email, status: 'failed', id: null, ...failure };
      const id = ids.get(email)!;
      return {
        ...{ email, status: 'created', id: dry_run ? null : id, code: null, error: null },
        ...handovers.get(id),
      };
    });
    return { results, created: users.length, failed: items.length - users.length, ...told, dry_run };
  });
}

/**
 * Creates the tokens of new users for a caller who has all permissions of their roles: they have no roles on cards yet.
 * @returns them, or why there are none, by the ids of the users.
 */
async function handOver(
  sql: Sql,
  { caller }: Ctx,
  users: readonly UserRow[],
  roles: Roles,
  isMailed: boolean,
): Promise<Map<string, Told>> {
  const told = new Map<string, Told>();
  for (const { id, role } of users) {
    const missing = missingFrom(caller, roles.get(role)!);
    const refusal = caller.apiTokenId ? LINK_NEEDS_LOGIN : missing && forbidden(missing).message;
    if (refusal) told.set(id, { setup_missing: setupMissing(refusal, isMailed) });
  }
  const ids = users.flatMap(({ id }) => (told.has(id) ? [] : [id]));
  if (ids.length === 0) return told;
  const shown = await showInvitations(sql, caller, ids);
  for (const [n, id] of ids.entries()) told.set(id, shown[n]!);
  return told;
}

type Roles = ReadonlyMap<string, PermissionMap>;

/** The permissions of the active roles that are to be assigned. */
async function permissionsOf(sql: Sql, items: readonly Item[]): Promise<Roles> {
  const rows = await query(sql).rows<{ key: string; permissions: PermissionMap }>`select key, permissions
    from roles where not is_archived and key = any(${items.map(({ role }) => role)}::text[])`;
  return new Map(rows.map(({ key, permissions }) => [key, permissions]));
}

/** Why each item cannot be created; undefined where it can. */
async function failuresOf(
  { sql }: Work,
  ctx: Ctx,
  items: readonly Item[],
  roles: Roles,
  mailed: boolean,
): Promise<(Failure | undefined)[]> {
  const addresses = items.map(({ email }) => email.toLowerCase());
  const taken = new Set(
    await query(sql).column<string>`select lower(email) from users
      where lower(email) = any(${addresses}::text[])`,
  );
  return items.map(({ email, display_name, role }, n) => {
    const permissions = roles.get(role);
    const missing = permissions && !INVITABLE_ROLES.includes(role) && missingFrom(ctx.caller, permissions);
    if (display_name.trim() === '') return { code: 'required', error: 'display_name must not be blank' };
    if (taken.has(addresses[n]!))
      return { code: 'email_taken', error: 'There is an account with this address.' };
    if (addresses.indexOf(addresses[n]!) < n)
      return { code: 'duplicate', error: 'The address is given twice.' };
    if (!isAddress(email)) return { code: 'format', error: 'This is no e-mail address.' };
    if (mailed && !isMailAddress(email))
      return { code: 'format', error: 'No mail can be sent to the address.' };
    if (!permissions) return { code: 'unknown_role', error: `There is no active role "${role}".` };
    return missing
      ? { code: 'forbidden', error: `The role has ${missing}, which you do not have.` }
      : undefined;
  });
}

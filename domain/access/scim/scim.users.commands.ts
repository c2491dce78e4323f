import { query, unlessTaken } from '../../../platform/database.ts';
import { EstateError } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { differingMembers } from '../../kernel/events/row-changes.ts';
import {
  INVITABLE_ROLES,
  permissionsOfRole,
  requireControlOf,
  requireGrantable,
  requireReopening,
} from '../../kernel/permissions/grants.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { requireRow } from '../../kernel/resources/rows.ts';
import { lockAdministrators, requireAnotherAdministrator } from '../administrators.ts';
import { deleteUserRows, isAdministrator } from '../users.delete.ts';
import { isAddress, User, type UserRow } from '../users.model.ts';
import { identity, insertUser, updateUser } from '../users.store.ts';
import { scimError } from './scim.errors.ts';
import { checkVersion, oneResource, type ScimResource, users } from './scim.resources.ts';
import { type ScimUserValues, userOfPatch, userOfResource } from './scim.users.input.ts';

/**
 * Creates an account for single sign-on, with the default role until its groups assign another.
 * @returns its id.
 * @throws EstateError `forbidden`, `scim_invalid_value`, `scim_uniqueness`.
 */
export async function createScimUser(ctx: Ctx, body: unknown): Promise<string> {
  requirePermission(ctx.caller, 'admin.users');
  const values = userOfResource(body);
  const userName = values.userName!;
  const email = values.email ?? userName;
  if (!isAddress(email)) throw scimError('invalidValue', 'emails or userName has to hold an e-mail address.');
  return await command(ctx, async (work) => {
    await requireFree(work, undefined, { userName, email });
    const role = await work.sql('roles').where({ is_default: true }).first('key');
    if (!INVITABLE_ROLES.includes(role.key)) {
      requireGrantable(ctx.caller, await permissionsOfRole(work.sql, role.key));
    }
    const user = await insertUser(work, {
      email,
      display_name: displayNameOf(values) || userName.slice(0, 200),
      role: role.key,
      auth_provider: 'sso',
      is_active: values.active ?? true,
    });
    await storeIdentity(work, user, null, {
      user_name: userName,
      external_id: values.externalId ?? null,
      given_name: values.givenName ?? null,
      family_name: values.familyName ?? null,
    });
    return user.id;
  });
}

/**
 * Replaces the values of an account; an omitted state or address is unchanged.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `scim_invalid_value`, `scim_uniqueness`, or
 * `conflict` for the last administrator.
 */
export async function replaceScimUser(ctx: Ctx, id: string, body: unknown): Promise<void> {
  const values = userOfResource(body);
  await changeUser(ctx, id, () => ({
    externalId: null,
    givenName: null,
    familyName: null,
    displayName: '',
    ...values,
  }));
}

/**
 * Changes an account by the operations of a PATCH.
 * @throws EstateError as `replaceScimUser`, and `scim_invalid_path`, `scim_invalid_syntax`, `scim_mutability`,
 * `scim_no_target`.
 */
export async function patchScimUser(ctx: Ctx, id: string, body: unknown): Promise<void> {
  await changeUser(ctx, id, ({ email }) => userOfPatch(body, { email }));
}

interface IdentityRow {
  user_name: string;
  external_id: string | null;
  given_name: string | null;
  family_name: string | null;
}

async function changeUser(ctx: Ctx, id: string, valuesFor: (user: UserRow) => ScimUserValues): Promise<void> {
  requirePermission(ctx.caller, 'admin.users');
  await command(ctx, async (work) => {
    const { sql } = work;
    await lockAdministrators(sql);
    const [user, resource] = await lockedPerson(work, ctx, id);
    const values = valuesFor(user);
    const before: IdentityRow | undefined = await sql('scim_identities').where({ user_id: user.id }).first();
    const names: IdentityRow = {
      user_name: values.userName ?? before?.user_name ?? user.email,
      external_id: values.externalId === undefined ? (before?.external_id ?? null) : values.externalId,
      given_name: values.givenName === undefined ? (before?.given_name ?? null) : values.givenName,
      family_name: values.familyName === undefined ? (before?.family_name ?? null) : values.familyName,
    };
    const changes = differingMembers(user, {
      email: values.email,
      display_name: displayNameOf(values, user.display_name),
      is_active: values.active,
    });
    const userName = names.user_name === resource.userName ? undefined : names.user_name;
    await requireFree(work, user.id, { userName, email: changes.email });
    // The provider finds an account by its userName and externalId, and assigns the groups of that person to it.
    const linksAnew = userName !== undefined || names.external_id !== (before?.external_id ?? null);
    if (linksAnew || changes.email !== undefined) {
      if (user.id === ctx.caller.userId) {
        throw new EstateError(
          'conflict',
          'Nobody changes the own userName, externalId or address here; for the address there is PATCH /api/v1/users/{id}.',
        );
      }
      await requireControlOf(ctx, sql, user);
    }
    // Tokens mailed to the old address become invalid.
    if (changes.email !== undefined) await sql('one_time_tokens').where({ user_id: user.id }).delete();
    if (changes.is_active) await requireReopening(ctx, sql, user);
    if (isAdministrator(user) && !isAdministrator({ ...user, ...changes })) {
      await requireAnotherAdministrator(sql, [user.id]);
    }
    if (Object.keys(changes).length > 0) {
      await updateUser(work, user, changes, { revokes: 'is_active' in changes || 'email' in changes });
      if ('is_active' in changes) await work.extensions.userRightsChanged(work, ctx, [user.id]);
    }
    await storeIdentity(work, { ...user, ...changes }, before ?? null, names);
  });
}

/**
 * Deletes an account, with the checks of deleting users.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`, or `conflict` for the caller and the last
 * administrator.
 */
export async function deleteScimUser(ctx: Ctx, id: string): Promise<void> {
  requirePermission(ctx.caller, 'admin.users');
  await command(ctx, async (work) => {
    await lockAdministrators(work.sql);
    const [user] = await lockedPerson(work, ctx, id);
    if (user.id === ctx.caller.userId) throw new EstateError('conflict', 'Nobody deletes himself.');
    if (isAdministrator(user)) await requireAnotherAdministrator(work.sql, [user.id]);
    await deleteUserRows(work, ctx, [user]);
  });
}

async function lockedPerson(work: Work, ctx: Ctx, id: string): Promise<[UserRow, ScimResource]> {
  // Also refuses ids that are not valid.
  const { id: known } = await oneResource(work.sql, users, id);
  const user = await requireRow(work.sql, User, 'user', { id: known });
  const resource = await oneResource(work.sql, users, known);
  checkVersion(ctx, resource);
  return [user, resource];
}

/** The display name of an account; parts of the name replace a missing one. */
function displayNameOf(values: ScimUserValues, present?: string): string | undefined {
  const parts = [values.givenName, values.familyName].filter(Boolean).join(' ').slice(0, 200);
  const asked = values.displayName || values.formatted;
  if (asked) return asked;
  // A PATCH of one part of a name does not change the display name.
  return values.displayName === undefined && present !== undefined ? present : parts || present;
}

async function requireFree(
  { sql }: Work,
  ownId: string | undefined,
  { userName, email }: { userName?: string | undefined; email?: string | undefined },
): Promise<void> {
  const rows = await query(sql).rows`select exists (select from users u
    left join scim_identities i on i.user_id = u.id
                    where lower(coalesce(i.user_name, u.email)) = lower(${userName ?? null}::text)
                      and u.id is distinct from ${ownId ?? null}::uuid) as name,
            exists (select from users u where lower(u.email) = lower(${email ?? null}::text)
            and u.id is distinct from ${ownId ?? null}::uuid) as email`;
  if (rows[0].name) throw scimError('uniqueness', 'There is an account with this userName.');
  if (rows[0].email) throw scimError('uniqueness', 'There is an account with this e-mail address.');
}

/** Stores the client's names of the account; the event lists the changed members, without their values. */
async function storeIdentity(
  work: Work,
  user: UserRow,
  before: IdentityRow | null,
  names: IdentityRow,
): Promise<void> {
  const changed = before ? differingMembers(before, names) : names;
  const members = (Object.keys(changed) as (keyof IdentityRow)[]).filter(
    (column) => before || changed[column] !== null,
  );
  if (members.length === 0) return;
  await unlessTaken(
    work
      .sql('scim_identities')
      .insert({ user_id: user.id, ...names })
      .onConflict('user_id')
      .merge({ ...names, updated_at: work.sql.fn.now() }),
    () => scimError('uniqueness', 'There is an account with this userName.'),
    'scim_identities_user_name',
  );
  work.emit({ event_type: 'user.provisioned', data: { ...identity(user), members } });
}

import { EstateError, invalidFields } from '../../platform/errors.ts';
import { permissionSet } from '../access/access.sessions.ts';
import type { AppPermission } from '../access/permissions.data.ts';
import type { Work } from '../command.ts';

/**
 * Whether all of them can sign: active people whose role lets them read it and sign it. Their accounts stay as they are
 * until the command has ended, so that none is closed without a look at what was just asked of it.
 * @throws EstateError `validation_failed` naming each who cannot.
 */
export async function requireSignatories(
  { sql }: Work,
  rights: { view: AppPermission; sign: AppPermission },
  userIds: readonly string[],
  fieldOf: (n: number) => string,
): Promise<void> {
  const needed = [rights.view, rights.sign];
  const { rows } = await sql.raw(
    `select u.id, r.permissions from users u join roles r on r.key = u.role
     where u.id = any(?::uuid[]) and u.is_active and u.kind = 'person' and not r.is_archived
     order by u.id for share of u`,
    [userIds] as never,
  );
  const held = new Map(
    rows.map((row: { id: string; permissions: Record<string, boolean> }) => [
      row.id,
      permissionSet(row.permissions),
    ]),
  ) as Map<string, ReturnType<typeof permissionSet>>;
  const faults = userIds.flatMap((given, n) => {
    const permissions = held.get(given.toLowerCase());
    const field = fieldOf(n);
    if (!permissions) return [{ field, code: 'unknown_user', message: 'is no active user' }];
    const lacks = permissions === '*' ? undefined : needed.find((key) => !permissions.has(key));
    return lacks ? [{ field, code: 'cannot_sign', message: `lacks the permission ${lacks}` }] : [];
  });
  if (faults.length > 0) throw invalidFields(faults);
}

/** @throws EstateError `forbidden`: the service itself signs nothing. */
export function requirePerson(userId: string | null): string {
  if (userId === null) throw new EstateError('forbidden', 'Only people sign.');
  return userId;
}

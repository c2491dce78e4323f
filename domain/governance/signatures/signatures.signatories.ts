import type { Sql } from '../../../platform/database.ts';
import { EstateError, invalidFields } from '../../../platform/errors.ts';
import { permissionSet } from '../../access/access.sessions.ts';
import type { Work } from '../../kernel/context.ts';
import type { AppPermission } from '../../kernel/permissions/permissions.data.ts';
import type { SignedKind } from './signatures.types.ts';

type Rights = SignedKind['rights'];

/** What active people hold, by their ids; nobody else is in it. */
async function heldBy(
  sql: Sql,
  userIds: readonly string[],
  lock: '' | 'for share',
): Promise<Map<string, ReturnType<typeof permissionSet>>> {
  const { rows } = await sql.raw(
    `select u.id, r.permissions from users u join roles r on r.key = u.role
     where u.id = any(?::uuid[]) and u.is_active and u.kind = 'person' and not r.is_archived
     order by u.id ${lock}`,
    [userIds] as never,
  );
  return new Map(
    rows.map((row: { id: string; permissions: Record<string, boolean> }) => [
      row.id,
      permissionSet(row.permissions),
    ]),
  );
}

const lackOf = (
  held: ReturnType<typeof permissionSet>,
  needed: readonly AppPermission[],
): AppPermission | undefined => (held === '*' ? undefined : needed.find((key) => !held.has(key)));

const toSign = ({ view, sign }: Rights) => [view, sign];
const toManage = ({ view, manage }: Rights) => [view, manage];

/** Whether people can sign documents of a kind, and whether they can ask others to. */
export type Abilities = ReadonlyMap<string, { sign: boolean; manage: boolean }>;

/** What people can do with documents of a kind; who has no open account can do nothing and is not in it. */
export async function abilitiesOf(sql: Sql, rights: Rights, userIds: readonly string[]): Promise<Abilities> {
  return new Map(
    [...(await heldBy(sql, userIds, ''))].map(([id, held]) => [
      id,
      {
        sign: lackOf(held, toSign(rights)) === undefined,
        manage: lackOf(held, toManage(rights)) === undefined,
      },
    ]),
  );
}

/**
 * Whether all of them can sign: active people whose role lets them read it and sign it. Their accounts and roles stay as
 * they are until the command has ended, so that nobody loses either without a look at what was just asked of them.
 * @throws EstateError `validation_failed` naming each who cannot.
 */
export async function requireSignatories(
  { sql }: Work,
  rights: Rights,
  userIds: readonly string[],
  fieldOf: (n: number) => string,
): Promise<void> {
  const held = await heldBy(sql, userIds, 'for share');
  const faults = userIds.flatMap((given, n) => {
    const permissions = held.get(given.toLowerCase());
    const field = fieldOf(n);
    if (!permissions) return [{ field, code: 'unknown_user', message: 'is no active user' }];
    const lacks = lackOf(permissions, toSign(rights));
    return lacks ? [{ field, code: 'cannot_sign', message: `lacks the permission ${lacks}` }] : [];
  });
  if (faults.length > 0) throw invalidFields(faults);
}

/** @throws EstateError `forbidden`: the service itself signs nothing. */
export function requirePerson(userId: string | null): string {
  if (userId === null) throw new EstateError('forbidden', 'Only people sign.');
  return userId;
}

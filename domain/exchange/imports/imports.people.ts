import { query, type Sql } from '../../../platform/database.ts';
import type { FieldError } from '../../../platform/errors.ts';
import { nearestOf, shortened, unknownChoice } from '../../kernel/choices.ts';
import type { CardType } from '../../kernel/metamodel/metamodel.compile.ts';
import type { Stakeholding } from '../../kernel/transfer/csv-cells.ts';
import type { StagedHolder } from './imports.cards.types.ts';

const fold = (text: string) => text.toLowerCase();

/** The ids of the users with the given addresses, by address in lower case. */
export async function readUserIds(sql: Sql, emails: Iterable<string>): Promise<Map<string, string>> {
  const wanted = [...new Set([...emails].map(fold))];
  if (wanted.length === 0) return new Map();
  const rows = await query(sql).rows`select id, lower(email) as email from users
    where lower(email) = any(${wanted}::text[])`;
  return new Map(rows.map((row: { id: string; email: string }) => [row.email, row.id]));
}

/** Among how many users the one that was meant is searched. */
const MOST_USERS = 5_000;

/** How many letters of an address may differ: its domain makes all addresses similar. */
const MOST_DIFFERENT = 3;

/** The addresses of users, which everybody with an account can list. */
export const readEmails = (sql: Sql): Promise<string[]> =>
  query(sql)
    .column<string>`select email from users where is_active order by lower(email) limit ${MOST_USERS}`;

/** The stakeholders that a row names, or its errors. @param emails those of users, to name the one that was meant. */
export function resolveStakeholders(
  users: ReadonlyMap<string, string>,
  type: CardType,
  stakeholders: Stakeholding[],
  emails: readonly string[] = [],
): { holders: StagedHolder[]; errors: FieldError[] } {
  const holders = new Map<string, StagedHolder>();
  const errors: FieldError[] = [];
  for (const { role, email } of stakeholders) {
    const user_id = users.get(fold(email));
    if (!type.stakeholderRoles.some((definition) => definition.key === role)) {
      const message = `${type.key} has no stakeholder role ${role}`;
      const error = { field: 'stakeholders', code: 'unknown_role', message };
      const roles = type.stakeholderRoles.map(({ key }) => key);
      errors.push(unknownChoice(error, role, roles));
    } else if (!user_id) {
      const message = `there is no user ${email}`;
      const nearest = nearestOf(email, emails, MOST_DIFFERENT);
      const error = { field: 'stakeholders', code: 'unknown_user', message, value: shortened(email) };
      errors.push(nearest === undefined ? error : { ...error, nearest });
    } else holders.set(`${role}/${user_id}`, { user_id, role });
  }
  return { holders: [...holders.values()], errors };
}

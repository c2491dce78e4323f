import { query, type Sql } from '../../platform/database.ts';
import type { Work } from '../kernel/context.ts';
import { chooseLanguage, DEFAULT_LANGUAGE } from '../kernel/metamodel/languages.ts';
import { lockRow } from '../kernel/resources/rows.ts';
import { readSetting } from '../kernel/settings/settings.read.ts';
import { User, type UserRow } from './users.model.ts';
import { updateUser } from './users.store.ts';

/** The language of the pages for a client that accepts some; those that the workspace does not offer do not count. */
export const firstLocale = async (sql: Sql, accepted: readonly string[]): Promise<string> =>
  chooseLanguage(accepted, new Set(await readSetting(sql, 'languages')));

/** Stores that a locked user has logged in; at the first time also the client's language, if none was chosen. */
export async function recordLogin(
  work: Work,
  { id, last_login, locale }: Pick<UserRow, 'id' | 'last_login' | 'locale'>,
  accepted: readonly string[],
): Promise<void> {
  await query(work.sql)
    .run`update users set failed_login_attempts = 0, locked_until = null, last_login = now()
    where id = ${id}`;
  if (last_login !== null || locale !== DEFAULT_LANGUAGE) return;
  const own = await firstLocale(work.sql, accepted);
  if (own !== locale) await updateUser(work, (await lockRow(work.sql, User, { id }))!, { locale: own });
}

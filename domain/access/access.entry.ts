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

/** The languages of a client as data of its login, by which later ones are not the first. */
export const named = (languages: readonly string[]) => (languages.length > 0 ? { languages } : {});

/**
 * Stores that a locked user has logged in; at the first time also the client's language, if none was chosen. Logins of
 * clients that name no language, such as scripts, do not count as the first.
 */
export async function recordLogin(
  work: Work,
  { id, last_login, locale }: Pick<UserRow, 'id' | 'last_login' | 'locale'>,
  accepted: readonly string[],
): Promise<void> {
  await query(work.sql)
    .run`update users set failed_login_attempts = 0, locked_until = null, last_login = now()
    where id = ${id}`;
  if (locale !== DEFAULT_LANGUAGE || accepted.length === 0) return;
  if (last_login !== null && (await hadLanguage(work.sql, id))) return;
  const own = await firstLocale(work.sql, accepted);
  if (own !== locale) await updateUser(work, (await lockRow(work.sql, User, { id }))!, { locale: own });
}

/** Whether a user has logged in with a client that names languages, such as the pages. */
async function hadLanguage(sql: Sql, id: string): Promise<boolean> {
  return await query(sql).value<boolean>`select
    exists (select from web_sessions where user_id = ${id}) or exists (
      select from events
      where user_id = ${id} and event_type = 'auth.login' and jsonb_exists(data, 'languages')
    )`;
}

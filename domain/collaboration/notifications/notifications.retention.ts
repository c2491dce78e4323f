import type { Sql } from '../../../platform/database.ts';
import { readSetting } from '../../kernel/settings/settings.read.ts';

/** Mail rows are retained like their jobs; their content is deleted when they are sent. */
const MAIL_DAYS = 30;

/** Removes up to `limit` notifications that are older than the retention period of the settings. @returns how many. */
export async function removeOldNotifications(sql: Sql, limit: number): Promise<number> {
  const { notifications_days } = await readSetting(sql, 'retention');
  return await removeOlder(sql, 'notifications', notifications_days, limit);
}

/** Removes up to `limit` old mails. @returns how many. */
export async function removeOldMails(sql: Sql, limit: number): Promise<number> {
  return await removeOlder(sql, 'mails', MAIL_DAYS, limit);
}

async function removeOlder(sql: Sql, table: string, days: number, limit: number): Promise<number> {
  const { rowCount } = await sql.raw(
    `delete from ${table} where id in (
       select id from ${table} where created_at < now() - make_interval(days => ?::int) limit ?)`,
    [days, limit],
  );
  return rowCount as number;
}

import type { Sql } from '../../../platform/database.ts';
import { type SettingKey, type SettingValues, settingDefaults } from './settings.defaults.ts';

/** Where the table keeps a setting of the workspace; the service's own marks have other prefixes. */
export const storedKey = (key: SettingKey): string => `workspace.${key}`;

/** One setting as it is, its default where nobody has set it. Objects are filled up with their defaults. */
export async function readSetting<K extends SettingKey>(sql: Sql, key: K): Promise<SettingValues[K]> {
  const row = await sql('settings')
    .where({ key: storedKey(key) })
    .first('value');
  return settingValue(key, row?.value);
}

/** A stored value (undefined where there is none) made whole by the default. */
export function settingValue<K extends SettingKey>(key: K, stored: unknown): SettingValues[K] {
  const fallback = settingDefaults[key];
  if (stored === undefined) return fallback;
  const isObject = typeof fallback === 'object' && fallback !== null && !Array.isArray(fallback);
  return (isObject ? { ...fallback, ...(stored as object) } : stored) as SettingValues[K];
}

import type { Sql } from '../../../platform/database.ts';
import { type SettingKey, type SettingValues, settingDefaults } from './settings.defaults.ts';

/** The key prefix of workspace settings in the table; internal values have other prefixes. */
export const storedKey = (key: SettingKey): string => `workspace.${key}`;

/** The current value of one setting, or its default. Defaults are merged into objects. */
export async function readSetting<K extends SettingKey>(sql: Sql, key: K): Promise<SettingValues[K]> {
  const row = await sql('settings')
    .where({ key: storedKey(key) })
    .first('value');
  return settingValue(key, row?.value);
}

/** Merges the default into a stored value (undefined if there is none). */
export function settingValue<K extends SettingKey>(key: K, stored: unknown): SettingValues[K] {
  const fallback = settingDefaults[key];
  if (stored === undefined) return fallback;
  const isObject = typeof fallback === 'object' && fallback !== null && !Array.isArray(fallback);
  return (isObject ? { ...fallback, ...(stored as object) } : stored) as SettingValues[K];
}

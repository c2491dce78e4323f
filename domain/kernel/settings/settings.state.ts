import { query, type Sql } from '../../../platform/database.ts';
import { createVersionedStore, type VersionedStore } from '../versioned.ts';
import { type SettingKey, type SettingValues, settingDefaults } from './settings.defaults.ts';
import { settingValue, storedKey } from './settings.read.ts';

/** The topic that every change of a setting raises. */
export const SETTINGS_TOPIC = 'settings';

/** All settings at one version of their topic. */
export interface WorkspaceSettings {
  version: number;
  values: SettingValues;
  /** The keys of settings with stored values; all others have their defaults. */
  stored: ReadonlySet<SettingKey>;
  /** The stored keys of the secrets that are set, such as `secret.email.smtp_password`. */
  secrets: ReadonlySet<string>;
}

/** Reads all settings on the given connection or transaction. */
export async function loadSettings(sql: Sql): Promise<WorkspaceSettings> {
  const rows = await query(sql).rows`select
       coalesce((select version from topic_versions where topic = ${SETTINGS_TOPIC}), 0) as version,
       (select coalesce(jsonb_object_agg(key, value), '{}') from settings
       where key like 'workspace.%') as stored,
       (select coalesce(jsonb_agg(key), '[]') from settings where key like 'secret.%') as secrets`;
  const { version, stored, secrets } = rows[0];
  const keys = Object.keys(settingDefaults) as SettingKey[];
  return {
    version: Number(version),
    values: Object.fromEntries(
      keys.map((key) => [key, settingValue(key, stored[storedKey(key)])]),
    ) as SettingValues,
    stored: new Set(keys.filter((key) => Object.hasOwn(stored, storedKey(key)))),
    secrets: new Set(secrets),
  };
}

/** Caches the latest settings of a process. */
export type SettingsStore = VersionedStore<WorkspaceSettings>;

export function createSettingsStore(): SettingsStore {
  return createVersionedStore(loadSettings);
}

import type { Static, TSchema } from 'typebox';
import type { SecretBox } from '../../../platform/crypto.ts';
import { query, type Sql } from '../../../platform/database.ts';
import { EstateError } from '../../../platform/errors.ts';
import { createVersionedStore, type VersionedStore } from '../versioned.ts';
import type { StoredImage } from './settings.definition.ts';
import { settingTable } from './settings.table.ts';

type Table = typeof settingTable;
type ValueOf<D> = D extends { kind: 'plain'; schema: infer S extends TSchema }
  ? Static<S>
  : D extends { kind: 'group'; members: infer M }
    ? { [N in keyof M]: M[N] extends { schema: infer S extends TSchema } ? Static<S> : never }
    : StoredImage | null;

export type SettingKey = keyof Table;
/** The values of all settings, without secrets. */
export type SettingValues = { [K in SettingKey]: ValueOf<Table[K]> };

/** Settings with one value. */
export type PlainSetting = { [K in SettingKey]: Table[K]['kind'] extends 'plain' ? K : never }[SettingKey];
/** Settings whose members are changed individually. */
export type SettingGroup = { [K in SettingKey]: Table[K]['kind'] extends 'group' ? K : never }[SettingKey];
/** Groups with a secret. */
export type SecretGroup = { [K in SettingKey]: Table[K] extends { secret: string } ? K : never }[SettingKey];

/** The default value of each setting. */
export const settingDefaults = Object.fromEntries(
  Object.entries(settingTable).map(([key, definition]) => [
    key,
    definition.kind === 'group'
      ? Object.fromEntries(Object.entries(definition.members).map(([name, member]) => [name, member.default]))
      : definition.default,
  ]),
) as SettingValues;

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

export const createSettingsStore = (): SettingsStore => createVersionedStore(loadSettings);

/** The member of a group that is stored encrypted and never returned. */
export const secretMembers = {
  email: settingTable.email.secret,
  sso: settingTable.sso.secret,
  ai: settingTable.ai.secret,
} satisfies Record<SecretGroup, string>;

/** Returned instead of a secret that is set; if it is sent back, the secret is not changed. */
export const MASK = '********';

/** The key of a secret in the table `settings`, and its encryption context. */
export const secretKey = (group: SecretGroup): string => `secret.${group}.${secretMembers[group]}`;

/** The decrypted secret of a group, for logging in to another system; empty if none is set. */
export async function readSecret(sql: Sql, secrets: SecretBox, group: SecretGroup): Promise<string> {
  const key = secretKey(group);
  const row = await sql('settings').where({ key }).first('value');
  return row ? secrets.open(row.value as string, key) : '';
}

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

export const isPlain = (key: PlainSetting | SettingGroup): key is PlainSetting =>
  settingTable[key].kind === 'plain';

export const hasSecret = (key: SettingKey): key is SecretGroup => Object.hasOwn(secretMembers, key);

/** One setting as its operation returns it: without secrets, with derived values. */
export function settingView(
  key: PlainSetting | SettingGroup,
  settings: WorkspaceSettings,
): Record<string, unknown> {
  const { values } = settings;
  if (key === 'mcp_enabled') return { enabled: values.mcp_enabled, sso_configured: ssoConfigured(settings) };
  if (isPlain(key)) return { [settingTable[key].member]: values[key] };
  const shown: Record<string, unknown> = { ...values[key] };
  if (hasSecret(key)) shown[secretMembers[key]] = settings.secrets.has(secretKey(key)) ? MASK : '';
  if (key === 'email') shown.configured = emailConfigured(settings);
  return shown;
}

/** Whether mails can be sent. */
export const emailConfigured = ({ values }: WorkspaceSettings): boolean => values.email.smtp_host !== '';

/** Whether users may register themselves: not with single sign-on, and only if addresses can be confirmed by mail. */
export const registrationOpen = (settings: WorkspaceSettings): boolean =>
  settings.values.registration_enabled && !settings.values.sso.enabled && emailConfigured(settings);

/** Whether users log in through an identity provider. */
export const ssoConfigured = ({ values: { sso } }: WorkspaceSettings): boolean =>
  sso.enabled && sso.client_id !== '';

/** The modules that a workspace can disable, with the setting of each. */
const switches = {
  bpm: 'bpm_enabled',
  ppm: 'ppm_enabled',
  grc: 'grc_enabled',
  ai_analysis: 'ai_analysis_enabled',
  file_uploads: 'file_uploads_enabled',
  mcp: 'mcp_enabled',
} as const satisfies Record<string, SettingKey>;

export type Module = keyof typeof switches;

export const isEnabled = ({ values }: WorkspaceSettings, module: Module): boolean => values[switches[module]];

/** @throws EstateError `module_disabled` naming the module. */
export function requireModule(settings: WorkspaceSettings, module: Module): void {
  if (!isEnabled(settings, module)) throw moduleDisabled(module);
}

/** The error that names the module. */
export function moduleDisabled(module: Module): EstateError {
  return new EstateError('module_disabled', `The module ${module} is switched off in this workspace.`, {
    extra: { module },
  });
}

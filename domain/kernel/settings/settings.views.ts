import type { SettingKey } from './settings.defaults.ts';
import { MASK, type SecretGroup, secretKey, secretMembers } from './settings.secrets.ts';
import type { WorkspaceSettings } from './settings.state.ts';

/** The member under which a plain value is sent and shown; groups of members have none. */
export const settingMembers = {
  currency: 'currency',
  date_format: 'date_format',
  app_title: 'app_title',
  bpm_enabled: 'enabled',
  ppm_enabled: 'enabled',
  grc_enabled: 'enabled',
  ai_analysis_enabled: 'enabled',
  file_uploads_enabled: 'enabled',
  bpm_row_order: 'row_order',
  fiscal_year_start: 'month',
  archive_retention_days: 'days',
  registration_enabled: 'enabled',
  principles_display: 'enabled',
  mcp_enabled: 'enabled',
  two_factor_required: 'required',
  api_token_max_days: 'days',
  cors_origins: 'origins',
  eol_source: 'url',
  notification_digest_minutes: 'minutes',
} as const satisfies Partial<Record<SettingKey, string>>;

export type PlainSetting = keyof typeof settingMembers;
/** Groups whose members are changed one by one. */
export type SettingGroup = 'login_branding' | 'registration_policy' | 'retention' | SecretGroup;

export const isPlain = (key: PlainSetting | SettingGroup): key is PlainSetting =>
  Object.hasOwn(settingMembers, key);

export const hasSecret = (key: PlainSetting | SettingGroup): key is SecretGroup =>
  Object.hasOwn(secretMembers, key);

/** One setting as its operation answers it: without secrets, and with what follows from it. */
export function settingView(
  key: PlainSetting | SettingGroup,
  settings: WorkspaceSettings,
): Record<string, unknown> {
  const { values } = settings;
  if (key === 'mcp_enabled') return { enabled: values.mcp_enabled, sso_configured: ssoConfigured(settings) };
  if (isPlain(key)) return { [settingMembers[key]]: values[key] };
  const shown: Record<string, unknown> = { ...values[key] };
  if (hasSecret(key)) shown[secretMembers[key]] = settings.secrets.has(secretKey(key)) ? MASK : '';
  if (key === 'email') shown.configured = emailConfigured(settings);
  return shown;
}

/** Whether mails can go out. */
export const emailConfigured = ({ values }: WorkspaceSettings): boolean => values.email.smtp_host !== '';

/** Whether people may register themselves: a provider would decide who they are, and the address is confirmed by mail. */
export const registrationOpen = (settings: WorkspaceSettings): boolean =>
  settings.values.registration_enabled && !settings.values.sso.enabled && emailConfigured(settings);

/** Whether people log in through a provider. */
export const ssoConfigured = ({ values: { sso } }: WorkspaceSettings): boolean =>
  sso.enabled && sso.client_id !== '';

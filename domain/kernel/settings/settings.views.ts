import type { PlainSetting, SecretGroup, SettingGroup } from './settings.defaults.ts';
import { MASK, secretKey, secretMembers } from './settings.secrets.ts';
import type { WorkspaceSettings } from './settings.state.ts';
import { settingTable } from './settings.table.ts';

export const isPlain = (key: PlainSetting | SettingGroup): key is PlainSetting =>
  settingTable[key].kind === 'plain';

export const hasSecret = (key: PlainSetting | SettingGroup): key is SecretGroup =>
  Object.hasOwn(secretMembers, key);

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

import type { SettingValues } from '../../kernel/settings/settings.read.ts';

type SsoSettings = SettingValues['sso'];

/** Tenant names and ids with which Microsoft accepts accounts of any organisation, or of anyone. */
const SHARED_TENANTS = ['organizations', 'common', 'consumers', '9188040d-6c67-4c5b-b112-36a304b66dad'];

/** Issuers where anyone can have an account. */
const PUBLIC_HOSTS = [
  'accounts.google.com',
  'appleid.apple.com',
  'account.apple.com',
  'www.facebook.com',
  'limited.facebook.com',
  'api.login.yahoo.com',
  'www.linkedin.com',
  'gitlab.com',
  'id.twitch.tv',
  'slack.com',
  'discord.com',
  'access.line.me',
  'www.paypal.com',
  'www.paypalobjects.com',
];

const isSharedTenant = (tenant: string): boolean => SHARED_TENANTS.includes(tenant.toLowerCase());

/** Whether the provider has accounts of users outside the organisation. */
export function isPublicIssuer({ provider, tenant_id, issuer_url }: SsoSettings): boolean {
  if (provider === 'google') return true;
  if (provider === 'microsoft') return isSharedTenant(tenant_id);
  const url = provider === 'oidc' ? URL.parse(issuer_url) : null;
  if (!url) return false;
  if (url.hostname === 'login.microsoftonline.com') return isSharedTenant(url.pathname.split('/')[1]!);
  return PUBLIC_HOSTS.includes(url.hostname);
}

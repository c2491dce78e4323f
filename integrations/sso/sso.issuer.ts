import { isPublicIssuer } from '../../domain/app/settings/settings.sso.ts';
import type { SettingValues } from '../../domain/kernel/settings/settings.defaults.ts';

type SsoSettings = SettingValues['sso'];

/** Where the provider's discovery document is looked for. */
export function issuerOf(sso: SsoSettings): string {
  switch (sso.provider) {
    case 'microsoft':
      return `https://login.microsoftonline.com/${sso.tenant_id}/v2.0`;
    case 'google':
      return 'https://accounts.google.com';
    case 'okta':
      return `https://${sso.domain}`;
    case 'oidc':
      return sso.issuer_url;
  }
}

/** Where people are sent to log in, as far as it is known without asking the provider; else empty. */
export function knownAuthorizationEndpoint(sso: SsoSettings): string {
  if (sso.authorization_endpoint !== '') return sso.authorization_endpoint;
  switch (sso.provider) {
    case 'microsoft':
      return `https://login.microsoftonline.com/${sso.tenant_id}/oauth2/v2.0/authorize`;
    case 'google':
      return 'https://accounts.google.com/o/oauth2/v2/auth';
    case 'okta':
      return `https://${sso.domain}/oauth2/v1/authorize`;
    case 'oidc':
      return '';
  }
}

/** Whether people may log in who do not belong to the organisation. Google checks the domain of its accounts itself. */
export function isShared(sso: SsoSettings): boolean {
  const checksDomain = issuerOf(sso).replace(/\/+$/, '') === 'https://accounts.google.com';
  return isPublicIssuer(sso) && !(checksDomain && sso.domain !== '');
}

/** The domain that people's addresses have to be of; empty: any. Okta's setting names its own server instead. */
export const requiredDomain = (sso: SsoSettings): string => (sso.provider === 'okta' ? '' : sso.domain);

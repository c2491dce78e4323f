import { isPublicIssuer } from '../../../domain/app/settings/settings.sso.ts';
import type { SettingValues } from '../../../domain/kernel/settings/settings.read.ts';

type SsoSettings = SettingValues['sso'];

/** The issuer URL, below which the discovery document is read. */
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

/** The authorization endpoint if it is known without the discovery document; else empty. */
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

/** Whether accounts outside the organisation could log in. Google checks the domain of its accounts itself. */
export function isShared(sso: SsoSettings): boolean {
  const checksDomain = issuerOf(sso).replace(/\/+$/, '') === 'https://accounts.google.com';
  return isPublicIssuer(sso) && !(checksDomain && sso.domain !== '');
}

/** The required domain of addresses; empty: any. Okta's `domain` setting is its server instead. */
export const requiredDomain = (sso: SsoSettings): string => (sso.provider === 'okta' ? '' : sso.domain);

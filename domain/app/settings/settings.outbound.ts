import type { FieldError } from '../../../platform/errors.ts';
import type { Outbound } from '../../../platform/outbound.ts';
import type { SettingKey, SettingValues } from '../../kernel/settings/settings.read.ts';

/** Checks addresses without resolving names. */
export type AddressGuard = Pick<Outbound, 'refusal' | 'mailRefusal'>;

/** The settings with addresses that this service connects to, and the members of groups that are such addresses. */
const called: { [K in SettingKey]?: readonly string[] } = {
  ai: ['provider_url', 'search_url'],
  email: ['oauth_token_url'],
  sso: ['issuer_url', 'token_endpoint', 'jwks_uri'],
  eol_source: ['url'],
};

/** Errors of changed addresses that the outbound guard would refuse. */
export function outboundErrors(
  guard: AddressGuard,
  key: SettingKey,
  before: SettingValues,
  value: SettingValues[SettingKey],
): FieldError[] {
  const membersOf = (of: unknown) => (key === 'eol_source' ? { url: of } : of) as Record<string, string>;
  const ofAddresses = (called[key] ?? []).flatMap((field) => {
    const address = membersOf(value)[field]!;
    if (address === '' || address === membersOf(before[key])[field]) return [];
    const message = guard.refusal(address);
    return message === undefined ? [] : [{ field, code: 'refused_address', message }];
  });
  if (key !== 'email') return ofAddresses;
  return [...ofAddresses, ...mailErrors(guard, before.email, value as SettingValues['email'])];
}

function mailErrors(
  guard: AddressGuard,
  before: SettingValues['email'],
  { smtp_host: host, smtp_port: port }: SettingValues['email'],
): FieldError[] {
  if (host === '' || (host === before.smtp_host && port === before.smtp_port)) return [];
  const message = guard.mailRefusal(host, port);
  if (message === undefined) return [];
  const field = message.startsWith('uses port') ? 'smtp_port' : 'smtp_host';
  return [{ field, code: 'refused_address', message }];
}

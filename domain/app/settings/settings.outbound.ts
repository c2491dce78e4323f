import type { FieldError } from '../../../platform/errors.ts';
import type { Outbound } from '../../../platform/outbound.ts';
import type { SettingKey, SettingValues } from '../../kernel/settings/settings.defaults.ts';

/** Says why an address cannot be connected to, as far as it tells before names are resolved. */
export type AddressGuard = Pick<Outbound, 'refusal' | 'mailRefusal'>;

/** The members of a group that hold addresses this service calls itself. */
const called = {
  ai: ['provider_url', 'search_url'],
  sso: ['issuer_url', 'token_endpoint', 'jwks_uri'],
} as const satisfies { [G in SettingKey]?: readonly (keyof SettingValues[G])[] };

/** Faults of the addresses that a change brings and that this service would refuse to connect to. */
export function outboundFaults(
  guard: AddressGuard,
  key: SettingKey,
  before: SettingValues,
  value: SettingValues[SettingKey],
): FieldError[] {
  if (key === 'email') return mailFaults(guard, before.email, value as SettingValues['email']);
  if (key === 'eol_source') return webFaults(guard, 'url', before.eol_source, value as string);
  if (key !== 'ai' && key !== 'sso') return [];
  const present = before[key] as Record<string, unknown>;
  const next = value as Record<string, unknown>;
  return called[key].flatMap((member) =>
    webFaults(guard, member, String(present[member] ?? ''), String(next[member] ?? '')),
  );
}

function webFaults(guard: AddressGuard, field: string, before: string, address: string): FieldError[] {
  if (address === '' || address === before) return [];
  const message = guard.refusal(address);
  return message === undefined ? [] : [{ field, code: 'refused_address', message }];
}

function mailFaults(
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

import type { FieldError } from '../../../platform/errors.ts';
import type { Outbound } from '../../../platform/outbound.ts';
import type { SettingKey, SettingValues } from '../../kernel/settings/settings.read.ts';

/** Checks addresses without resolving names. */
export type AddressGuard = Pick<Outbound, 'refusal' | 'mailRefusal'>;

/** The members of groups with addresses that this service connects to. */
const called = {
  ai: ['provider_url', 'search_url'],
  sso: ['issuer_url', 'token_endpoint', 'jwks_uri'],
} as const satisfies { [G in SettingKey]?: readonly (keyof SettingValues[G])[] };

/** Errors of changed addresses that the outbound guard would refuse. */
export function outboundErrors(
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

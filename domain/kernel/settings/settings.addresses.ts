import type { FieldError } from '../../../platform/errors.ts';
import type { SettingValues } from './settings.defaults.ts';
import { MASK, type SecretGroup, secretKey, secretMembers } from './settings.secrets.ts';
import type { WorkspaceSettings } from './settings.state.ts';

/** The members that decide to whom the secret of a group is sent. */
const addresses: { [G in SecretGroup]: readonly (keyof SettingValues[G])[] } = {
  email: ['smtp_host', 'smtp_port', 'smtp_tls'],
  sso: ['provider', 'tenant_id', 'domain', 'issuer_url', 'token_endpoint'],
  ai: ['provider_type', 'provider_url'],
};

/**
 * Whether the secret that is set would go to another server with the new value than it was given for. Whoever may change
 * settings must not learn a secret by sending it to a server of his own.
 */
export function leadsElsewhere<G extends SecretGroup>(
  group: G,
  before: WorkspaceSettings,
  value: SettingValues[G],
): boolean {
  if (!before.secrets.has(secretKey(group))) return false;
  const present: SettingValues[G] = before.values[group];
  return addresses[group].some((member) => present[member] !== value[member]);
}

/** @param sent the secret as the body holds it: undefined and the mask stand for the one that is set. */
export function secretFaults<G extends SecretGroup>(
  group: G,
  before: WorkspaceSettings,
  value: SettingValues[G],
  sent: unknown,
): FieldError[] {
  if ((sent !== undefined && sent !== MASK) || !leadsElsewhere(group, before, value)) return [];
  const members = addresses[group].join(', ');
  return [
    {
      field: secretMembers[group],
      code: 'secret_needed',
      message: `is needed again, or null to take it away, when one of ${members} changes`,
    },
  ];
}

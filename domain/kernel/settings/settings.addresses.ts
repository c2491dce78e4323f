import type { FieldError } from '../../../platform/errors.ts';
import {
  MASK,
  type SecretGroup,
  type SettingValues,
  secretKey,
  secretMembers,
  type WorkspaceSettings,
} from './settings.read.ts';
import { settingTable } from './settings.table.ts';

/** The members that determine where the secret of a group is sent. */
const destinations: { [G in SecretGroup]: readonly (keyof SettingValues[G])[] } = {
  email: settingTable.email.destination,
  sso: settingTable.sso.destination,
  ai: settingTable.ai.destination,
};

/**
 * Whether the new value would send the stored secret to another server. Users who may change settings must not obtain a
 * secret by having it sent to their own server.
 */
export function changesSecretTarget<G extends SecretGroup>(
  group: G,
  before: WorkspaceSettings,
  value: SettingValues[G],
): boolean {
  if (!before.secrets.has(secretKey(group))) return false;
  const present: SettingValues[G] = before.values[group];
  return destinations[group].some((member) => present[member] !== value[member]);
}

/** @param sent the secret in the request: undefined and the mask represent the stored one. */
export function secretErrors<G extends SecretGroup>(
  group: G,
  before: WorkspaceSettings,
  value: SettingValues[G],
  sent: unknown,
): FieldError[] {
  if ((sent !== undefined && sent !== MASK) || !changesSecretTarget(group, before, value)) return [];
  const members = destinations[group].join(', ');
  const message = `is needed again, or null to take it away, when one of ${members} changes`;
  return [{ field: secretMembers[group], code: 'secret_needed', message }];
}

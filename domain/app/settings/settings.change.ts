import type { SecretBox } from '../../../platform/crypto.ts';
import { LOCK_NOT_AVAILABLE, sqlState } from '../../../platform/database.ts';
import { invalidFields } from '../../../platform/errors.ts';
import { metamodelBusy } from '../../inventory/metamodel/changes/changes.run.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { checkIfMatch } from '../../kernel/etag.ts';
import type { AppPermission } from '../../kernel/permissions/permissions.data.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { secretErrors } from '../../kernel/settings/settings.addresses.ts';
import {
  type PlainSetting,
  type SecretGroup,
  type SettingGroup,
  type SettingKey,
  type SettingValues,
  settingDefaults,
} from '../../kernel/settings/settings.defaults.ts';
import type { SettingDefinition } from '../../kernel/settings/settings.definition.ts';
import { MASK, secretKey, secretMembers } from '../../kernel/settings/settings.secrets.ts';
import {
  loadSettings,
  SETTINGS_TOPIC,
  type WorkspaceSettings,
} from '../../kernel/settings/settings.state.ts';
import { settingTable } from '../../kernel/settings/settings.table.ts';
import { emailConfigured, hasSecret, isPlain, settingView } from '../../kernel/settings/settings.views.ts';
import { showProcessTypes } from './settings.bpm.ts';
import { type AddressGuard, outboundErrors } from './settings.outbound.ts';
import { requireReach } from './settings.reach.ts';
import { settingErrors } from './settings.rules.ts';
import { lockSettings, writeSetting } from './settings.write.ts';

/** The permission to change a setting. */
export function settingPermission(key: SettingKey): AppPermission {
  const definition: SettingDefinition = settingTable[key];
  return (definition.kind !== 'image' && definition.permission) || 'admin.settings';
}

/**
 * Changes one setting, or the given members of a group; null restores a default. The secret of a group is encrypted:
 * its mask leaves it unchanged, an empty text or null deletes it, and it is required again if the server that it is
 * sent to changes.
 * @param guard refuses addresses that this service would not connect to.
 * @returns the setting in its representation.
 * @throws EstateError `forbidden`, also if the change grants rights that the caller does not have,
 * `precondition_failed`, `validation_failed`, `metamodel_busy`.
 */
export async function changeSetting(
  ctx: Ctx,
  secrets: SecretBox,
  key: PlainSetting | SettingGroup,
  input: Record<string, unknown>,
  guard?: AddressGuard,
): Promise<Record<string, unknown>> {
  requirePermission(ctx.caller, settingPermission(key));
  const change = async (work: Work) => {
    const before = await lockSettings(work.sql);
    if (ctx.ifMatch) checkIfMatch(ctx, JSON.stringify(settingView(key, before)));
    const value = changedValue(key, before, input);
    const faults = settingErrors(key, value, { metamodel: work.metamodel, roles: await roleKeys(work) });
    if (hasSecret(key)) {
      const sent = input[secretMembers[key]];
      faults.push(...secretErrors(key, before, value as SettingValues[typeof key], sent));
    }
    if (key === 'registration_enabled' && value === true && !emailConfigured(before)) {
      faults.push({
        field: settingTable[key].member,
        code: 'mail_needed',
        message: 'needs a mail server, with which addresses are confirmed',
      });
    }
    if (faults.length > 0) throw invalidFields(faults);
    await writeSetting(work, ctx, before, key, value);
    // After the check of rights: only users who may change the address can learn what OUTBOUND_ALLOW allows.
    const refused = guard ? outboundErrors(guard, key, before.values, value) : [];
    if (refused.length > 0) throw invalidFields(refused);
    if (hasSecret(key)) await writeSecret(work, ctx, secrets, before, key, input[secretMembers[key]]);
    if (key === 'bpm_enabled' && value !== before.values.bpm_enabled) {
      await showProcessTypes(work, ctx, value as boolean);
    }
    return settingView(key, await loadSettings(work.sql));
  };
  try {
    return await command(ctx, change, { changesMetamodel: key === 'bpm_enabled' });
  } catch (error) {
    throw key === 'bpm_enabled' && sqlState(error) === LOCK_NOT_AVAILABLE ? metamodelBusy(error) : error;
  }
}

function changedValue(
  key: PlainSetting | SettingGroup,
  { values }: WorkspaceSettings,
  input: Record<string, unknown>,
): SettingValues[PlainSetting | SettingGroup] {
  if (isPlain(key)) {
    const sent = input[settingTable[key].member];
    if (sent === undefined) return values[key];
    return (sent === null ? settingDefaults[key] : sent) as SettingValues[PlainSetting];
  }
  const defaults = settingDefaults[key] as Record<string, unknown>;
  const members = Object.entries(input)
    .filter(([member, sent]) => Object.hasOwn(defaults, member) && sent !== undefined)
    .map(([member, sent]) => [member, sent === null ? defaults[member] : sent]);
  return { ...values[key], ...Object.fromEntries(members) };
}

async function roleKeys({ sql }: Work): Promise<Set<string>> {
  return new Set(await sql('roles').where({ is_archived: false }).pluck('key'));
}

/** Encrypts, retains or deletes the secret of a group. Its event only contains whether one is set. */
async function writeSecret(
  { sql, emit, raise }: Work,
  ctx: Ctx,
  secrets: SecretBox,
  before: WorkspaceSettings,
  group: SecretGroup,
  sent: unknown,
): Promise<void> {
  if (sent === undefined || sent === MASK) return;
  const key = secretKey(group);
  const wasSet = before.secrets.has(key);
  const isSet = sent !== null && sent !== '';
  if (!isSet && !wasSet) return;
  await requireReach(ctx, sql, group, [secretMembers[group]]);
  if (isSet) {
    const value = JSON.stringify(secrets.seal(sent as string, key));
    const row = { value, updated_by: ctx.caller.userId };
    await sql('settings')
      .insert({ key, ...row })
      .onConflict('key')
      .merge({ ...row, updated_at: sql.fn.now() });
  } else {
    await sql('settings').where({ key }).delete();
  }
  emit({
    event_type: 'settings.secret_changed',
    data: {
      id: key,
      setting: group,
      member: secretMembers[group],
      changes: { is_set: { old: wasSet, new: isSet } },
    },
  });
  raise(SETTINGS_TOPIC);
}

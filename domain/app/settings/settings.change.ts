import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import { fileTypeFromBuffer } from 'file-type';
import type { BlobStore } from '../../../platform/blobs.ts';
import type { SecretBox } from '../../../platform/crypto.ts';
import {
  LOCK_NOT_AVAILABLE,
  query,
  type Sql,
  sqlState,
  type Transaction,
} from '../../../platform/database.ts';
import { EstateError, invalidField, invalidFields } from '../../../platform/errors.ts';
import { followGroupSettings } from '../../access/scim/scim.group-roles.ts';
import { expireFiles } from '../../collaboration/files/files.attach.ts';
import { checkSvgInThread } from '../../collaboration/files/svg.check.ts';
import { annualCostSettings, costsRefreshJob } from '../../inventory/costs/costs.job.ts';
import { metamodelBusy } from '../../inventory/metamodel/changes/changes.run.ts';
import { command, commandWith } from '../../kernel/command.ts';
import { type Ctx, checkIfMatch, type Work } from '../../kernel/context.ts';
import { differingMembers, rowChanges, type StoredRow } from '../../kernel/events/row-changes.ts';
import { recordFile, storeContent } from '../../kernel/files/files.store.ts';
import { enqueueJob } from '../../kernel/jobs/jobs.enqueue.ts';
import { permissionsOfRole, requireGrantable } from '../../kernel/permissions/grants.ts';
import type { AppPermission } from '../../kernel/permissions/permissions.data.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { secretErrors } from '../../kernel/settings/settings.addresses.ts';
import type { Reach, SettingDefinition, StoredImage } from '../../kernel/settings/settings.definition.ts';
import {
  emailConfigured,
  hasSecret,
  isPlain,
  loadSettings,
  MASK,
  type PlainSetting,
  SETTINGS_TOPIC,
  type SecretGroup,
  type SettingGroup,
  type SettingKey,
  type SettingValues,
  secretKey,
  secretMembers,
  settingDefaults,
  settingView,
  storedKey,
  type WorkspaceSettings,
} from '../../kernel/settings/settings.read.ts';
import { settingTable } from '../../kernel/settings/settings.table.ts';
import { showProcessTypes } from './settings.bpm.ts';
import { type AddressGuard, outboundErrors } from './settings.outbound.ts';
import { settingErrors } from './settings.rules.ts';

// Without it, two concurrent changes of a group would each restore the members that the other changed.
const SETTINGS_LOCK = 7203014;

/** Reads and locks all settings until the transaction ends. */
export async function lockSettings(sql: Sql): Promise<WorkspaceSettings> {
  await query(sql).run`select pg_advisory_xact_lock(${SETTINGS_LOCK})`;
  return await loadSettings(sql);
}

/** A value in its event: groups by member, others as `value`. */
function asRow(value: SettingValues[SettingKey]): StoredRow {
  const isGroup =
    typeof value === 'object' && value !== null && !Array.isArray(value) && !('file_id' in value);
  return isGroup ? (value as unknown as StoredRow) : { value };
}

/**
 * Writes one setting with its event, unless it is unchanged. Changed group roles are applied to users at once, annual
 * costs are updated by a job.
 * @param settings the result of {@link lockSettings}.
 * @param unset deletes the row, so that the default applies again.
 * @throws EstateError `forbidden` if the change grants rights that the caller does not have.
 */
export async function writeSetting<K extends SettingKey>(
  work: Work,
  ctx: Ctx,
  settings: WorkspaceSettings,
  key: K,
  value: SettingValues[K],
  unset = false,
): Promise<void> {
  const before = asRow(settings.values[key]);
  const after = asRow(value);
  const changes = differingMembers(before, after);
  if (Object.keys(changes).length === 0) return;
  const role = key === 'registration_policy' ? (value as { role: string }).role : undefined;
  await requireReach(ctx, work.sql, key, Object.keys(changes), role);
  await storeValue(work.sql, ctx, storedKey(key), unset ? undefined : value);
  const first = !settings.stored.has(key);
  work.emit({ event_type: 'settings.updated', data: { id: key, first, changes: rowChanges(before, after) } });
  work.raise(SETTINGS_TOPIC);
  if (key === 'sso' && 'group_roles' in changes) await followGroupSettings(work, ctx);
  if (annualCostSettings.has(key)) await enqueueJob(ctx, work, costsRefreshJob, {});
}

/** Inserts or replaces a row of the table; undefined deletes it. */
async function storeValue(sql: Sql, ctx: Ctx, key: string, value: unknown): Promise<void> {
  if (value === undefined) {
    await sql('settings').where({ key }).delete();
    return;
  }
  const row = { value: JSON.stringify(value), updated_by: ctx.caller.userId };
  await sql('settings')
    .insert({ key, ...row })
    .onConflict('key')
    .merge({ ...row, updated_at: sql.fn.now() });
}

/** The reach of a setting; of a group member by member, its secret included. */
export function settingReach(key: SettingKey): Reach | Record<string, Reach> {
  const definition = settingTable[key];
  if (definition.kind === 'image') return 'nothing';
  if (definition.kind === 'plain') return definition.reach;
  const members = Object.entries(definition.members).map(([name, { reach }]) => [name, reach] as const);
  // Users who can change where a secret is sent, or which one, can gain the rights of every account.
  if ('secret' in definition) members.push([definition.secret, 'every account']);
  return Object.fromEntries(members);
}

/** The permissions of a reach, in words; undefined for none. */
function neededFor(reach: Reach): string | undefined {
  if (reach === 'nothing') return undefined;
  if (reach === 'every account') return 'every permission';
  return reach === 'registration role'
    ? 'the permissions of the role of people who register'
    : reach.join(' and ');
}

const isReach = (reach: Reach | Record<string, Reach>): reach is Reach =>
  typeof reach === 'string' || Array.isArray(reach);

/**
 * The permissions that a change of a setting needs besides its own, for the API description: each with the members that
 * need it, unless all do. Undefined if none are needed.
 */
export function describeReach(key: SettingKey): string | undefined {
  const reach = settingReach(key);
  if (isReach(reach)) return neededFor(reach);
  const members = Object.entries(reach);
  const byNeed = Map.groupBy(members, ([, of]) => neededFor(of));
  const notes = [...byNeed].flatMap(([need, of]) => {
    if (need === undefined) return [];
    const names = of.map(([name]) => `\`${name}\``);
    if (of.length === members.length) return [need];
    return [`${need} when ${names.length === 1 ? names[0] : `one of ${names.join(', ')}`} is changed`];
  });
  return notes.length > 0 ? notes.join('; ') : undefined;
}

/**
 * Refuses a change of a setting that grants rights which the caller does not have.
 * @param members the changed members of a group, its secret included; ignored for a plain setting.
 * @param role the role of self-registered users after the change; the current one by default.
 * @throws EstateError `forbidden` naming the first missing permission.
 */
export async function requireReach(
  ctx: Ctx,
  sql: Sql,
  key: SettingKey,
  members: readonly string[],
  role?: string,
): Promise<void> {
  const all = settingReach(key);
  const reaches = members.map((member) => (isReach(all) ? all : (all[member] ?? 'every account')));
  for (const reach of new Set(reaches)) {
    if (reach === 'nothing') continue;
    if (reach === 'every account') requireGrantable(ctx.caller, { '*': true });
    else if (reach === 'registration role') {
      const { values } = await loadSettings(sql);
      requireGrantable(ctx.caller, await permissionsOfRole(sql, role ?? values.registration_policy.role));
    } else requireGrantable(ctx.caller, Object.fromEntries(reach.map((permission) => [permission, true])));
  }
}

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
 * @param force breaks consumers of card types that the change hides.
 * @returns the setting in its representation.
 * @throws EstateError `forbidden`, also if the change grants rights that the caller does not have,
 * `precondition_failed`, `validation_failed`, `in_use`, `metamodel_busy`.
 */
export async function changeSetting(
  ctx: Ctx,
  secrets: SecretBox,
  key: PlainSetting | SettingGroup,
  input: Record<string, unknown>,
  guard?: AddressGuard,
  force = false,
): Promise<Record<string, unknown>> {
  requirePermission(ctx.caller, settingPermission(key));
  const change = async (work: Work) => {
    const before = await lockSettings(work.sql);
    if (ctx.ifMatch) checkIfMatch(ctx, JSON.stringify(settingView(key, before)));
    const value = changedValue(key, before, input);
    const errors = settingErrors(key, value, { metamodel: work.metamodel, roles: await roleKeys(work) });
    if (hasSecret(key)) {
      const sent = input[secretMembers[key]];
      errors.push(...secretErrors(key, before, value as SettingValues[typeof key], sent));
    }
    if (key === 'registration_enabled' && value === true && !emailConfigured(before)) {
      const message = 'needs a mail server, with which addresses are confirmed';
      errors.push({ field: settingTable[key].member, code: 'mail_needed', message });
    }
    if (errors.length > 0) throw invalidFields(errors);
    await writeSetting(work, ctx, before, key, value);
    // After the check of rights: only users who may change the address can learn what OUTBOUND_ALLOW allows.
    const refused = guard ? outboundErrors(guard, key, before.values, value) : [];
    if (refused.length > 0) throw invalidFields(refused);
    if (hasSecret(key)) await writeSecret(work, ctx, secrets, before, key, input[secretMembers[key]]);
    if (key === 'bpm_enabled' && value !== before.values.bpm_enabled) {
      await showProcessTypes(work, ctx, value as boolean, force);
    }
    return settingView(key, await loadSettings(work.sql));
  };
  try {
    return await commandWith(ctx, { changesMetamodel: key === 'bpm_enabled' }, change);
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
  await storeValue(sql, ctx, key, isSet ? secrets.seal(sent as string, key) : undefined);
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

/** The images of a workspace. */
export type ImageSetting = 'logo' | 'favicon';

/** Maximum size of an image in bytes: 1 MiB. */
export const MAX_IMAGE = 1024 * 1024;

/** The media types of images, with their file extensions. */
export const imageTypes = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/svg+xml': 'svg',
  'image/x-icon': 'ico',
  'image/webp': 'webp',
} as const;

type ImageType = keyof typeof imageTypes;

/**
 * Sets an image of the workspace; the previous one is retained like a deleted file.
 * @throws EstateError `forbidden`, `validation_failed` if it is not an image that is safe to display.
 */
export async function setImage(
  ctx: Ctx,
  blobs: BlobStore,
  key: ImageSetting,
  content: Buffer,
): Promise<StoredImage> {
  requirePermission(ctx.caller, 'admin.settings');
  const media_type = await identifyImage(content);
  const stored = await storeContent(blobs, Readable.from([content]));
  const image = { file_id: stored.id, media_type, size: stored.size, sha256: stored.sha256 };
  try {
    const now = await command(ctx, async (work) => {
      const settings = await lockSettings(work.sql);
      const before = settings.values[key];
      if (before?.sha256 === image.sha256 && before.media_type === media_type) return before;
      await recordFile(work.sql, stored, {
        name: `${key}.${imageTypes[media_type]}`,
        mediaType: media_type,
        ownerId: null,
        withCosts: false,
        needs: [],
        expiresAt: null,
      });
      await exchangeImages(work.sql, before, image);
      await writeSetting(work, ctx, settings, key, image);
      return image;
    });
    if (now !== image) await blobs.remove(stored.id);
    return now;
  } catch (error) {
    // After any other error the image may have been set nevertheless.
    if (error instanceof EstateError) await blobs.remove(stored.id);
    throw error;
  }
}

/** Restores the default image. @throws EstateError `forbidden`. */
export async function clearImage(ctx: Ctx, key: ImageSetting): Promise<void> {
  requirePermission(ctx.caller, 'admin.settings');
  await command(ctx, async (work) => {
    const settings = await lockSettings(work.sql);
    await exchangeImages(work.sql, settings.values[key], null);
    await writeSetting(work, ctx, settings, key, null, true);
  });
}

/** Makes the file of one image expire and that of another permanent. @returns whether the other's content exists. */
export async function exchangeImages(
  sql: Transaction,
  before: StoredImage | null,
  after: StoredImage | null,
): Promise<boolean> {
  if (before?.file_id === after?.file_id) return true;
  const kept = after ? await sql('files').where({ id: after.file_id }).update({ expires_at: null }) : 1;
  if (kept > 0 && before) await expireFiles(sql, [before.file_id]);
  return kept > 0;
}

/** The type of an image, from its bytes. @throws EstateError `validation_failed` if it is not safe to display. */
export async function identifyImage(content: Buffer): Promise<ImageType> {
  const found = await fileTypeFromBuffer(content);
  if (found && found.mime !== 'image/svg+xml' && Object.hasOwn(imageTypes, found.mime)) {
    return found.mime as ImageType;
  }
  // SVG is text, which the library does not detect reliably.
  if (found && !/xml$/.test(found.mime)) throw refused(`it is ${found.mime}`);
  if (content.length === 0 || !isUtf8(content)) throw refused('it is none of them');
  try {
    await checkSvgInThread(content.toString('utf8'));
  } catch (error) {
    if (error instanceof EstateError) throw error;
    throw refused((error as Error).message.replace(/\s+/g, ' ').slice(0, 200));
  }
  return 'image/svg+xml';
}

const refused = (why: string): EstateError =>
  invalidField('file', 'unsupported_image', `must be a PNG, JPEG, SVG, ICO or WebP picture: ${why}`);

import { query, unlessTaken } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import { isUuid } from '../../../platform/uuid.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { differingMembers, rowChanges } from '../../kernel/events/row-changes.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { deleteRows, insertRow, lockRow, updateRow } from '../../kernel/resources/rows.ts';
import { lockAdministrators } from '../administrators.ts';
import { scimError } from './scim.errors.ts';
import { followGroups } from './scim.group-roles.ts';
import { ScimGroup, type ScimGroupMemberRow, type ScimGroupRow } from './scim.model.ts';
import { attributesOf, idsOf, member, type PatchOperation, patchOperations } from './scim.patch.ts';
import { checkVersion, GROUP_SCHEMA, groups, oneResource } from './scim.resources.ts';
import { textOf } from './scim.users.input.ts';

/** The values of a group in a request; omitted ones are undefined. */
interface ScimGroupValues {
  displayName?: string;
  externalId?: string | null;
  members: MemberChange;
}

/** Changes of the members: first all are removed if `replace`, then some are added and some removed. */
interface MemberChange {
  replace: boolean;
  add: Set<string>;
  remove: Set<string>;
  /** In each list one user must be a member before the change. */
  targets: string[][];
}

const MAX_MEMBERS = 100_000;

/**
 * The values of a complete resource in POST and PUT requests: an omitted `members` is empty.
 * @throws EstateError `scim_invalid_value`, `scim_invalid_syntax`.
 */
function groupOfResource(body: unknown): ScimGroupValues {
  const values = nothing();
  values.externalId = null;
  values.members.replace = true;
  for (const { path, value } of attributesOf(body, GROUP_SCHEMA)) {
    if (path.attribute === 'id' || path.attribute === 'meta' || value === null) continue;
    apply(values, { op: 'replace', path, value }, false);
  }
  if (values.displayName === undefined) throw scimError('invalidValue', 'displayName is required.');
  return values;
}

/**
 * The changes of a PATCH, in the order of its operations.
 * @throws EstateError `scim_invalid_value`, `scim_invalid_syntax`, `scim_invalid_path`, `scim_invalid_filter`,
 * `scim_mutability`, `scim_no_target`.
 */
function groupOfPatch(body: unknown): ScimGroupValues {
  const values = nothing();
  for (const operation of patchOperations(body, GROUP_SCHEMA)) apply(values, operation, true);
  return values;
}

const nothing = (): ScimGroupValues => ({
  members: { replace: false, add: new Set(), remove: new Set(), targets: [] },
});

function apply(values: ScimGroupValues, operation: PatchOperation, strict: boolean): void {
  const { op, path } = operation;
  const value = op === 'remove' ? null : operation.value;
  switch (path.attribute) {
    case 'displayname': {
      const text = textOf(value, 'displayName', 254);
      if (text === null) throw scimError('invalidValue', 'displayName cannot be empty.');
      values.displayName = text;
      return;
    }
    case 'externalid':
      values.externalId = textOf(value, 'externalId', 254);
      return;
    case 'members':
      applyMembers(values.members, operation);
      return;
    case 'id':
    case 'meta':
      // Microsoft Entra ID also sends the id when it renames a group.
      if (!strict || path.attribute === 'id') return;
      throw scimError('mutability', `${path.attribute} cannot be changed.`);
    case 'schemas':
      return;
    default:
      if (strict && !path.attribute.startsWith('urn:')) {
        throw scimError('invalidPath', `There is no attribute ${path.attribute}.`);
      }
  }
}

function applyMembers(change: MemberChange, { op, path, value }: PatchOperation): void {
  if (op === 'remove') {
    // Microsoft Entra ID names removed members in the value, others in the path.
    const listed = value === undefined || value === null ? undefined : memberIds(value);
    const ids = path.filter ? idsOf(path.filter).map((id) => id.toLowerCase()) : listed;
    if (ids === undefined) {
      change.replace = true;
      change.add.clear();
      return;
    }
    for (const id of ids) {
      change.add.delete(id);
      // An id that is not a UUID cannot be a member.
      if (isUuid(id)) change.remove.add(id);
    }
    return;
  }
  if (path.filter && op === 'replace' && path.member === undefined) {
    replaceSelected(change, idsOf(path.filter), memberIds(value));
    return;
  }
  if (path.filter) throw scimError('invalidPath', 'Members are added as a list, and replaced as a whole.');
  const ids = memberIds(value);
  if (op === 'replace') {
    change.replace = true;
    change.add.clear();
    change.remove.clear();
  }
  for (const id of ids) {
    change.add.add(id);
    change.remove.delete(id);
  }
}

/** Replaces the members that a filter selects (RFC 7644, 3.5.2.3); there must be at least one. */
function replaceSelected(change: MemberChange, selected: string[], ids: string[]): void {
  const meant = selected.map((id) => id.toLowerCase()).filter(isUuid);
  if (!meant.some((id) => change.add.has(id))) {
    const left = change.replace ? [] : meant.filter((id) => !change.remove.has(id));
    if (left.length === 0) throw noMember();
    change.targets.push(left);
  }
  for (const id of meant) {
    change.add.delete(id);
    change.remove.add(id);
  }
  for (const id of ids) {
    change.add.add(id);
    change.remove.delete(id);
  }
}

/** The error for a replace whose filter selects no member. */
const noMember = () => scimError('noTarget', 'No member of the group fits the path.');

function memberIds(value: unknown): string[] {
  const list = Array.isArray(value) ? value : value === null ? [] : [value];
  if (list.length > MAX_MEMBERS) throw scimError('invalidValue', `At most ${MAX_MEMBERS} members at a time.`);
  return list.map((item) => {
    const id = typeof item === 'string' ? item : member(item, 'value');
    const type = member(item, 'type');
    if (typeof type === 'string' && type.toLowerCase() !== 'user') {
      throw scimError('invalidValue', 'Groups hold users alone.');
    }
    if (typeof id !== 'string' || !isUuid(id)) {
      throw scimError('invalidValue', 'A member is named by the id of a user in value.');
    }
    return id.toLowerCase();
  });
}

/**
 * Creates a group; its members get the role that the settings map it to.
 * @returns its id.
 * @throws EstateError `forbidden`, also for a role with more permissions than the caller has; `scim_invalid_value`,
 * `scim_uniqueness`.
 */
export async function createScimGroup(ctx: Ctx, body: unknown): Promise<string> {
  requirePermission(ctx.caller, 'admin.users');
  const values = groupOfResource(body);
  return await command(ctx, async (work) => {
    await lockAdministrators(work.sql);
    const columns = { display_name: values.displayName, external_id: values.externalId ?? null };
    const row = await unlessTaken(insertRow(work.sql, ScimGroup, columns), nameTaken);
    emitGroup(work, 'scim_group.created', null, row);
    const changed = await changeMembers(work, row, values.members);
    await followGroups(work, ctx, changed);
    return row.id;
  });
}

/**
 * Replaces a group and its members.
 * @throws EstateError as `createScimGroup`, and `not_found`, `precondition_failed`.
 */
export async function replaceScimGroup(ctx: Ctx, id: string, body: unknown): Promise<void> {
  await changeGroup(ctx, id, groupOfResource(body));
}

/**
 * Changes a group by the operations of a PATCH.
 * @throws EstateError as `replaceScimGroup`, and `scim_invalid_path`, `scim_invalid_syntax`, `scim_mutability`,
 * `scim_no_target`.
 */
export async function patchScimGroup(ctx: Ctx, id: string, body: unknown): Promise<void> {
  await changeGroup(ctx, id, groupOfPatch(body));
}

async function changeGroup(ctx: Ctx, id: string, values: ScimGroupValues): Promise<void> {
  requirePermission(ctx.caller, 'admin.users');
  await command(ctx, async (work) => {
    const { sql } = work;
    await lockAdministrators(sql);
    const before = await lockedGroup(work, ctx, id);
    const groupId = before.id;
    const wanted = { display_name: values.displayName, external_id: values.externalId };
    const changes = differingMembers(before, wanted);
    if (Object.keys(changes).length > 0) {
      const after = await unlessTaken(updateRow(sql, ScimGroup, { id: groupId }, changes), nameTaken);
      emitGroup(work, 'scim_group.updated', before, after);
    }
    const renamed = Object.keys(changes).length > 0 ? await memberIdsOf(work, groupId) : [];
    const changed = await changeMembers(work, { ...before, ...changes }, values.members);
    await followGroups(work, ctx, [...new Set([...renamed, ...changed])]);
  });
}

/**
 * Deletes a group; its members get the role of their other groups, else the default role.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`.
 */
export async function deleteScimGroup(ctx: Ctx, id: string): Promise<void> {
  requirePermission(ctx.caller, 'admin.users');
  await command(ctx, async (work) => {
    await lockAdministrators(work.sql);
    const before = await lockedGroup(work, ctx, id);
    const everybody = { replace: true, add: new Set<string>(), remove: new Set<string>(), targets: [] };
    const left = await changeMembers(work, before, everybody);
    await deleteRows(work.sql, ScimGroup, (query) => query.where({ id: before.id }));
    emitGroup(work, 'scim_group.deleted', before, null);
    await followGroups(work, ctx, left);
  });
}

async function lockedGroup(work: Work, ctx: Ctx, id: string): Promise<ScimGroupRow> {
  // Also refuses ids that are not valid.
  const { id: known } = await oneResource(work.sql, groups, id, true);
  const row = await lockRow(work.sql, ScimGroup, { id: known });
  if (!row) throw notFound('group', id);
  if (ctx.ifMatch) checkVersion(ctx, await oneResource(work.sql, groups, known, true));
  return row;
}

function emitGroup(
  work: Work,
  event_type: 'scim_group.created' | 'scim_group.updated' | 'scim_group.deleted',
  before: ScimGroupRow | null,
  after: ScimGroupRow | null,
): void {
  const { id, display_name: name } = (after ?? before)!;
  work.emit({ event_type, data: { id, name, changes: rowChanges(before, after) } });
}

async function memberIdsOf({ sql }: Work, groupId: string): Promise<string[]> {
  return await sql('scim_group_members').where({ group_id: groupId }).orderBy('user_id').pluck('user_id');
}

/** Adds and removes members, with an event for each. @returns the users whose membership has changed. */
async function changeMembers(
  work: Work,
  group: ScimGroupRow,
  { replace, add, remove, targets }: MemberChange,
): Promise<string[]> {
  const { sql } = work;
  const toAdd = [...add].sort();
  if (!replace && toAdd.length === 0 && remove.size === 0) return [];
  const people = await query(sql).rows`select id from users
    where id = any(${toAdd}::uuid[]) and kind = 'person' and erased_at is null
     order by id for share`;
  if (people.length < toAdd.length) {
    const known = new Set(people.map(({ id }: { id: string }) => id));
    throw scimError('invalidValue', `There is no user ${toAdd.find((id) => !known.has(id))}.`);
  }
  if (targets.length > 0) {
    const held = new Set(await memberIdsOf(work, group.id));
    if (!targets.every((ids) => ids.some((id) => held.has(id)))) throw noMember();
  }
  const removed = await query(sql).column<ScimGroupMemberRow>`delete from scim_group_members m
    where group_id = ${group.id}::uuid
       and (case when ${replace} then user_id <> all(${toAdd}::uuid[]) else user_id = any(${[...remove]}::uuid[]) end)
     returning to_jsonb(m) as row`;
  const added = await query(sql).column<ScimGroupMemberRow>`insert into scim_group_members as m (group_id,
    user_id) select ${group.id}::uuid, unnest(${toAdd}::uuid[])
     on conflict (group_id, user_id) do nothing returning to_jsonb(m) as row`;
  const emitMember = (before: ScimGroupMemberRow | null, after: ScimGroupMemberRow | null) => {
    const event_type = after ? 'scim_group_member.created' : 'scim_group_member.deleted';
    const changes = rowChanges(before, after);
    const { id, group_id, user_id } = (after ?? before)!;
    work.emit({ event_type, data: { id, group_id, name: group.display_name, user_id, changes } });
  };
  for (const row of removed) emitMember(row, null);
  for (const row of added) emitMember(null, row);
  if (removed.length + added.length > 0) {
    await query(sql).run`update scim_groups set updated_at = clock_timestamp() where id = ${group.id}::uuid`;
  }
  return [...removed, ...added].map(({ user_id }) => user_id);
}

const nameTaken = () => scimError('uniqueness', 'There is a group with this displayName.');

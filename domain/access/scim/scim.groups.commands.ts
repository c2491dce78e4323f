import { query, sqlState, violatedConstraint } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { differingMembers, rowChanges } from '../../kernel/events/row-changes.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { deleteRows, insertRow, lockRow, updateRow } from '../../kernel/resources/rows.ts';
import { lockAdministrators } from '../administrators.ts';
import { scimError } from './scim.errors.ts';
import { followGroups } from './scim.group-roles.ts';
import {
  groupOfPatch,
  groupOfResource,
  type MemberChange,
  noMember,
  type ScimGroupValues,
} from './scim.groups.input.ts';
import { ScimGroup, type ScimGroupMemberRow, type ScimGroupRow } from './scim.model.ts';
import { checkVersion, oneResource } from './scim.queries.ts';
import { groups } from './scim.resources.ts';

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
    const row = await unlessTaken(
      insertRow(work.sql, ScimGroup, {
        display_name: values.displayName,
        external_id: values.externalId ?? null,
      }),
    );
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
    const changes = differingMembers(before, {
      display_name: values.displayName,
      external_id: values.externalId,
    });
    if (Object.keys(changes).length > 0) {
      const after = await unlessTaken(updateRow(sql, ScimGroup, { id: groupId }, changes));
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
  const removed = await query(sql).rows<{ row: ScimGroupMemberRow }>`delete from scim_group_members m
    where group_id = ${group.id}::uuid
       and (case when ${replace} then user_id <> all(${toAdd}::uuid[]) else user_id = any(${[...remove]}::uuid[]) end)
     returning to_jsonb(m) as row`;
  const added = await query(sql).rows<{
    row: ScimGroupMemberRow;
  }>`insert into scim_group_members as m (group_id, user_id) select ${group.id}::uuid, unnest(${toAdd}::uuid[])
     on conflict (group_id, user_id) do nothing returning to_jsonb(m) as row`;
  const emitMember = (before: ScimGroupMemberRow | null, after: ScimGroupMemberRow | null) => {
    const event_type = after ? 'scim_group_member.created' : 'scim_group_member.deleted';
    const changes = rowChanges(before, after);
    const { id, group_id, user_id } = (after ?? before)!;
    work.emit({ event_type, data: { id, group_id, name: group.display_name, user_id, changes } });
  };
  for (const { row } of removed) emitMember(row, null);
  for (const { row } of added) emitMember(null, row);
  if (removed.length + added.length > 0) {
    await query(sql).run`update scim_groups set updated_at = clock_timestamp() where id = ${group.id}::uuid`;
  }
  return [...removed, ...added].map(({ row }) => row.user_id);
}

async function unlessTaken(write: Promise<ScimGroupRow>): Promise<ScimGroupRow> {
  try {
    return await write;
  } catch (error) {
    if (sqlState(error) !== '23505' || violatedConstraint(error) !== 'scim_groups_display_name') throw error;
    throw scimError('uniqueness', 'There is a group with this displayName.');
  }
}

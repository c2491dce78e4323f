import { isUuid } from '../../../platform/uuid.ts';
import { scimError } from './scim.errors.ts';
import { attributesOf, idsOf, member, type PatchOperation, patchOperations } from './scim.patch.ts';
import { GROUP_SCHEMA } from './scim.resources.ts';
import { textOf } from './scim.users.input.ts';

/** The values of a group in a request; omitted ones are undefined. */
export interface ScimGroupValues {
  displayName?: string;
  externalId?: string | null;
  members: MemberChange;
}

/** Changes of the members: first all are removed if `replace`, then some are added and some removed. */
export interface MemberChange {
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
export function groupOfResource(body: unknown): ScimGroupValues {
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
export function groupOfPatch(body: unknown): ScimGroupValues {
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
export const noMember = () => scimError('noTarget', 'No member of the group fits the path.');

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

import Type from 'typebox';
import { type RowOf, rowModel } from '../../kernel/resources/rows.ts';
import { Nullable, Timestamp, Uuid } from '../../kernel/shapes.ts';

/** A group of the identity provider. */
export class ScimGroup extends rowModel('scim_groups', {
  id: Uuid,
  display_name: Type.String(),
  external_id: Nullable(Type.String()),
  created_at: Timestamp,
  updated_at: Timestamp,
}) {}
export type ScimGroupRow = RowOf<typeof ScimGroup>;

export class ScimGroupMember extends rowModel('scim_group_members', {
  id: Uuid,
  group_id: Uuid,
  user_id: Uuid,
  created_at: Timestamp,
}) {}
export type ScimGroupMemberRow = RowOf<typeof ScimGroupMember>;

import Type from 'typebox';
import { type RowOf, rowModel } from '../kernel/resources/rows.ts';
import { Nullable, Timestamp, Uuid } from '../kernel/shapes.ts';

/** A role with its permission map; `{"*": true}` grants every permission. */
export class Role extends rowModel('roles', {
  id: Uuid,
  key: Type.String({ pattern: '^[a-z][a-z0-9_]{2,49}$' }),
  label: Type.String({ minLength: 1, maxLength: 200 }),
  description: Nullable(Type.String({ maxLength: 2_000 })),
  color: Type.String({ pattern: '^#[0-9a-fA-F]{6}$' }),
  permissions: Type.Record(Type.String(), Type.Boolean()),
  is_system: Type.Boolean(),
  is_default: Type.Boolean(),
  is_archived: Type.Boolean(),
  sort_order: Type.Integer(),
  created_at: Timestamp,
  updated_at: Timestamp,
  archived_at: Nullable(Timestamp),
  archived_by: Nullable(Uuid),
}) {}
export type RoleRow = RowOf<typeof Role>;

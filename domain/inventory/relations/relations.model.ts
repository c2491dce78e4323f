import Type from 'typebox';
import { type RowOf, rowModel } from '../../kernel/resources/rows.ts';
import { Nullable, Timestamp, Uuid } from '../../kernel/shapes.ts';

export class Relation extends rowModel('relations', {
  id: Uuid,
  type: Type.String(),
  source_id: Uuid,
  target_id: Uuid,
  attributes: Type.Record(Type.String(), Type.Unknown(), {
    description: 'By attribute key of the relation type; cost attributes are left out without `costs.view`',
  }),
  description: Nullable(Type.String()),
  created_by: Nullable(Uuid),
  created_at: Timestamp,
  updated_at: Timestamp,
}) {}
export type RelationColumns = RowOf<typeof Relation>;

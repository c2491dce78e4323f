import Type from 'typebox';
import { TagGroup } from '../../kernel/metamodel/metamodel.model.ts';
import { type RowOf, rowModel } from '../../kernel/resources/rows.ts';
import { Color, Nullable, Uuid } from '../../kernel/shapes.ts';

export class Tag extends rowModel('tags', {
  id: Uuid,
  name: TagGroup.columns.name,
  description: TagGroup.columns.description,
  color: Nullable(Color),
  sort_order: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
  tag_group_id: Uuid,
}) {}
export type TagRow = RowOf<typeof Tag>;

/** A tag of a card. */
export class CardTag extends rowModel('card_tags', { card_id: Uuid, tag_id: Uuid }) {}

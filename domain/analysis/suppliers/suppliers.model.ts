import Type from 'typebox';
import { rowModel } from '../../kernel/resources/rows.ts';
import { Choice, Nullable, Timestamp, Uuid } from '../../kernel/shapes.ts';

const Confidence = (description: string) => Type.Number({ minimum: 0, maximum: 1, description });

/** A supplier, or a product of one. */
export class Supplier extends rowModel('suppliers', {
  id: Uuid,
  canonical_name: Type.String(),
  vendor_type: Choice(
    ['vendor', 'partner', 'internal', 'product'],
    'As the cards say; `product`: a product of a supplier, with all of its versions',
  ),
  parent_id: Nullable(Uuid),
  parent_reason: Nullable(Type.String()),
  group_name: Type.String({
    description: 'The top of the hierarchy, whether the inventory has a card of it or not',
  }),
  product_key: Nullable(Type.String()),
  confidence: Confidence('The lowest confidence of its names'),
  category: Nullable(Type.String({ examples: ['Data and analytics'] })),
  sub_category: Nullable(Type.String({ examples: ['Databases'] })),
  category_confidence: Nullable(Confidence('The share of all evidence that supports the category')),
  reasoning: Nullable(Type.String()),
  categorised_at: Nullable(Timestamp),
  placed_at: Nullable(Timestamp),
}) {}

export class SupplierName extends rowModel('supplier_names', {
  supplier_id: Uuid,
  name: Type.String(),
  name_key: Type.String(),
  confidence: Confidence('How likely it is that the name means this supplier'),
  reason: Type.String(),
}) {}

/** A card that is the supplier, or that it supplies. */
export class SupplierCard extends rowModel('supplier_cards', {
  supplier_id: Uuid,
  card_id: Uuid,
  role: Choice(['provider', 'supplied']),
  shared_by: Type.Integer({ minimum: 1 }),
}) {}

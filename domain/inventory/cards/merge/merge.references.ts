/** Columns that refer to cards and are merged in ways of their own, as `table.column`. */
export const ownWays: ReadonlySet<string> = new Set([
  'cards.parent_id',
  'relations.source_id',
  'relations.target_id',
  'card_tags.card_id',
]);

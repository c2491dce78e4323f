/** Columns that refer to cards and have their own merge code, as `table.column`. */
export const customReferences: ReadonlySet<string> = new Set([
  'cards.parent_id',
  'relations.source_id',
  'relations.target_id',
  'card_tags.card_id',
]);

import { visibleRelationAttributes } from '../../../domain/inventory/relations/relations.list.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import type { Fragment } from '../../../domain/kernel/lists/lists.types.ts';
import { embed, fragment } from '../../../platform/database.ts';
import { type CardSelection, selectedCards } from './extraction.cards.ts';
import type { RowSource } from './extraction.rows.ts';

/** Which relations an extraction contains: those with both ends among the cards. */
export interface RelationSelection {
  types: string[];
  cards: CardSelection;
  /** Only what may have changed, see {@link RowSource}. */
  changed?: Fragment;
}

const values: Record<string, string> = {
  id: 'r.id',
  type: 'r.type',
  source_id: 'r.source_id',
  source_external_id: 's.external_id',
  source_name: 's.name',
  source_type: 's.type',
  target_id: 'r.target_id',
  target_external_id: 't.external_id',
  target_name: 't.name',
  target_type: 't.type',
  description: 'r.description',
};

/** The relations of a selection, with their ends `s` and `t`. */
export function relationSource(ctx: Ctx, { types, cards, changed }: RelationSelection): RowSource {
  const selected = embed(selectedCards(ctx, cards));
  return {
    name: 'Relations',
    table: 'relations',
    row: 'r',
    joins: 'join cards s on s.id = r.source_id join cards t on t.id = r.target_id',
    columnJoins: [],
    values,
    attributes: visibleRelationAttributes(ctx),
    where: fragment`r.type = any(${types}::text[])
        and exists (select from cards c where c.id = r.source_id and ${selected})
        and exists (select from cards c where c.id = r.target_id and ${selected})`,
    changed,
  };
}

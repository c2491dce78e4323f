import { visibleAttributes } from '../../../domain/inventory/cards/cards.projection.ts';
import { visibleCards } from '../../../domain/inventory/cards/cards.visible.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import type { Condition, Fragment } from '../../../domain/kernel/lists/lists.types.ts';
import type { Found } from './changes.found.ts';
import type { RowSource } from './extraction.rows.ts';

/** Which cards an extraction takes. */
export interface CardSelection {
  types: string[];
  conditions: Condition[];
  /** Only what may have changed: rows of `id`, `type`, `position`, and whether the caller was `told` of it before. */
  changes?: Fragment;
  /** Whether all of these are known to be there still, and to be seen. */
  remain?: boolean;
  /** These, where they are known already. */
  found?: Found | undefined;
}

/** The conditions of a selection, visibility included, over the alias `c`. */
export function selectedCards(ctx: Ctx, selection: CardSelection): Condition {
  const parts = [
    visibleCards(ctx),
    { sql: 'c.type = any(?::text[])', bindings: [selection.types] },
    ...selection.conditions,
  ];
  return {
    sql: parts.map((part) => `(${part.sql})`).join(' and '),
    bindings: parts.flatMap((part) => part.bindings),
  };
}

/**
 * What holds of the ids of the few cards that `changed` is known to name: an index is gone through once for all of them, not
 * once for each.
 */
export const OF_FOUND = '= any(array(select x.id from changed x))';

/** Where the cards of a selection stand, as `c`. */
export function cardSource(ctx: Ctx, selection: CardSelection): RowSource {
  const where = selectedCards(ctx, selection);
  const { changes } = selection;
  const source: RowSource = {
    name: 'Cards',
    stored: 'cards',
    row: 'c',
    attributes: visibleAttributes(ctx),
    types: selection.types,
    fieldOf: (type, key) => ctx.metamodel.cardTypes.get(type)?.fields.get(key)?.type,
    from: { sql: 'cards c', bindings: [] },
    where,
  };
  if (!changes) return source;
  return {
    ...source,
    changed: changes,
    remain: selection.remain === true,
    ...(selection.found && { found: selection.found }),
    from: {
      sql: `changed x join cards c on c.id = x.id${selection.found ? ` and c.id ${OF_FOUND}` : ''}`,
      bindings: [],
    },
    gone: {
      sql: `select x.id, x.type, c.id is null as deleted, x.position
        from changed x left join cards c on c.id = x.id
        where x.told and (c.id is null or (${where.sql}) is not true)`,
      bindings: where.bindings,
    },
  };
}

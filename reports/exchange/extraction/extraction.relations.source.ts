import type { Ctx } from '../../../domain/kernel/context.ts';
import type { Fragment } from '../../../domain/kernel/lists/lists.types.ts';
import { holderWithin, holdsCostRole, may } from '../../../domain/kernel/permissions/policy.ts';
import { type CardSelection, selectedCards } from './extraction.cards.source.ts';
import type { RowSource } from './extraction.rows.ts';

/** Which relations an extraction takes: those of which both ends are among the cards. */
export interface RelationSelection {
  types: string[];
  cards: CardSelection;
  /** Only what may have changed, as {@link CardSelection.changes}. */
  changes?: Fragment;
}

/** The attributes of the relation `r` that the caller may see: costs by permission, or by a role on either end. */
export function visibleRelationAttributes(ctx: Ctx): Fragment {
  if (may(ctx.caller, 'costs.view')) return { sql: 'r.attributes', bindings: [] };
  const costs = Object.fromEntries(
    [...ctx.metamodel.relationTypes.values()]
      .filter((type) => type.costKeys.length > 0)
      .map((type) => [type.key, type.costKeys]),
  );
  return {
    sql: `case when ${holdsCostRole('r.source_id, r.target_id')}
          then r.attributes else r.attributes - array(select jsonb_array_elements_text(?::jsonb -> r.type)) end`,
    bindings: [holderWithin(ctx.caller, 'costs.view'), JSON.stringify(costs)],
  };
}

/** Where the relations of a selection stand: as `r`, with the cards `s` and `t`. */
export function relationSource(ctx: Ctx, selection: RelationSelection): RowSource {
  const { types, changes } = selection;
  const cards = selectedCards(ctx, selection.cards);
  const where = {
    sql: `r.type = any(?::text[])
      and exists (select from cards c where c.id = r.source_id and ${cards.sql})
      and exists (select from cards c where c.id = r.target_id and ${cards.sql})`,
    bindings: [types, ...cards.bindings, ...cards.bindings],
  };
  const ends = 'join cards s on s.id = r.source_id join cards t on t.id = r.target_id';
  const source: RowSource = {
    name: 'Relations',
    stored: 'relations',
    row: 'r',
    attributes: visibleRelationAttributes(ctx),
    types,
    fieldOf: (type, key) => ctx.metamodel.relationTypes.get(type)?.fields.get(key)?.type,
    from: { sql: `relations r ${ends}`, bindings: [] },
    where,
  };
  if (!changes) return source;
  return {
    ...source,
    changed: changes,
    from: { sql: `changed x join relations r on r.id = x.id ${ends}`, bindings: [] },
    gone: {
      sql: `select x.id, x.type, r.id is null as deleted, x.position
        from changed x left join relations r on r.id = x.id
        where x.told and (r.id is null or (${where.sql}) is not true)`,
      bindings: where.bindings,
    },
  };
}

import { embed, fragment } from '../../../platform/database.ts';
import { EstateError } from '../../../platform/errors.ts';
import { visibleCards } from '../../inventory/cards/cards.projection.ts';
import { prepareFilter } from '../../inventory/filters/filters.prepare.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { Condition, Fragment } from '../../kernel/lists/lists.types.ts';
import type { ShownRelation } from './portals.commands.ts';
import type { PortalRow } from './portals.model.ts';

/**
 * The cards that a portal shows, as conditions over the alias `c`. A filter that is no longer valid, or refers to what
 * is now a cost, selects no card: ignoring it would show cards that were excluded deliberately.
 * @param ctx that of the portal's reader.
 */
export async function shownCards(ctx: Ctx, { card_type, filters }: PortalRow): Promise<Condition[]> {
  const conditions: Condition[] = [
    visibleCards(ctx),
    fragment`c.type = ${card_type} and c.status = 'ACTIVE'`,
  ];
  if (filters.subtypes?.length) {
    conditions.push(fragment`c.subtype = any(${filters.subtypes}::text[])`);
  }
  if (filters.tag_ids?.length) conditions.push(tagged(filters.tag_ids));
  if (filters.filter !== undefined) {
    const condition = await prepareFilter(ctx, filters.filter).catch((error: unknown) => {
      if (error instanceof EstateError && [403, 422].includes(error.status)) {
        return fragment`false`;
      }
      throw error;
    });
    if (condition) conditions.push(condition);
  }
  return conditions;
}

/** Cards with one of the tags. */
const tagged = (ids: string[]): Condition => fragment`exists (select from card_tags k
  where k.card_id = c.id and k.tag_id = any(${ids}::uuid[]))`;

type End = 'source_id' | 'target_id';

/**
 * Relations that a portal shows, with the active cards at their other ends: a query of `own` (the id at the portal's end),
 * `type` (of the relation), `direction`, and the other card's `id`, `name`, `name_key` and `other_type`.
 * @param where which relations: a condition over `r`, given the columns at the portal's and at the other end.
 */
export function relatedCards(
  ctx: Ctx,
  relations: readonly ShownRelation[],
  where: (own: End, other: End) => Fragment,
): Fragment {
  const visible = visibleCards(ctx);
  const part = (direction: 'outgoing' | 'incoming', own: End, other: End): Fragment[] => {
    const keys = relations.filter((relation) => relation[direction]).map(({ type }) => type.key);
    if (keys.length === 0) return [];
    const condition = where(own, other);
    // inside, the alias c is the other card, for the usual visibility condition
    const sql = `select r.${own} as own, r.type, '${direction}'::text as direction, o.*
      from relations r join (select c.id, c.name, c.name_key, c.type as other_type from cards c
        where c.status = 'ACTIVE' and (${visible.sql})) o on o.id = r.${other}
      where r.type = any(?::text[]) and (${condition.sql})`;
    return [{ sql, bindings: [...visible.bindings, keys, ...condition.bindings] }];
  };
  const parts = [
    ...part('outgoing', 'source_id', 'target_id'),
    ...part('incoming', 'target_id', 'source_id'),
  ];
  return {
    sql: parts.map(({ sql }) => sql).join(' union all '),
    bindings: parts.flatMap(({ bindings }) => bindings),
  };
}

/** Cards with one of the relations, to one of the other cards if ids are given. */
export function relatedTo(ctx: Ctx, relations: readonly ShownRelation[], ids?: string[]): Condition {
  const related = relatedCards(ctx, relations, (_own, other) =>
    ids === undefined ? fragment`true` : fragment`r.${embed(other)} = any(${ids}::uuid[])`,
  );
  return fragment`c.id in (select x.own from (${embed(related)}) x)`;
}

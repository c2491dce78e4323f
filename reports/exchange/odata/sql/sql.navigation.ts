import { visibleCards } from '../../../../domain/inventory/cards/cards.projection.ts';
import { combine, type Fragment, raw, sql } from '../../../../domain/inventory/filters/filters.sql.ts';
import type { Ctx } from '../../../../domain/kernel/context.ts';
import type { EntitySet, NavigationPath, ODataModel } from '../model/model.types.ts';

/** Context in which one SQL statement is built. */
export interface StatementContext {
  ctx: Ctx;
  model: ODataModel;
  /** Returns a new table alias. */
  alias(): string;
}

export function createStatement(ctx: Ctx, model: ODataModel): StatementContext {
  let n = 0;
  return {
    ctx,
    model,
    alias() {
      n += 1;
      return `o${n}`;
    },
  };
}

/** A FROM clause and its conditions. */
export interface Source {
  from: Fragment;
  where: Fragment;
}

/** The alias of the queried set's entities. */
export const ROOT = 'c';

/** The condition that a card is active and visible to the caller. */
function isVisible({ ctx }: StatementContext, alias: string): Fragment {
  // `is true` prevents an index scan on (status, id) for joined cards: the lookup by id is faster
  const active = raw(`${alias}.status = 'ACTIVE'${alias === ROOT ? '' : ' is true'}`);
  const visible = visibleCards(ctx);
  // the caller sees every card
  if (visible.sql === 'true') return active;
  const condition: Fragment = { sql: visible.sql, bindings: visible.bindings, total: false };
  if (alias === ROOT) return combine('and', [active, sql`(${condition})`]);
  return combine('and', [
    active,
    sql`exists (select from cards c where c.id = ${raw(alias)}.id and (${condition}))`,
  ]);
}

/** The entities of a set that the caller sees, under the alias {@link ROOT}. */
export function setSource(statement: StatementContext, set: EntitySet): Source {
  if (set.kind === 'card') {
    const where = combine('and', [sql`c.type = ${set.key}::text`, isVisible(statement, ROOT)]);
    return { from: raw(`cards ${ROOT}`), where };
  }
  const source = statement.alias();
  const target = statement.alias();
  return {
    from: raw(
      `relations c join cards ${source} on ${source}.id = c.source_id join cards ${target} on ${target}.id = c.target_id`,
    ),
    where: combine('and', [
      sql`c.type = ${set.key}::text`,
      isVisible(statement, source),
      isVisible(statement, target),
    ]),
  };
}

/** The related entities under the alias `to` of the entity under the alias `from`. */
export function navigationSource(
  statement: StatementContext,
  path: NavigationPath,
  from: string,
  to: string,
): Source {
  const cards = (condition: string): Source => ({
    from: raw(`cards ${to}`),
    where: combine('and', [raw(condition), isVisible(statement, to)]),
  });
  switch (path.kind) {
    case 'parent':
      return cards(`${to}.id = ${from}.parent_id and ${to}.type = ${from}.type`);
    case 'children':
      return cards(`${to}.parent_id = ${from}.id and ${to}.type = ${from}.type`);
    case 'end':
      return cards(`${to}.id = ${from}.${path.end}_id`);
    default: {
      const other = statement.alias();
      const [relation, card] = path.kind === 'related' ? [other, to] : [to, other];
      const far = path.from === 'source' ? 'target' : 'source';
      return {
        from: raw(`relations ${relation} join cards ${card} on ${card}.id = ${relation}.${far}_id`),
        where: combine('and', [
          raw(`${relation}.${path.from}_id = ${from}.id`),
          sql`${raw(relation)}.type = ${path.relationType}::text`,
          isVisible(statement, card),
        ]),
      };
    }
  }
}

import { visibleCards } from '../../../../domain/inventory/cards/cards.projection.ts';
import { combine, type Fragment, raw, sql } from '../../../../domain/inventory/filters/filters.sql.ts';
import type { Ctx } from '../../../../domain/kernel/context.ts';
import { may } from '../../../../domain/kernel/permissions/policy.ts';
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
  if (set.kind === 'cost') return { from: raw(`costs ${ROOT}`), where: isVisibleCost(statement, ROOT) };
  const { from, where } = withEnds(statement, set.table, ROOT);
  return set.kind === 'data_flow'
    ? { from, where }
    : { from, where: combine('and', [sql`c.type = ${set.key}::text`, where]) };
}

/** Rows with a source and a target, which are both visible. */
function withEnds(statement: StatementContext, table: string, alias: string): Source {
  const source = statement.alias();
  const target = statement.alias();
  return {
    from: raw(
      `${table} ${alias} join cards ${source} on ${source}.id = ${alias}.source_id join cards ${target} on ${target}.id = ${alias}.target_id`,
    ),
    where: combine('and', [isVisible(statement, source), isVisible(statement, target)]),
  };
}

/** The condition that the caller sees the card or the relation of a cost. */
function isVisibleCost(statement: StatementContext, alias: string): Fragment {
  const card = statement.alias();
  const ofCard = sql`exists (select from cards ${raw(card)}
    where ${raw(`${card}.id = ${alias}.card_id`)} and ${isVisible(statement, card)})`;
  const { ctx } = statement;
  if (!may(ctx.caller, 'relations.view')) return ofCard;
  const relation = statement.alias();
  const { from, where } = withEnds(statement, 'relations', relation);
  const ofRelation = sql`exists (select from ${from} where ${raw(`${relation}.id = ${alias}.relation_id`)}
    and ${raw(relation)}.type = any(${ctx.metamodel.visibleRelationTypes}::text[]) and ${where})`;
  return combine('or', [ofCard, ofRelation]);
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
    case 'card': {
      const found = cards(`${to}.id = ${from}.${path.column}`);
      if (path.type === undefined) return found;
      return { ...found, where: combine('and', [found.where, sql`${raw(to)}.type = ${path.type}::text`]) };
    }
    case 'data_objects':
      return cards(`${to}.id = any(${from}.data_object_ids)`);
    case 'flows': {
      const flows = withEnds(statement, 'data_flows', to);
      const has =
        path.column === 'data_object_ids'
          ? `${to}.data_object_ids @> array[${from}.id]`
          : `${to}.${path.column} = ${from}.id`;
      return { ...flows, where: combine('and', [raw(has), flows.where]) };
    }
    case 'costs':
      return { from: raw(`costs ${to}`), where: raw(`${to}.${path.column} = ${from}.id`) };
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

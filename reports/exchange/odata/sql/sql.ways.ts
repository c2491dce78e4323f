import { visibleCards } from '../../../../domain/inventory/cards/cards.visible.ts';
import { combine, type Fragment, raw, sql } from '../../../../domain/inventory/filters/filters.sql.ts';
import type { Ctx } from '../../../../domain/kernel/context.ts';
import type { EntitySet, ODataModel, Way } from '../model/model.types.ts';

/** What one statement is written with. */
export interface Writing {
  ctx: Ctx;
  model: ODataModel;
  /** A table's alias that the statement does not have yet. */
  alias(): string;
}

export function createWriting(ctx: Ctx, model: ODataModel): Writing {
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

/** A FROM clause and what must hold of its rows. */
export interface Source {
  from: Fragment;
  where: Fragment;
}

/** The alias under which a statement has the entities of its own set. */
export const ROOT = 'c';

/** Whether a card under the alias is active and visible to the caller. */
function shown({ ctx }: Writing, alias: string): Fragment {
  // others are found by their id: the index of states and ids is twice the way to each of them
  const active = raw(`${alias}.status = 'ACTIVE'${alias === ROOT ? '' : ' is true'}`);
  const visible = visibleCards(ctx);
  // who sees every card needs no look at each
  if (visible.sql === 'true') return active;
  const condition: Fragment = { sql: visible.sql, bindings: visible.bindings, total: false };
  if (alias === ROOT) return combine('and', [active, sql`(${condition})`]);
  return combine('and', [
    active,
    sql`exists (select from cards c where c.id = ${raw(alias)}.id and (${condition}))`,
  ]);
}

/** The entities of a set that the caller sees, under the alias {@link ROOT}. */
export function sourceOf(writing: Writing, set: EntitySet): Source {
  if (set.kind === 'card') {
    return {
      from: raw(`cards ${ROOT}`),
      where: combine('and', [sql`c.type = ${set.key}::text`, shown(writing, ROOT)]),
    };
  }
  const source = writing.alias();
  const target = writing.alias();
  return {
    from: raw(
      `relations c join cards ${source} on ${source}.id = c.source_id join cards ${target} on ${target}.id = c.target_id`,
    ),
    where: combine('and', [sql`c.type = ${set.key}::text`, shown(writing, source), shown(writing, target)]),
  };
}

/** The entities at the end of a way, under the alias `to`, for the one under the alias `from`. */
export function along(writing: Writing, way: Way, from: string, to: string): Source {
  switch (way.kind) {
    case 'parent':
      return {
        from: raw(`cards ${to}`),
        where: combine('and', [
          raw(`${to}.id = ${from}.parent_id and ${to}.type = ${from}.type`),
          shown(writing, to),
        ]),
      };
    case 'children':
      return {
        from: raw(`cards ${to}`),
        where: combine('and', [
          raw(`${to}.parent_id = ${from}.id and ${to}.type = ${from}.type`),
          shown(writing, to),
        ]),
      };
    case 'end':
      return {
        from: raw(`cards ${to}`),
        where: combine('and', [raw(`${to}.id = ${from}.${way.end}_id`), shown(writing, to)]),
      };
    case 'related': {
      const relation = writing.alias();
      const other = way.from === 'source' ? 'target' : 'source';
      return {
        from: raw(`relations ${relation} join cards ${to} on ${to}.id = ${relation}.${other}_id`),
        where: combine('and', [
          raw(`${relation}.${way.from}_id = ${from}.id`),
          sql`${raw(relation)}.type = ${way.relationType}::text`,
          shown(writing, to),
        ]),
      };
    }
    case 'relations': {
      const end = writing.alias();
      const other = way.from === 'source' ? 'target' : 'source';
      return {
        from: raw(`relations ${to} join cards ${end} on ${end}.id = ${to}.${other}_id`),
        where: combine('and', [
          raw(`${to}.${way.from}_id = ${from}.id`),
          sql`${raw(to)}.type = ${way.relationType}::text`,
          shown(writing, end),
        ]),
      };
    }
  }
}

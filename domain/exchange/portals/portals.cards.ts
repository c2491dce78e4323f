import { embed, query, type Sql } from '../../../platform/database.ts';
import { attributeSort, cardSorts } from '../../inventory/cards/cards.list.ids.ts';
import { foldText, queryWords } from '../../inventory/cards/cards.search.ts';
import type { Ctx } from '../../kernel/context.ts';
import { orderBy, whereClause } from '../../kernel/lists/lists.sql.ts';
import type { Condition, Fragment, Order } from '../../kernel/lists/lists.types.ts';
import type { PortalRow } from './portals.model.ts';
import type { CheckedQuery } from './portals.query.ts';
import type { Shown } from './portals.rules.ts';
import { relatedCards, relatedTo, shownCards } from './portals.scope.ts';

/** Related cards shown for one card, the first by relation type and name. */
const MAX_RELATED = 100;
const NONE = "'[]'::json";

/** The conditions of a query over the alias `c`, with those of the portal itself. */
export async function queryConditions(
  ctx: Ctx,
  row: PortalRow,
  shown: Shown,
  asked: CheckedQuery,
): Promise<Condition[]> {
  const where = await shownCards(ctx, row);
  if (asked.subtype !== null) where.push({ sql: 'c.subtype = ?', bindings: [asked.subtype] });
  if (asked.tagIds.length > 0) where.push(taggedOfEachGroup(asked.tagIds));
  for (const { keys, ids } of asked.related) {
    const relations = keys.map((key) => shown.relations.get(key)!);
    where.push(relatedTo(ctx, relations, ids ?? undefined));
  }
  for (const [key, values] of asked.attributes) {
    where.push({
      sql: values.map(() => 'c.attributes @> ?::jsonb').join(' or '),
      bindings: values.map((value) => JSON.stringify({ [key]: value })),
    });
  }
  if (asked.search === '') return where;
  return [foundAmong(where, await matching(ctx.db, asked.search, shown.core.has('description')))];
}

/**
 * The cards that match all conditions; conditions of the search are evaluated first: its indexes are more selective,
 * but the planner, without statistics about them, would prefer the index of the order.
 */
function foundAmong(where: Condition[], search: Condition): Condition {
  const others = where.map(({ sql }) => ` and ((${sql}) is true)`).join('');
  return {
    sql: `c.id = any(array(select c.id from cards c where ${search.sql}${others}))`,
    bindings: [...search.bindings, ...where.flatMap(({ bindings }) => bindings)],
  };
}

/** Cards with one of the tags of each group. An unknown tag matches no card. */
const taggedOfEachGroup = (ids: string[]): Condition => ({
  sql: `c.id in (select k.card_id from card_tags k join tags t on t.id = k.tag_id where t.id = any(?::uuid[])
      group by k.card_id having count(distinct t.tag_group_id) =
        (select count(distinct coalesce(t.tag_group_id, i.id)) from unnest(?::uuid[]) i(id) left join tags t on t.id = i.id))`,
  bindings: [ids, ids],
});

/**
 * Cards with all words of a text in the name or, where it is shown, the description. The indexes cover more columns, so
 * their results are filtered again.
 */
export async function matching(sql: Sql, text: string, described: boolean): Promise<Condition> {
  const words = queryWords(await foldText(sql, text));
  if (words.length === 0) return { sql: 'false', bindings: [] };
  const parts = words.map((word): Fragment => {
    const like = `%${word}%`;
    const named = '(c.name_key like ? and search_text(c.name_key, c.alias, c.external_id) like ?)';
    if (!described) return { sql: named, bindings: [like, like] };
    // A word that is neither in the alias nor in the external id was found in the name or the description, without
    // folding them again.
    return {
      sql: `(${named} or (search_words(c.name_key, c.alias, c.external_id, c.description) @@ to_tsquery('simple', ?)
        and (coalesce(fold(c.alias), '') not like ? and coalesce(lower(c.external_id), '') not like ?
          or fold(c.description) like ?)))`,
      bindings: [like, like, `'${word}':*`, like, like, like],
    };
  });
  return {
    sql: parts.map((part) => part.sql).join(' and '),
    bindings: parts.flatMap(({ bindings }) => bindings),
  };
}

/** The requested order. */
export function orderOf(ctx: Ctx, { type }: Shown, { sort, dir }: CheckedQuery): Order {
  const field = attributeSort(ctx, sort, [type.key]) ?? cardSorts[sort]!;
  return { key: sort, field, dir };
}

/** The ids of one page, read along the index of the order. */
export async function pageIds(
  sql: Sql,
  where: Condition[],
  order: Order,
  { page, size }: CheckedQuery,
): Promise<string[]> {
  const w = whereClause(where);
  const rows = await query(sql).rows<{ id: string }>`select c.id from cards c${embed(w)}
    order by ${embed(orderBy(order, order.field.sql, 'c.id'))} limit ${size} offset ${(page - 1) * size}`;
  return rows.map(({ id }) => id);
}

/** Cards by id as the text of a JSON array, in the order of the ids. @param ctx that of the portal's reader. */
export async function shownText(ctx: Ctx, shown: Shown, ids: string[]): Promise<string> {
  const item = itemOf(ctx, shown);
  const [page] = await query(ctx.db).rows<{ items: string }>`with page as materialized (select p.id, p.n
    from unnest(${ids}::uuid[]) with ordinality as p (id, n))
     select coalesce(json_agg(${embed(item)} order by page.n), '[]')::text as items
     from page join cards c on c.id = page.id${embed(item.joins)}`;
  return page!.items;
}

/** A card's JSON over the alias `c`: members that the portal does not show are empty. */
function itemOf(ctx: Ctx, { core, attributes, relations }: Shown): Fragment & { joins: string } {
  const shows = (field: Parameters<typeof core.has>[0], sql: string) => (core.has(field) ? sql : 'null');
  const keys = [...attributes.keys()];
  const related = relatedCards(ctx, [...relations.values()], (own) => ({
    sql: `r.${own} in (select id from page)`,
    bindings: [],
  }));
  const joins: string[] = [];
  const joined: unknown[] = [];
  if (core.has('tags')) {
    joins.push(`left join (
      select k.card_id, json_agg(json_build_object('id', t.id, 'name', t.name, 'color', t.color, 'group_name', g.name)
        order by lower(g.name), t.sort_order, lower(t.name), t.id) as list
      from card_tags k join tags t on t.id = k.tag_id join tag_groups g on g.id = t.tag_group_id
      where k.card_id in (select id from page) group by k.card_id) tags_of on tags_of.card_id = c.id`);
  }
  if (relations.size > 0) {
    joins.push(`left join (
      select x.own, json_agg(json_build_object('type', x.type, 'related_id', x.id, 'related_name', x.name,
        'related_type', x.other_type, 'direction', x.direction) order by x.n) as list
      from (select e.*, row_number() over (partition by e.own order by e.type, e.name_key, e.id, e.direction) as n
            from (${related.sql}) e) x
      where x.n <= ${MAX_RELATED} group by x.own) related_to on related_to.own = c.id`);
    joined.push(...related.bindings);
  }
  const sql = `json_build_object(
    'id', c.id, 'name', c.name, 'type', c.type,
    'subtype', ${shows('subtype', 'c.subtype')},
    'description', ${shows('description', 'c.description')},
    'lifecycle', ${shows('lifecycle', 'c.lifecycle')},
    'attributes', (select coalesce(jsonb_object_agg(a.key, a.value), '{}') from jsonb_each(c.attributes) a
      where a.key = any(?::text[])),
    'approval_status', ${shows('approval_status', 'c.approval_status')},
    'data_quality', ${shows('data_quality', 'c.data_quality')},
    'tags', ${core.has('tags') ? "coalesce(tags_of.list, '[]')" : NONE},
    'relations', ${relations.size > 0 ? "coalesce(related_to.list, '[]')" : NONE},
    'stakeholders', ${NONE},
    'updated_at', ${shows('updated_at', 'utc(c.updated_at)')})`;
  return { sql, bindings: [keys, ...joined], joins: joins.map((join) => ` ${join}`).join('') };
}

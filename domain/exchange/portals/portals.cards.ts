import { embed, fragment, query, queryRows, type Sql } from '../../../platform/database.ts';
import { EstateError, invalidField } from '../../../platform/errors.ts';
import { createSemaphore } from '../../../platform/semaphore.ts';
import { byAddress, throttle } from '../../access/access.throttle.ts';
import { cardsTopic } from '../../inventory/cards/cards.events.ts';
import { cardSorts, typedSort } from '../../inventory/cards/cards.list.ids.ts';
import { visibleCards } from '../../inventory/cards/cards.projection.ts';
import { foldText, queryWords } from '../../inventory/cards/cards.search.ts';
import { relationsTopic } from '../../inventory/relations/relations.save.ts';
import type { Ctx } from '../../kernel/context.ts';
import { count } from '../../kernel/lists/lists.run.ts';
import { orderBy, whereClause } from '../../kernel/lists/lists.sql.ts';
import type { Condition, Fragment, Order } from '../../kernel/lists/lists.types.ts';
import { createResultCache } from '../../kernel/lists/result.cache.ts';
import {
  asReader,
  findPublished,
  relationsFor,
  resolveShown,
  type Shown,
  type ShownRelation,
} from './portals.commands.ts';
import { PORTALS_TOPIC, type PortalRow } from './portals.model.ts';
import { type CheckedQuery, MAX_PAGED, type PortalQuery, readQuery } from './portals.query.ts';
import { definePortal, relatedCards, relatedTo, shownCards } from './portals.scope.ts';

/** Related cards shown for one card, the first by relation type and name. */
const MAX_RELATED = 100;
const NONE = "'[]'::json";

/** The conditions of a query over the alias `c`, with those of the portal itself. */
async function queryConditions(
  ctx: Ctx,
  row: PortalRow,
  shown: Shown,
  asked: CheckedQuery,
): Promise<Condition[]> {
  const where = await shownCards(ctx, row);
  if (asked.subtype !== null) where.push(fragment`c.subtype = ${asked.subtype}`);
  if (asked.tagIds.length > 0) where.push(taggedOfEachGroup(asked.tagIds));
  for (const { keys, ids } of asked.related) {
    const relations = keys.map((key) => shown.relations.get(key)!);
    where.push(relatedTo(ctx, relations, ids ?? undefined));
  }
  for (const [key, values] of asked.attributes) {
    const sql = values.map(() => 'c.attributes @> ?::jsonb').join(' or ');
    where.push({ sql, bindings: values.map((value) => JSON.stringify({ [key]: value })) });
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
  const sql = `c.id = any(array(select c.id from cards c where ${search.sql}${others}))`;
  return { sql, bindings: [...search.bindings, ...where.flatMap(({ bindings }) => bindings)] };
}

/** Cards with one of the tags of each group. An unknown tag matches no card. */
const taggedOfEachGroup = (ids: string[]): Condition => fragment`c.id in (select k.card_id from card_tags k
  join tags t on t.id = k.tag_id where t.id = any(${ids}::uuid[])
      group by k.card_id having count(distinct t.tag_group_id) =
        (select count(distinct coalesce(t.tag_group_id, i.id)) from unnest(${ids}::uuid[]) i(id)
        left join tags t on t.id = i.id))`;

/**
 * Cards with all words of a text in the name or, where it is shown, the description. The indexes cover more columns, so
 * their results are filtered again.
 */
async function matching(sql: Sql, text: string, described: boolean): Promise<Condition> {
  const words = queryWords(await foldText(sql, text));
  if (words.length === 0) return fragment`false`;
  const parts = words.map((word): Fragment => {
    const like = `%${word}%`;
    const named = '(c.name_key like ? and search_text(c.name_key, c.alias, c.external_id) like ?)';
    if (!described) return { sql: named, bindings: [like, like] };
    // A word that is neither in the alias nor in the external id was found in the name or the description, without
    // folding them again.
    return fragment`(${embed({ sql: named, bindings: [like, like] })}
      or (search_words(c.name_key, c.alias, c.external_id, c.description) @@ to_tsquery('simple',
      ${`'${word}':*`})
        and (coalesce(fold(c.alias), '') not like ${like}
        and coalesce(lower(c.external_id), '') not like ${like}
          or fold(c.description) like ${like})))`;
  });
  const bindings = parts.flatMap(({ bindings }) => bindings);
  return { sql: parts.map((part) => part.sql).join(' and '), bindings };
}

/** The requested order. */
function orderOf(ctx: Ctx, { type }: Shown, { sort, dir }: CheckedQuery): Order {
  return { key: sort, field: typedSort(ctx, sort, [type.key]) ?? cardSorts[sort]!, dir };
}

/** The ids of one page, read along the index of the order. */
async function pageIds(
  sql: Sql,
  where: Condition[],
  order: Order,
  { page, size }: CheckedQuery,
): Promise<string[]> {
  return await query(sql).column`select c.id from cards c${embed(whereClause(where))}
    order by ${embed(orderBy(order, order.field.sql, 'c.id'))} limit ${size} offset ${(page - 1) * size}`;
}

/** Cards by id as the text of a JSON array, in the order of the ids. @param ctx that of the portal's reader. */
async function shownText(ctx: Ctx, shown: Shown, ids: string[]): Promise<string> {
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
  const related = relatedCards(
    ctx,
    [...relations.values()],
    (own) => fragment`r.${embed(own)} in (select id
    from page)`,
  );
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

/** The query parameters of the cards to which those of a portal are related. */
interface OptionsQuery {
  /** The key of a shown relation type, or of the card type at its other end. */
  type_key: string;
  search?: string;
  page: number;
  page_size: number;
}

/** The relations of a query. @throws EstateError 422 if the portal shows none with the key. */
function optionRelations(shown: Shown, key: string): ShownRelation[] {
  const relations = relationsFor(shown, key);
  if (relations.length > 0) return relations;
  throw invalidField('type_key', 'not_offered', 'is no relation that this portal shows');
}

/** The active cards to which shown cards are related, by name. @param ctx that of the portal's reader. */
async function optionsPage(
  ctx: Ctx,
  row: PortalRow,
  relations: ShownRelation[],
  { search, page, page_size: size }: OptionsQuery,
): Promise<string> {
  const w = whereClause(await shownCards(ctx, row));
  const related = relatedCards(
    ctx,
    relations,
    (own) => fragment`r.${embed(own)} in (select c.id
    from cards c${embed(w)})`,
  );
  const named: Condition[] = search?.trim() ? [await matching(ctx.db, search, false)] : [];
  const found = whereClause([fragment`c.id in (select x.id from (${embed(related)}) x)`, ...named]);
  const [answer] = await query(ctx.db).rows<{ text: string }>`with found as materialized (select c.id, c.name,
    c.name_key from cards c${embed(found)})
     select json_build_object('items', (select coalesce(json_agg(json_build_object('id', id, 'name', name)
         order by name_key, id), '[]')
       from (select * from found order by name_key, id limit ${size} offset ${(page - 1) * size}) listed),
       'total', (select count(*) from found), 'page', ${page}::int, 'page_size', ${size}::int)::text as text`;
  return answer!.text;
}

/**
 * All of them by name, or undefined if there are more than `max`. Each card of the other types is tested until enough
 * are found, which is fast for few and for many.
 */
async function listFewOptions(
  ctx: Ctx,
  row: PortalRow,
  relations: ShownRelation[],
  max: number,
): Promise<string> {
  const w = whereClause(await shownCards(ctx, row));
  const visible = visibleCards(ctx);
  const related = (['outgoing', 'incoming'] as const).flatMap((direction): Fragment[] => {
    const keys = relations.filter((relation) => relation[direction]).map(({ type }) => type.key);
    // OFFSET prevents the planner from reading all relations first.
    const [own, other] = direction === 'outgoing' ? ['source_id', 'target_id'] : ['target_id', 'source_id'];
    const sql = `exists (select from relations r where r.${other} = o.id and r.type = any(?::text[])
      and exists (select from cards c${w.sql} and c.id = r.${own}) offset 0)`;
    return keys.length === 0 ? [] : [{ sql, bindings: [keys, ...w.bindings] }];
  });
  const types = [...new Set(relations.map(({ other }) => other))];
  const [list] = await queryRows<{ items: string }>(
    ctx.db,
    `with found as materialized (
       select o.id, o.name, o.name_key from cards o
       where o.type = any(?::text[]) and o.status = 'ACTIVE'
         and exists (select from cards c where c.id = o.id and (${visible.sql}))
         and (${related.map(({ sql }) => sql).join(' or ')})
       limit ?)
     select (case when count(*) > ? then '[]'
       else coalesce(json_agg(json_build_object('id', id, 'name', name) order by name_key, id), '[]') end)::text as items
     from found`,
    [types, ...visible.bindings, ...related.flatMap(({ bindings }) => bindings), max + 1, max],
  );
  return list!.items;
}

/** Maximum size of the cached responses of one process, in bytes. */
const CACHE_BYTES = 16 * 1024 * 1024;
/** Maximum number of concurrent computations for the public in a process; the other connections are reserved for users. */
const CONCURRENCY = 3;

/** The published portals, with responses cached until the data that they show changes. */
export function createPublicPortals() {
  const responses = createResultCache<string>(CACHE_BYTES, (text) => 2 * text.length);
  const limited = createSemaphore(CONCURRENCY);
  return {
    /**
     * Opens a portal for one request, which is counted for the address whether or not the portal exists.
     * @throws EstateError `too_many_requests`; `not_found`, also for a draft and for a portal whose type is hidden.
     */
    async open(
      // topic versions that were read after the request arrived: the response is at least as recent
      { ctx: caller, topics, address }: { ctx: Ctx; topics: TopicVersions; address: string },
      slug: string,
    ) {
      await throttle(caller.db, 'portal', [byAddress(address)]);
      const version = topics.get(PORTALS_TOPIC) ?? 0;
      const row = await findPublished(caller.db, slug);
      const shown = row && resolveShown(caller.metamodel, row);
      if (!row || !shown) throw new EstateError('not_found', 'There is no web portal at this address.');
      const ctx = asReader(caller);
      const state = stateOf(ctx, version, row, shown, topics);
      const cached = (asked: unknown, make: () => Promise<string>) =>
        responses.get(JSON.stringify([state, asked]), () => limited(make));
      return {
        /** Whether search engines may index it. */
        indexed: row.card_config.indexed ?? false,
        /** Its public definition. */
        definition: () =>
          cached('definition', async () => JSON.stringify(await definePortal(ctx, row, shown))),
        /** A page of its cards. @throws EstateError 422 for a filter or sort that it does not offer. */
        async cards(query: PortalQuery) {
          const asked = readQuery(shown, row.card_config, query);
          return await cached(asked, async () => {
            const where = await queryConditions(ctx, row, shown, asked);
            const total = await count({ sql: ctx.db, spec: { from: 'cards c' }, where });
            const ids = await pageIds(ctx.db, where, orderOf(ctx, shown, asked), asked);
            const items = await shownText(ctx, shown, ids);
            return `{"items":${items},"total":${total},"page":${asked.page},"page_size":${asked.size}}`;
          });
        },
        /** A page of the cards to which its cards are related. @throws EstateError 422 for a relation that it does not show. */
        async options(query: OptionsQuery) {
          const relations = optionRelations(shown, query.type_key);
          const { search, page, page_size } = query;
          if (page * page_size > MAX_PAGED) {
            const message = `only the first ${MAX_PAGED} can be paged through: search`;
            throw invalidField('page', 'too_deep', message);
          }
          const keys = relations.map(({ type }) => type.key);
          return await cached(['options', keys, search?.trim() ?? '', page, page_size], () =>
            optionsPage(ctx, row, relations, query),
          );
        },
        /** The options of one relation type; empty if there are more than `most`. */
        choices(relation: string, most: number) {
          const relations = optionRelations(shown, relation);
          return cached(['choices', relation, most], () => listFewOptions(ctx, row, relations, most));
        },
      };
    },
  };
}

/** A published portal in its current form. */
export type OpenPortal = Awaited<ReturnType<ReturnType<typeof createPublicPortals>['open']>>;
type TopicVersions = ReadonlyMap<string, number>;

/** The part of the cache key that depends on the data: it changes whenever the data of a response may have changed. */
function stateOf(ctx: Ctx, version: number, row: PortalRow, shown: Shown, topics: TopicVersions): unknown {
  // A filter may refer to any data.
  if (row.filters.filter !== undefined) return [row.id, version, ctx.metamodel.version, ...topics];
  const related = [...shown.relations.values()].flatMap(({ type, other }) => [
    relationsTopic(type.key),
    cardsTopic(other),
  ]);
  const versions = [cardsTopic(row.card_type), ...related].map((topic) => topics.get(topic) ?? 0);
  return [row.id, version, ctx.metamodel.version, ...versions];
}

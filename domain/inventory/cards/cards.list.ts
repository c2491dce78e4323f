import { fragment, query, type Sql } from '../../../platform/database.ts';
import { invalidField } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import {
  type Anchors,
  createLateAnchors,
  readAnchors,
  startOfPage,
} from '../../kernel/lists/lists.anchors.ts';
import { withTimeLimit } from '../../kernel/lists/lists.limit.ts';
import { checkOffset, count, listByCursor } from '../../kernel/lists/lists.run.ts';
import { orderOf, projection, whereClause } from '../../kernel/lists/lists.sql.ts';
import type { Condition, JsonText, ListParams, ListSpec, Order } from '../../kernel/lists/lists.types.ts';
import { createResultCache, type ResultCache } from '../../kernel/lists/result.cache.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { prepareFilter } from '../filters/filters.prepare.ts';
import { type CardFilter, cardFilter } from './cards.filter.ts';
import {
  attributeSorts,
  cardSorts,
  combinedOrder,
  createIdCache,
  derivedSorts,
  type IdCache,
  idCount,
  idsQuery,
  inventoryVersions,
  numberedIds,
  type OrderedIds,
  orderIds,
  packIds,
  readPageIds,
  readsAllIds,
  sliceIds,
  typedSort,
} from './cards.list.ids.ts';
import { cardsText, listedMembers, visibleCards } from './cards.projection.ts';
import { searchCards } from './cards.search.ts';

/** What a process caches between lists of cards; one object per process. */
export interface CardListMemory {
  totals: ResultCache<number>;
  ids: IdCache;
  anchors: Anchors;
}

const TOTALS_BYTES = 4 * 1024 * 1024;

export function createCardListMemory(): CardListMemory {
  return {
    totals: createResultCache(TOTALS_BYTES, () => 8),
    ids: createIdCache(),
    anchors: createLateAnchors(),
  };
}

/** What a list of cards needs besides its request. */
export interface CardListNeeds {
  /** The topic versions, read after the request arrived. */
  topics: ReadonlyMap<string, number>;
  memory: CardListMemory;
}

/** The checked request. */
interface Asked {
  where: Condition[];
  /** Keys of the types that the list is limited to. */
  types: string[];
  /** Whether the conditions read more than cards of these types with their tags and stakeholders. */
  wide: boolean;
  /** Whether the conditions are among the few that most lists have. */
  plain: boolean;
  /** The text to search for. */
  search: string | undefined;
  order: Order;
}

const RELEVANCE = 'relevance';

const list: ListSpec = {
  name: 'cards',
  from: 'cards c',
  id: 'c.id',
  sorts: cardSorts,
  defaultSort: 'name',
  members: {},
};

/**
 * The visible cards that match the request.
 * @throws EstateError naming each parameter that is not valid, `forbidden` if a filter reads costs without
 * `costs.view`.
 */
export async function listCards(
  ctx: Ctx,
  params: ListParams & CardFilter & { filter?: string },
  needs: CardListNeeds,
): Promise<JsonText> {
  const { owned, types, plain } = cardFilter(ctx, params);
  const conditions = owned.map(({ condition }) => condition);
  const filter = params.filter === undefined ? undefined : await prepareFilter(ctx, params.filter);
  if (filter) conditions.push(filter);
  const wide = filter !== undefined;
  return await runCardList(ctx, conditions, { types, wide, plain: plain && !wide }, params, needs);
}

/** The cards that the caller has created, active or archived. */
export async function listMyCreatedCards(
  ctx: Ctx,
  params: ListParams,
  needs: CardListNeeds,
): Promise<JsonText> {
  const mine: Condition = fragment`c.created_by = ${ctx.caller.userId}::uuid`;
  const scope: Scope = { types: undefined, wide: false, plain: false };
  return await runCardList(ctx, [mine], scope, params, needs);
}

/**
 * The cards, active or archived, on which a user (by default the caller) has a stakeholder role, with the roles on each
 * item that contains its `id`.
 * @throws EstateError `forbidden` without `stakeholders.view`.
 */
export async function listStakeholderCards(
  ctx: Ctx,
  { user_id, ...params }: ListParams & { user_id?: string },
  needs: CardListNeeds,
): Promise<JsonText> {
  requirePermission(ctx.caller, 'stakeholders.view');
  const userId = user_id ?? ctx.caller.userId;
  const held: Condition = fragment`c.id in (select m.card_id from stakeholders m
    where m.user_id = ${userId}::uuid)`;
  const scope: Scope = { types: undefined, wide: false, plain: false };
  const answer = await runCardList(ctx, [held], scope, params, needs);
  const { items } = JSON.parse(answer) as { items: { id?: string }[] };
  const rows = await query(ctx.db).rows<{ id: string; type: string; roles: string[] }>`select c.id, c.type,
    array_agg(m.role order by m.role) as roles
     from stakeholders m join cards c on c.id = m.card_id
     where m.user_id = ${userId}::uuid and m.card_id = any(${items.flatMap(({ id }) => id ?? [])}::uuid[])
     group by c.id`;
  const roles: Record<string, unknown[]> = {};
  for (const row of rows) {
    roles[row.id] = (ctx.metamodel.cardTypes.get(row.type)?.stakeholderRoles ?? [])
      .filter((role) => row.roles.includes(role.key))
      .map(({ key, label, color, translations }) => ({ key, label, color, translations }));
  }
  return `${answer.slice(0, -1)},"roles_by_card_id":${JSON.stringify(roles)}}`;
}

type Scope = Pick<Asked, 'wide' | 'plain'> & { types: string[] | undefined };

async function runCardList(
  ctx: Ctx,
  conditions: Condition[],
  scope: Scope,
  params: ListParams,
  needs: CardListNeeds,
): Promise<JsonText> {
  const types = scope.types ?? ctx.metamodel.visibleTypes;
  const search = params.search?.trim() || undefined;
  const asked: Asked = {
    where: [visibleCards(ctx), ...conditions],
    ...scope,
    types,
    search,
    order: cardOrder(ctx, params, types, search),
  };
  checkOffset(params);
  if (params.cursor !== undefined) return await pageByCursor(ctx, asked, params, needs);

  const { page, page_size: size, fields } = params;
  // This also refuses unknown fields if the list is empty.
  projection(listedMembers(ctx, fields), fields);
  const offset = (page - 1) * size;
  let ids: string[] = [];
  let total: number;
  let more: boolean | undefined;
  if (asked.search !== undefined || asked.wide || !(asked.order.key in cardSorts)) {
    const ordered = await cachedIds(ctx, asked, needs);
    total = idCount(ordered);
    ids = sliceIds(ordered, offset, size);
    if (asked.search !== undefined) more = ordered.more;
  } else {
    total = await cachedTotal(ctx, asked, needs);
    if (offset < total) {
      const place = { offset, size: Math.min(size, total - offset), total };
      const rows = { sql: ctx.db, spec: list, where: asked.where, order: asked.order };
      const start = await startOfPage(rows, place, () =>
        needs.memory.anchors.get(keyOf(asked, needs), () =>
          withTimeLimit(ctx.db, (sql) => readAnchors({ ...rows, sql })),
        ),
      );
      ids = await readPageIds(ctx.db, asked.order, start, place.size);
    }
  }
  const items = ids.length === 0 ? '[]' : await cardsText(ctx.db, ctx, ids, fields);
  return `{"items":${items},"total":${total},"page":${page},"page_size":${size}${moreMember(more)}}`;
}

const moreMember = (more: boolean | undefined) => (more === undefined ? '' : `,"more_matches":${more}`);

/** Fields by which a list can be ordered at once. */
const MOST_SORTS = 4;

/** The requested order of cards of some types: by one field, or by further ones among cards that are equal in the ones before. */
export function cardOrder(
  ctx: Ctx,
  params: Pick<ListParams, 'sort_by' | 'sort_dir'>,
  types: string[],
  search?: string,
): Order {
  const [first, ...more] = params.sort_by?.split(',') ?? [];
  if (more.length >= MOST_SORTS)
    throw invalidField('sort_by', 'too_many', `names more than ${MOST_SORTS} fields`);
  const wanted: SortRequest[] = [
    { sort_by: first, sort_dir: params.sort_dir },
    ...more.map((name): SortRequest => {
      const sort_dir = name.startsWith('-') ? 'desc' : 'asc';
      return { sort_by: name.replace(/^-/, ''), sort_dir };
    }),
  ];
  // cards of one type are in the order of the other fields, which an index may provide
  const telling = types.length === 1 ? wanted.filter(({ sort_by }) => sort_by !== 'type') : wanted;
  const orders = (telling.length > 0 ? telling : wanted.slice(0, 1)).map((one) =>
    fieldOrder(ctx, one, types, search),
  );
  if (orders.length === 1) return orders[0]!;
  if (orders.some(({ key }) => key === RELEVANCE))
    throw invalidField('sort_by', 'not_combined', 'relevance cannot be combined with other fields');
  const joins = orders.flatMap(({ field }) => field.join ?? []);
  if (joins.length > 1)
    throw invalidField('sort_by', 'not_combined', 'only one of path, tags and relations can be a part of it');
  return combinedOrder(orders, joins[0]);
}

/** A requested order by one field. */
interface SortRequest {
  sort_by: string | undefined;
  sort_dir: ListParams['sort_dir'];
}

/** The order by one field; a search without one is ordered by relevance. */
function fieldOrder(
  ctx: Ctx,
  { sort_by, sort_dir }: SortRequest,
  types: string[],
  search: string | undefined,
): Order {
  const key = sort_by ?? (search === undefined ? undefined : RELEVANCE);
  if (key === RELEVANCE) {
    if (search === undefined) {
      throw invalidField(
        'sort_by',
        'without_search',
        'relevance is an order of matches; give search as well',
      );
    }
    return { key, field: { sql: 'c.name_key', type: 'text', filled: true }, dir: sort_dir ?? 'desc' };
  }
  const derived = key !== undefined && Object.hasOwn(derivedSorts, key) ? derivedSorts[key]!(ctx) : undefined;
  const sort = key === undefined ? undefined : (derived ?? typedSort(ctx, key, types));
  const asked = { ...(key !== undefined && { sort_by: key }), ...(sort_dir && { sort_dir }) };
  const others = [attributeSorts, ...Object.keys(derivedSorts), RELEVANCE];
  return orderOf(sort ? { ...list, sorts: { [key!]: sort } } : list, asked, others);
}

/** A key of the current state of the requested rows: it changes with every write that may concern them. */
function keyOf(asked: Asked, { topics }: CardListNeeds): string {
  const sorts = asked.order.key.split(',');
  const readsMore = asked.wide || sorts.some((sort) => Object.hasOwn(derivedSorts, sort));
  const versions = readsMore
    ? inventoryVersions(topics)
    : asked.types.map((type) => topics.get(`cards:${type}`) ?? 0);
  const { key, dir, field } = asked.order;
  return JSON.stringify([versions, whereClause(asked.where), asked.search, key, dir, field.sql, field.join]);
}

/** The number of cards, counted again only after a change to cards of the types concerned. */
async function cachedTotal(ctx: Ctx, asked: Asked, needs: CardListNeeds): Promise<number> {
  const key = keyOf({ ...asked, order: { key: '', dir: 'asc', field: list.sorts.name! } }, needs);
  return await needs.memory.totals.get(key, () =>
    withTimeLimit(ctx.db, (sql) => count({ sql, spec: list, where: asked.where })),
  );
}

/** All ids in order, queried again only after a change to the data that the list depends on. */
async function cachedIds(ctx: Ctx, asked: Asked, needs: CardListNeeds): Promise<OrderedIds> {
  const read = async (sql: Sql): Promise<OrderedIds> => {
    const { search, order, where } = asked;
    if (search === undefined) return await orderIds(sql, where, order);
    const found = await searchCards({ sql, where, plain: asked.plain, text: search });
    if (order.key === RELEVANCE) {
      return packIds(order.dir === 'desc' ? found.ids : found.ids.toReversed(), found.more);
    }
    const matches = fragment`c.id = any(${found.ids}::uuid[])`;
    return { ...(await orderIds(sql, [matches], order)), more: found.more };
  };
  return await needs.memory.ids.get(keyOf(asked, needs), () => withTimeLimit(ctx.db, read));
}

async function pageByCursor(
  ctx: Ctx,
  asked: Asked,
  params: ListParams,
  needs: CardListNeeds,
): Promise<JsonText> {
  const members = listedMembers(ctx, params.fields);
  const starts = params.cursor === '' && asked.search !== undefined;
  const found = starts ? await cachedIds(ctx, asked, needs) : undefined;
  const asList = {
    owner: ctx.caller.userId,
    spec: { ...list, members },
    where: asked.where,
    order: asked.order,
    item: projection(members, params.fields),
    params,
    options: {
      asked: [asked.search, asked.where],
      ...(found
        ? { ids: idsQuery(found) }
        : readsAllIds(asked.order) && { ids: numberedIds(asked.where, asked.order) }),
    },
  };
  const answer = await withTimeLimit(ctx.db, (sql) => listByCursor({ ...asList, sql }));
  return found ? `${answer.slice(0, -1)}${moreMember(found.more)}}` : answer;
}

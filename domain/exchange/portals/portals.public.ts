import { EstateError, invalidField } from '../../../platform/errors.ts';
import { createSemaphore } from '../../../platform/semaphore.ts';
import { byAddress, throttle } from '../../access/access.throttle.ts';
import { cardsTopic } from '../../inventory/cards/cards.events.ts';
import { createIdCache, idCount, orderIds, sliceIds } from '../../inventory/cards/cards.list.ids.ts';
import { relationsTopic } from '../../inventory/relations/relations.save.ts';
import type { Ctx } from '../../kernel/context.ts';
import { count } from '../../kernel/lists/lists.run.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { createResultCache } from '../../kernel/lists/result.cache.ts';
import { orderOf, pageIds, queryConditions, shownText } from './portals.cards.ts';
import { definePortal } from './portals.definition.ts';
import { PORTALS_TOPIC, type PortalRow } from './portals.model.ts';
import { listFewOptions, type OptionsQuery, optionRelations, optionsPage } from './portals.options.ts';
import { type CheckedQuery, MAX_PAGED, type PortalQuery, readQuery } from './portals.query.ts';
import { resolveShown, type Shown, sortedAttribute } from './portals.rules.ts';
import { asReader, createPortalStore } from './portals.store.ts';

/** The caller, the address, and the topic versions of the request. */
interface PortalVisit {
  ctx: Ctx;
  /** The topic versions, read after the request arrived: the response is at least as recent. */
  topics: ReadonlyMap<string, number>;
  /** The network address, which is rate limited. */
  address: string;
}

/** A portal in its current form. */
export interface OpenPortal {
  /** Whether search engines may index it. */
  indexed: boolean;
  /** Its public definition. */
  definition(): Promise<JsonText>;
  /** A page of its cards. @throws EstateError 422 for a filter or sort that it does not offer. */
  cards(query: PortalQuery): Promise<JsonText>;
  /** A page of the cards to which its cards are related. @throws EstateError 422 for a relation that it does not show. */
  options(query: OptionsQuery): Promise<JsonText>;
  /** The options of one relation type; empty if there are more than `most`. */
  choices(relation: string, most: number): Promise<JsonText>;
}

/** The published portals, with responses cached until the data that they show changes. */
export interface PublicPortals {
  /**
   * Opens a portal for one request, which is counted for the address whether or not the portal exists.
   * @throws EstateError `too_many_requests`; `not_found`, also for a draft and for a portal whose type is hidden.
   */
  open(visit: PortalVisit, slug: string): Promise<OpenPortal>;
}

/** Limits of the caches of one process. */
const ANSWERS_BYTES = 16 * 1024 * 1024;
const TOTALS_BYTES = 4 * 1024 * 1024;
/** Maximum number of concurrent computations for the public in a process; the other connections are reserved for users. */
const CONCURRENCY = 3;

export function createPublicPortals(): PublicPortals {
  const store = createPortalStore();
  const answers = createResultCache<string>(ANSWERS_BYTES, (text) => 2 * text.length);
  const totals = createResultCache<number>(TOTALS_BYTES, () => 8);
  const orders = createIdCache();
  const limited = createSemaphore(CONCURRENCY);

  /** The ids of one page, and the total. An order that no index provides is computed once for all pages. */
  async function found(ctx: Ctx, row: PortalRow, shown: Shown, asked: CheckedQuery, state: unknown) {
    const where = await queryConditions(ctx, row, shown, asked);
    const order = orderOf(ctx, shown, asked);
    const { page, size, sort, dir, ...cards } = asked;
    if (asked.search !== '' || sortedAttribute(sort) !== undefined) {
      const key = JSON.stringify([state, cards, sort, dir]);
      const all = await orders.get(key, () => orderIds(ctx.db, where, order));
      return { ids: sliceIds(all, (page - 1) * size, size), total: idCount(all) };
    }
    const spec = { from: 'cards c' };
    const key = JSON.stringify([state, cards]);
    const total = await totals.get(key, () => count({ sql: ctx.db, spec, where }));
    const ids = (page - 1) * size < total ? await pageIds(ctx.db, where, order, asked) : [];
    return { ids, total };
  }

  return {
    async open({ ctx: caller, topics, address }, slug) {
      await throttle(caller.db, 'portal', [byAddress(address)]);
      const version = topics.get(PORTALS_TOPIC) ?? 0;
      const row = await store.find(caller.db, slug, version);
      const shown = row && resolveShown(caller.metamodel, row);
      if (!row || !shown) throw new EstateError('not_found', 'There is no web portal at this address.');
      const ctx = asReader(caller);
      const state = stateOf(ctx, version, row, shown, topics);
      const keep = (asked: unknown, make: () => Promise<string>) =>
        answers.get(JSON.stringify([state, asked]), () => limited(make));
      return {
        indexed: row.card_config.indexed ?? false,
        definition: () => keep('definition', async () => JSON.stringify(await definePortal(ctx, row, shown))),
        async cards(query) {
          const asked = readQuery(shown, row.card_config, query);
          return await keep(asked, async () => {
            const { ids, total } = await found(ctx, row, shown, asked, state);
            const items = ids.length === 0 ? '[]' : await shownText(ctx, shown, ids);
            return `{"items":${items},"total":${total},"page":${asked.page},"page_size":${asked.size}}`;
          });
        },
        async options(query) {
          const relations = optionRelations(shown, query.type_key);
          const { search, page, page_size } = query;
          if (page * page_size > MAX_PAGED) {
            throw invalidField(
              'page',
              'too_deep',
              `only the first ${MAX_PAGED} can be paged through: search`,
            );
          }
          const keys = relations.map(({ type }) => type.key);
          return await keep(['options', keys, search?.trim() ?? '', page, page_size], () =>
            optionsPage(ctx, row, relations, query),
          );
        },
        choices(relation, most) {
          const relations = optionRelations(shown, relation);
          return keep(['choices', relation, most], () => listFewOptions(ctx, row, relations, most));
        },
      };
    },
  };
}

/** The part of the cache key that depends on the data: it changes whenever the data of a response may have changed. */
function stateOf(
  ctx: Ctx,
  version: number,
  row: PortalRow,
  shown: Shown,
  topics: PortalVisit['topics'],
): unknown {
  // A filter may refer to any data.
  if (row.filters.filter !== undefined) return [row.id, version, ctx.metamodel.version, ...topics];
  const related = [...shown.relations.values()].flatMap(({ type, other }) => [
    relationsTopic(type.key),
    cardsTopic(other),
  ]);
  const versions = [cardsTopic(row.card_type), ...related].map((topic) => topics.get(topic) ?? 0);
  return [row.id, version, ctx.metamodel.version, ...versions];
}

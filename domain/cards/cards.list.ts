import type { Ctx } from '../context.ts';
import { createKept, type Kept } from '../lists/lists.kept.ts';
import { count, runList } from '../lists/lists.run.ts';
import { clause } from '../lists/lists.sql.ts';
import type { Condition, JsonText, ListParams, ListSpec } from '../lists/lists.types.ts';
import { type CardFilter, cardFilter } from './cards.list.filter.ts';
import { attributeSort, cardSorts } from './cards.list.sort.ts';
import { cardMembers } from './cards.projection.ts';
import { visibleCards } from './cards.visible.ts';

/** What a process keeps between lists of cards; one object per process. */
export interface CardListMemory {
  totals: Kept<number>;
}

const KEPT_TOTALS = 5000;

export function createCardListMemory(): CardListMemory {
  return { totals: createKept(KEPT_TOTALS, () => 1) };
}

/** What a list of cards needs besides its request. */
export interface CardListNeeds {
  /** Versions of the topics as they were after the request arrived. */
  topics: ReadonlyMap<string, number>;
  memory: CardListMemory;
}

const list: ListSpec = {
  name: 'cards',
  from: 'cards c',
  id: 'c.id',
  idType: 'uuid',
  sorts: cardSorts,
  defaultSort: 'name',
  defaultDir: 'asc',
  members: {},
  search: "c.name_key || ' ' || fold(coalesce(c.alias, '') || ' ' || coalesce(c.external_id, ''))",
};

/** The cards that the caller sees and asks for. */
export async function listCards(
  ctx: Ctx,
  params: ListParams & CardFilter,
  needs: CardListNeeds,
): Promise<JsonText> {
  const filter = cardFilter(ctx, params);
  return await runCardList(ctx, filter.conditions, filter.types, params, needs);
}

/** The cards that the caller has created, active or archived. */
export async function listMyCreatedCards(
  ctx: Ctx,
  params: ListParams,
  needs: CardListNeeds,
): Promise<JsonText> {
  const mine: Condition = { sql: 'c.created_by = ?::uuid', bindings: [ctx.caller.userId] };
  return await runCardList(ctx, [mine], undefined, params, needs);
}

async function runCardList(
  ctx: Ctx,
  conditions: Condition[],
  types: string[] | undefined,
  params: ListParams,
  needs: CardListNeeds,
): Promise<JsonText> {
  const where = [visibleCards(ctx), ...conditions];
  const shown = types ?? ctx.metamodel.visibleTypes;
  const sort = params.sort_by === undefined ? undefined : attributeSort(ctx, params.sort_by, shown);
  const spec: ListSpec = {
    ...list,
    members: cardMembers(ctx),
    sorts: sort ? { ...cardSorts, [params.sort_by!]: sort } : cardSorts,
  };
  return await runList(ctx.db, spec, where, params, {
    owner: ctx.caller.userId,
    ...(params.search ? {} : { total: () => keptTotal(ctx, where, shown, needs) }),
  });
}

/** The number of cards, counted again only after a change to cards of the types concerned. */
async function keptTotal(
  ctx: Ctx,
  where: Condition[],
  types: string[],
  { topics, memory }: CardListNeeds,
): Promise<number> {
  const key = JSON.stringify([types.map((type) => topics.get(`cards:${type}`) ?? 0), clause(where)]);
  return await memory.totals.get(key, () => count({ sql: ctx.db, spec: list, where }));
}

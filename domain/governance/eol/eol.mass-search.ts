import type { Sql } from '../../../platform/database.ts';
import { invalidField } from '../../../platform/errors.ts';
import { visibleCards } from '../../inventory/cards/cards.visible.ts';
import type { Ctx } from '../../kernel/context.ts';
import { runList } from '../../kernel/lists/lists.run.ts';
import type { Condition, JsonText, ListParams, ListSpec } from '../../kernel/lists/lists.types.ts';
import { EOL_CYCLE, EOL_PRODUCT } from '../../kernel/metamodel/eol.fields.ts';
import type { CardType, Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { loadMatcher } from './eol.lists.ts';
import type { Matcher } from './eol.match.ts';

/** Products proposed for one card. */
const MOST_CANDIDATES = 5;
const LEAST_SCORE = 0.5;
/** How far below the best of a card a candidate may be: what is a match by far leaves no doubt. */
const NEAR_BEST = 0.2;
/** The type whose cards are makers, and what is known of a card under its maker's name. */
const MAKER_TYPE = 'Provider';

export interface MassSearch extends ListParams {
  type_key: string;
  /** Only cards that are linked to no product. */
  unlinked_only: boolean;
}

interface Item {
  card_id: string;
  card_name: string;
  card_type: string;
  candidates: unknown[];
}

const cardList: ListSpec = {
  name: 'eol-mass-search',
  from: 'cards c',
  id: 'c.id',
  idType: 'uuid',
  sorts: {
    name: { sql: 'c.name', type: 'text', filled: true },
    created_at: { sql: 'c.created_at', type: 'timestamptz', immutable: true },
  },
  defaultSort: 'name',
  defaultDir: 'asc',
  members: {
    card_id: 'c.id',
    card_name: 'c.name',
    card_type: 'c.type',
    current_eol_product: `c.attributes ->> '${EOL_PRODUCT}'`,
    current_eol_cycle: `c.attributes ->> '${EOL_CYCLE}'`,
    candidates: `'[]'::json`,
  },
  search: 'search_text(c.name_key, c.alias, c.external_id)',
};

/** The type, whose cards can be linked to products. @throws EstateError `validation_failed` naming `field`. */
function linkedType(metamodel: Metamodel, key: string, field: string): CardType {
  const type = metamodel.cardTypes.get(key);
  if (!type || type.is_hidden) throw invalidField(field, 'unknown_type', 'is no card type');
  if (!type.fields.has(EOL_PRODUCT) || !type.fields.has(EOL_CYCLE)) {
    throw invalidField(field, 'not_linked', 'is a type whose cards are linked to no products');
  }
  return type;
}

/**
 * The active cards of a type, each with the products that it may be, the likeliest first: by its name, its alias, and
 * its name behind that of its maker.
 * @throws EstateError `forbidden`, `validation_failed`.
 */
export async function massSearch(ctx: Ctx, params: MassSearch): Promise<JsonText> {
  requirePermission(ctx.caller, 'eol.manage');
  const { type_key, unlinked_only, ...list } = params;
  const type = linkedType(ctx.metamodel, type_key, 'type_key');
  const conditions: Condition[] = [
    visibleCards(ctx),
    { sql: `c.status = 'ACTIVE' and c.type = ?`, bindings: [type.key] },
  ];
  if (unlinked_only) {
    conditions.push({ sql: `coalesce(c.attributes ->> '${EOL_PRODUCT}', '') = ''`, bindings: [] });
  }
  const answer = JSON.parse(
    await runList(ctx.db, cardList, conditions, { ...list, fields: undefined } as ListParams, {
      owner: ctx.caller.userId,
    }),
  ) as { items: Item[] };
  const matcher = await loadMatcher(ctx.db);
  const texts = await textsOf(ctx.db, ctx, answer.items);
  for (const item of answer.items) item.candidates = candidatesOf(item, texts.get(item.card_id)!, matcher);
  return JSON.stringify({ ...answer, items: cutTo(answer.items, list.fields) });
}

/** What a card goes by. */
interface CardTexts {
  alias: string | null;
  version: string | null;
  makers: string[];
}

async function textsOf(sql: Sql, ctx: Ctx, items: Item[]): Promise<Map<string, CardTexts>> {
  const seen = visibleCards(ctx);
  const { rows } = await sql.raw(
    `select k.id, k.alias, k.attributes ->> 'version' as version,
       array(select distinct c.name from relations r join cards c on c.id = r.source_id
             where r.target_id = k.id and c.type = ? and c.status = 'ACTIVE' and r.type = any(?::text[])
               and (${seen.sql}) order by c.name limit 3) as makers
     from cards k where k.id = any(?::uuid[])`,
    [
      MAKER_TYPE,
      ctx.metamodel.visibleRelationTypes,
      ...seen.bindings,
      items.map(({ card_id }) => card_id),
    ] as never,
  );
  return new Map(rows.map(({ id, ...texts }: CardTexts & { id: string }) => [id, texts]));
}

function candidatesOf({ card_id, card_name, card_type }: Item, texts: CardTexts, matcher: Matcher) {
  const { alias, version, makers } = texts;
  const names = [card_name, ...(alias ? [alias] : []), ...makers.map((maker) => `${maker} ${card_name}`)];
  const best = new Map<string, number>();
  for (const text of names) {
    for (const { name, score } of matcher.find(text, MOST_CANDIDATES, LEAST_SCORE)) {
      best.set(name, Math.max(score, best.get(name) ?? 0));
    }
  }
  const least = Math.max(0, ...best.values()) - NEAR_BEST;
  return [...best]
    .filter(([, score]) => score >= least)
    .sort(([a, first], [b, second]) => second - first || (a < b ? -1 : 1))
    .slice(0, MOST_CANDIDATES)
    .map(([eol_product, score]) => ({
      card_id,
      card_name,
      card_type,
      eol_product,
      eol_cycle:
        [version, card_name, alias]
          .map((text) => text && matcher.cycleIn(text, eol_product))
          .find((cycle) => cycle) ?? null,
      score,
    }));
}

/** The items with the asked members only. @throws EstateError naming an unknown one. */
function cutTo(items: Item[], fields: string | undefined): object[] {
  if (fields === undefined) return items;
  const names = fields.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !Object.hasOwn(cardList.members, name));
  if (unknown !== undefined) {
    throw invalidField('fields', 'unknown_field', `"${unknown}" is no member of the items`);
  }
  return items.map((item) =>
    Object.fromEntries(names.map((name) => [name, (item as unknown as Record<string, unknown>)[name]])),
  );
}

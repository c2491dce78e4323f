import Type, { type Static } from 'typebox';
import { embed, fragment, query, type Sql } from '../../../platform/database.ts';
import { type ErrorCode, invalidField } from '../../../platform/errors.ts';
import { loadCards, lockCards, type StoredCard, typeOf } from '../../inventory/cards/cards.load.ts';
import { visibleCards } from '../../inventory/cards/cards.projection.ts';
import { type CardWrite, saveCards, withDerivedValues } from '../../inventory/cards/cards.save.ts';
import { EDIT } from '../../inventory/cards/cards.write.ts';
import { patchedValues } from '../../inventory/cards/rules/merge.ts';
import { validateCardInput } from '../../inventory/cards/rules/values.ts';
import { commandWith } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { runList } from '../../kernel/lists/lists.run.ts';
import type { Condition, JsonText, ListParams, ListSpec } from '../../kernel/lists/lists.types.ts';
import { EOL_CYCLE, EOL_PRODUCT } from '../../kernel/metamodel/eol.fields.ts';
import type { CardType, Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import { mayOnCard, requirePermission } from '../../kernel/permissions/policy.ts';
import { component, object, Uuid } from '../../kernel/shapes.ts';
import { loadMatcher } from './eol.lists.ts';
import type { Matcher } from './eol.match.ts';

/** Why a link was not created. */
type EolLinkErrorCode = ErrorCode | 'duplicate' | 'unknown_product' | 'unknown_cycle' | 'not_linked';

const MAX_LINKS = 10_000;

export const MassLinkBody = Type.Array(
  object({
    card_id: Uuid,
    eol_product: Type.String({ minLength: 1, maxLength: 100 }),
    eol_cycle: Type.String({ minLength: 1, maxLength: 100 }),
  }),
  { minItems: 1, maxItems: MAX_LINKS },
);

export const MassLinkResultSchema = component('MassEolLinkResult', {
  dry_run: Type.Boolean(),
  linked: Type.Integer({ minimum: 0, description: 'Cards that have the requested link' }),
  unchanged: Type.Integer({ minimum: 0, description: 'Those of them that had it before' }),
  errors: Type.Array(
    object({
      row_index: Type.Integer({ minimum: 0, description: 'The index in the request, from 0' }),
      card_id: Uuid,
      code: Type.Unsafe<EolLinkErrorCode>(Type.String({ examples: ['unknown_cycle'] })),
      message: Type.String(),
    }),
  ),
});
type EolLink = Static<typeof MassLinkBody>[number];
type MassLinkResult = Static<typeof MassLinkResultSchema>;

class Refused extends Error {
  readonly code: EolLinkErrorCode;
  constructor(code: EolLinkErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Links cards to release cycles of products, by the rules of a change of these attributes, in a fixed number of
 * statements. A row that is refused stops no other.
 * @throws EstateError `forbidden` without `eol.manage`.
 */
export async function massLink(ctx: Ctx, links: EolLink[], dryRun: boolean): Promise<MassLinkResult> {
  requirePermission(ctx.caller, 'eol.manage');
  const rows = links.map((link) => ({ ...link, card_id: link.card_id.toLowerCase() }));
  return await commandWith(ctx, { dryRun }, async (work) => {
    const wanted = [...new Set(rows.map(({ card_id }) => card_id))];
    await lockCards(work, wanted);
    const cards = await loadCards(work, ctx, wanted);
    const known = await knownCycles(work.sql, rows);
    const seen = new Set<string>();
    const writes: CardWrite[] = [];
    const errors: MassLinkResult['errors'] = [];
    for (const [row_index, row] of rows.entries()) {
      try {
        if (seen.has(row.card_id)) throw new Refused('duplicate', 'An earlier row links the same card.');
        seen.add(row.card_id);
        writes.push(linkedCard(work, ctx, cards.get(row.card_id), row, known));
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        errors.push({ row_index, card_id: row.card_id, code: error.code, message: error.message });
      }
    }
    const saved = await saveCards(work, ctx, writes);
    return { dry_run: dryRun, linked: writes.length, unchanged: writes.length - saved.length, errors };
  });
}

function linkedCard(
  work: Work,
  ctx: Ctx,
  before: StoredCard | undefined,
  { card_id, eol_product, eol_cycle }: EolLink,
  known: ReadonlyMap<string, ReadonlySet<string>>,
): CardWrite {
  if (!before) throw new Refused('not_found', `There is no card ${card_id}.`);
  if (!mayOnCard(ctx, EDIT, before)) throw new Refused('forbidden', `You need the permission ${EDIT.app}.`);
  const type = typeOf(work.metamodel, before);
  if (!type.fields.has(EOL_PRODUCT) || !type.fields.has(EOL_CYCLE)) {
    throw new Refused('not_linked', `Cards of the type ${type.key} are linked to no products.`);
  }
  const cycles = known.get(eol_product);
  if (!cycles) throw new Refused('unknown_product', `There is no product ${eol_product}.`);
  if (!cycles.has(eol_cycle)) throw new Refused('unknown_cycle', `${eol_product} has no cycle ${eol_cycle}.`);
  const input = { attributes: { [EOL_PRODUCT]: eol_product, [EOL_CYCLE]: eol_cycle } };
  const invalid = validateCardInput(work.metamodel, type.key, input, { stored: before.attributes });
  if (invalid[0]) throw new Refused('validation_failed', `${invalid[0].field} ${invalid[0].message}.`);
  const after: StoredCard = { ...before, ...patchedValues(before, input, []) };
  return { before, after: withDerivedValues(type, before, after) };
}

/** The cycles of the products that are named. */
async function knownCycles(sql: Sql, links: EolLink[]): Promise<Map<string, ReadonlySet<string>>> {
  const names = [...new Set(links.map(({ eol_product }) => eol_product))];
  const rows = await query(sql).rows<{ name: string; cycles: string[] }>`select p.name, array(select y.cycle
    from eol_cycles y where y.product = p.name) as cycles
     from eol_products p where p.name = any(${names}::text[])`;
  return new Map(rows.map(({ name, cycles }) => [name, new Set(cycles)]));
}

/** Products proposed for one card. */
const MOST_CANDIDATES = 5;
const LEAST_SCORE = 0.5;
/** How far below the best candidate of a card another candidate may be: a clear match has no alternatives. */
const NEAR_BEST = 0.2;
/** The card type of makers, and the products of a maker. */
const MAKER_TYPE = 'Provider';

interface MassSearch extends ListParams {
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
  sorts: {
    name: { sql: 'c.name', type: 'text', filled: true },
    created_at: { sql: 'c.created_at', type: 'timestamptz', immutable: true },
  },
  defaultSort: 'name',
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
  const conditions: Condition[] = [visibleCards(ctx), fragment`c.status = 'ACTIVE' and c.type = ${type.key}`];
  if (unlinked_only) conditions.push(fragment`coalesce(c.attributes ->> '${embed(EOL_PRODUCT)}', '') = ''`);
  const page = JSON.parse(
    await runList(ctx, cardList, conditions, { ...list, fields: undefined } as ListParams),
  ) as { items: Item[] };
  const matcher = await loadMatcher(ctx.db);
  const texts = await textsOf(ctx.db, ctx, page.items);
  for (const item of page.items) item.candidates = candidatesOf(item, texts.get(item.card_id)!, matcher);
  return JSON.stringify({ ...page, items: cutTo(page.items, list.fields) });
}

/** The texts by which a card is matched. */
interface CardTexts {
  alias: string | null;
  version: string | null;
  makers: string[];
}

async function textsOf(sql: Sql, ctx: Ctx, items: Item[]): Promise<Map<string, CardTexts>> {
  const rows = await query(sql).rows<CardTexts & { id: string }>`select k.id, k.alias,
    k.attributes ->> 'version' as version,
       array(select distinct c.name from relations r join cards c on c.id = r.source_id
             where r.target_id = k.id and c.type = ${MAKER_TYPE} and c.status = 'ACTIVE'
             and r.type = any(${ctx.metamodel.visibleRelationTypes}::text[])
               and (${embed(visibleCards(ctx))}) order by c.name limit 3) as makers
     from cards k where k.id = any(${items.map(({ card_id }) => card_id)}::uuid[])`;
  return new Map(rows.map(({ id, ...texts }) => [id, texts]));
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

/** The items with the requested members only. @throws EstateError naming an unknown one. */
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

import { embed, query, type Sql } from '../../../platform/database.ts';
import { costsOfCard } from '../../inventory/cards/cards.projection.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import { may } from '../../kernel/permissions/policy.ts';
import type { NamedSupplier, SupplierKind } from './suppliers.types.ts';

/** The card type of suppliers. */
const SUPPLIER_TYPE = 'Provider';
/** The card types that have suppliers. */
const SUPPLIED_TYPES: readonly string[] = ['Application', 'ITComponent'];
/** Patterns of keys and labels of attributes that name the supplier of a card. */
const NAMES_SUPPLIER =
  /^(?:software|hardware|service|application|product)?(?:vendor|supplier|provider|manufacturer|publisher|maker|hersteller|lieferant|anbieter|fournisseur|editeur|fabricant|proveedor|fabricante|fornitore|produttore|leverancier|fornecedor)(?:name)?$/;
/** Values that mean no supplier, or several. */
const NOBODY =
  '^\\W*(n/?a|none|no|unknown|tbd|various|diverse|internal|in-?house|self|own|unbekannt|keine[rs]?|intern|eigen\\w*|inconnu|aucun)?\\W*$';
const LONGEST_NAME = 200;

/** The named suppliers and the cards that they supply. */
export interface NamedSuppliers {
  named: NamedSupplier[];
  /** The beginning of the descriptions of supplier cards, by card id. */
  descriptions: Map<string, string>;
  /** The supplied cards; `by` are indexes in `named`. */
  supplied: Map<string, number[]>;
}

/**
 * Reads the active cards of suppliers, their related cards, and attributes of other cards that name their suppliers.
 * @param sql a transaction with a single snapshot.
 */
export async function readNamedSuppliers(sql: Sql, metamodel: Metamodel): Promise<NamedSuppliers> {
  const types = SUPPLIED_TYPES.filter((type) => metamodel.visibleTypes.includes(type));
  const said: NamedSuppliers = { named: [], descriptions: new Map(), supplied: new Map() };
  const byCard = new Map<string, number>();
  if (metamodel.visibleTypes.includes(SUPPLIER_TYPE)) {
    for (const card of await supplierCards(sql)) {
      byCard.set(card.id, said.named.length);
      if (card.description) said.descriptions.set(card.id, card.description);
      said.named.push({
        name: card.name,
        card: card.id,
        aliases: (card.alias ?? '').split(/[;,|/\n]/).flatMap((alias) => alias.trim() || []),
        host: hostOf(card.website),
        kind: kindOf(card.kind),
        supplied: 0,
      });
    }
  }
  const add = (card: string, by: number) => {
    const known = said.supplied.get(card);
    if (known?.includes(by)) return;
    if (known) known.push(by);
    else said.supplied.set(card, [by]);
    said.named[by]!.supplied++;
  };
  for (const { supplier, card } of await relatedCards(sql, metamodel, types)) {
    const by = byCard.get(supplier);
    if (by !== undefined) add(card, by);
  }
  const byName = new Map<string, number>();
  for (const { card, name } of await namedInAttributes(sql, metamodel, types)) {
    let by = byName.get(name);
    if (by === undefined) {
      by = said.named.length;
      byName.set(name, by);
      said.named.push({ name, card: null, aliases: [], host: null, kind: 'vendor', supplied: 0 });
    }
    add(card, by);
  }
  return said;
}

interface SupplierCard {
  id: string;
  name: string;
  alias: string | null;
  website: string | null;
  kind: string | null;
  description: string | null;
}

async function supplierCards(sql: Sql): Promise<SupplierCard[]> {
  return await query(sql).rows`select c.id, c.name, c.alias, c.attributes ->> 'website' as website,
    c.attributes ->> 'providerType' as kind,
       left(c.description, 1000) as description
     from cards c where c.type = ${SUPPLIER_TYPE} and c.status = 'ACTIVE' order by c.id`;
}

async function relatedCards(
  sql: Sql,
  { visibleRelationTypes, relationTypes }: Metamodel,
  types: readonly string[],
): Promise<{ supplier: string; card: string }[]> {
  const all = visibleRelationTypes.map((key) => relationTypes.get(key)!);
  const keys = (
    supplier: 'source_type_key' | 'target_type_key',
    other: 'source_type_key' | 'target_type_key',
  ) =>
    all
      .filter((type) => type[supplier] === SUPPLIER_TYPE && types.includes(type[other]))
      .map(({ key }) => key);
  return await query(sql).rows`select e.supplier, e.card from (
       select r.source_id as supplier, r.target_id as card from relations r
       where r.type = any(${keys('source_type_key', 'target_type_key')}::text[])
       union
       select r.target_id, r.source_id from relations r
       where r.type = any(${keys('target_type_key', 'source_type_key')}::text[])) e
     join cards c on c.id = e.card and c.status = 'ACTIVE'
     order by e.card, e.supplier`;
}

/** The attributes of a type whose key or label indicates that they name a supplier. */
function supplierAttributes(
  metamodel: Metamodel,
  type: string,
): { key: string; labels: ReadonlyMap<string, string> }[] {
  const plain = (text: string) =>
    text
      .normalize('NFKD')
      .toLowerCase()
      .replace(/[^a-z]/g, '');
  return [...metamodel.cardTypes.get(type)!.fields.values()]
    .filter(
      ({ key, label, type: kind }) =>
        (kind === 'text' || kind === 'single_select') &&
        (NAMES_SUPPLIER.test(plain(key)) || NAMES_SUPPLIER.test(plain(label))),
    )
    .map(({ key, optionLabels }) => ({ key, labels: optionLabels }));
}

async function namedInAttributes(
  sql: Sql,
  metamodel: Metamodel,
  types: readonly string[],
): Promise<{ card: string; name: string }[]> {
  const found: { card: string; name: string }[] = [];
  for (const type of types) {
    for (const { key, labels } of supplierAttributes(metamodel, type)) {
      const rows = await query(sql).rows`select c.id as card,
        left(c.attributes ->> ${key}, ${embed(LONGEST_NAME)}) as name from cards c
         where c.type = ${type} and c.status = 'ACTIVE' and jsonb_typeof(c.attributes -> ${key}) = 'string'
           and not c.attributes ->> ${key} ~* ${NOBODY}
         order by c.id`;
      for (const { card, name } of rows) found.push({ card, name: labels.get(name) ?? name });
    }
  }
  return found;
}

function kindOf(providerType: string | null): SupplierKind {
  if (providerType === 'partner') return 'partner';
  return providerType === 'internalProvider' ? 'internal' : 'vendor';
}

function hostOf(website: string | null): string | null {
  const address = website?.trim();
  if (!address) return null;
  try {
    const { hostname } = new URL(/^[a-z][a-z0-9+.-]*:/i.test(address) ? address : `https://${address}`);
    return hostname.replace(/^www\./, '').toLowerCase() || null;
  } catch {
    return null;
  }
}

/** The supplier attributes of a card. */
export interface SuppliedCard {
  id: string;
  name: string;
  description: string | null;
  subtype: string | null;
  product: string | null;
  categories: string[];
}

/** Reads some of the supplied cards; long descriptions are truncated. */
export async function readSupplied(
  sql: Sql,
  metamodel: Metamodel,
  ids: readonly string[],
): Promise<SuppliedCard[]> {
  return await query(sql).rows`select c.id, c.name, c.subtype, left(c.description, 1000) as description,
       nullif(left(c.attributes ->> 'productName', ${embed(LONGEST_NAME)}), '') as product,
       array(select t.name from relations r join cards t on t.id = r.target_id
             where r.source_id = c.id and r.type = any(${metamodel.visibleRelationTypes.filter(
               (key) => metamodel.relationTypes.get(key)!.target_type_key === 'TechCategory',
             )}::text[]) and t.status = 'ACTIVE'
             order by t.name limit 5) as categories
     from cards c where c.id = any(${ids}::uuid[]) order by c.id`;
}

/** Options of `businessCriticality` of applications that are critical to the business. */
export const CRITICAL = `('missionCritical', 'businessCritical')`;

/** A card's share of costs, if `k.shared_by` suppliers share them; null for callers who may not see costs. */
export const shareOfCosts = (ctx: Ctx): string =>
  may(ctx.caller, 'costs.view')
    ? `${costsOfCard(ctx.metamodel, SUPPLIED_TYPES)} / k.shared_by`
    : 'null::numeric';

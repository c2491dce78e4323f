import { embed, fragment, joinFragments, query, type Sql } from '../../../platform/database.ts';
import { invalidField } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import { today } from '../../kernel/dates.ts';
import { withTimeLimit } from '../../kernel/lists/lists.limit.ts';
import { textLiteral, whereClause } from '../../kernel/lists/lists.sql.ts';
import type { Condition, Fragment, JsonText } from '../../kernel/lists/lists.types.ts';
import { createResultCache, type ResultCache } from '../../kernel/lists/result.cache.ts';
import { lifecyclePhases } from '../../kernel/metamodel/metamodel.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { parseFilter } from '../filters/filters.parser.ts';
import { prepareNode } from '../filters/filters.prepare.ts';
import type { FilterNode } from '../filters/filters.types.ts';
import {
  hasTwoTypes,
  pairedQuery,
  peoplePairs,
  relatedPairs,
  tagQuery,
  wholeRelationQuery,
} from './cards.facets.pairs.ts';
import { type CardFilter, cardFilter, type OwnedCondition } from './cards.filter.ts';
import { inventoryVersions } from './cards.list.ids.ts';
import { phaseRank } from './cards.phase.ts';
import { visibleCards } from './cards.projection.ts';
import { searchCards } from './cards.search.ts';

/** The values of a facet in a response, the most frequent first. */
const MAX_VALUES = 200;
const MAX_FACETS = 30;
const CACHE_BYTES = 8 * 1024 * 1024;

export interface FacetRequest extends CardFilter {
  filter?: string;
  search?: string;
  /** Comma-separated. */
  facets: string;
  /** Number fields that are added up, comma-separated. */
  numbers?: string;
}

/** A number field, as SQL over the alias `c` that is NULL without a value. */
interface NumberField {
  key: string;
  sql: Fragment;
}

/** What the values of a facet are read from. */
type Facet =
  | {
      key: string;
      /** `list`: JSON lists of values; `presence`: only whether there is a value. */
      kind: 'value' | 'list' | 'presence';
      /** NULL without a value, over the alias `c`. */
      sql: Fragment;
    }
  | { key: string; kind: 'tags' }
  | { key: string; kind: 'people' }
  | { key: string; kind: 'relation'; type: string };

export type FacetCache = ResultCache<JsonText>;

/** Creates a cache of facets that are valid until cards change. */
export function createFacetCache(): FacetCache {
  return createResultCache(CACHE_BYTES, (text) => text.length);
}

/**
 * The number of cards by value of each facet: of the cards that match all conditions of the request except those on
 * the facet itself. Conditions of the filter that are joined by `and` count as conditions on a facet if they only
 * name its field.
 * @param topics the versions read after the request arrived: facets are counted again only after a change.
 * @throws EstateError naming each parameter that is not valid, `forbidden` for relations and costs without permission.
 */
export async function countFacets(
  ctx: Ctx,
  params: FacetRequest,
  topics: ReadonlyMap<string, number>,
  kept: FacetCache,
): Promise<JsonText> {
  const facets = facetsOf(ctx, params.facets);
  const numbers = numbersOf(ctx, params.numbers);
  const { owned, plain, types } = cardFilter(ctx, params);
  owned.push(...(await filterConditions(ctx, params.filter)));
  const search = params.search?.trim() || undefined;
  const asked = owned.map(({ facet, condition }) => [facet, condition]);
  const key = JSON.stringify([
    inventoryVersions(topics),
    visibleCards(ctx),
    asked,
    search,
    today(),
    params.facets,
    params.numbers,
  ]);
  return await kept.get(key, async () => {
    const isPlain = plain && params.filter === undefined;
    const isWhole =
      isPlain && search === undefined && params.approval_status === undefined && isActiveOnly(params.status);
    return await withTimeLimit(ctx.db, (sql) =>
      count(sql, ctx, facets, { owned, search, plain: isPlain, isWhole, types, numbers }),
    );
  });
}

/** Whether a request selects the active cards, as it does by default. */
const isActiveOnly = (status = 'ACTIVE'): boolean => status.trim() === 'ACTIVE';

interface Counting {
  owned: OwnedCondition[];
  search: string | undefined;
  plain: boolean;
  /** Whether they are all active cards, or all of some types. */
  isWhole: boolean;
  /** Keys of the types that the cards are limited to. */
  types: string[] | undefined;
  numbers: NumberField[];
}

async function count(
  sql: Sql,
  ctx: Ctx,
  facets: Facet[],
  { owned, search, plain, isWhole, types, numbers }: Counting,
): Promise<JsonText> {
  const conditions: OwnedCondition[] = [{ condition: visibleCards(ctx) }, ...owned];
  if (search !== undefined) {
    const keys = new Set(facets.map(({ key }) => key));
    const where = conditions.filter(({ facet }) => !keys.has(facet ?? '')).map(({ condition }) => condition);
    const { ids } = await searchCards({ sql, where, plain, text: search });
    conditions.push({ condition: fragment`c.id = any(${ids}::uuid[])` });
  }
  const [text] = await query(sql)
    .column<JsonText>`${embed(facetsQuery(ctx, facets, conditions, { isWhole, types }))}`;
  if (numbers.length === 0) return text!;
  const where = conditions.map(({ condition }) => condition);
  const [figures] = await query(sql).column<JsonText>`${embed(numbersQuery(numbers, where))}`;
  return `${text!.slice(0, -1)},"numbers":${figures}}`;
}

/** How many of the cards have each number, its sum and its average. */
function numbersQuery(numbers: readonly NumberField[], where: Condition[]): Fragment {
  const columns = numbers.map(({ sql }, n) => fragment`${embed(sql)} as ${embed(`n${n}`)}`);
  const figures = numbers.map(
    ({ key }, n) => fragment`json_build_object('field', ${key}::text, 'count', count(${embed(`n${n}`)}),
      'sum', coalesce(sum(${embed(`n${n}`)}), 0), 'average', round(avg(${embed(`n${n}`)}), 2))`,
  );
  return fragment`select json_build_array(${embed(joinFragments(figures, ', '))})::text
    from (select ${embed(joinFragments(columns, ', '))} from cards c${embed(whereClause(where))}) numbers`;
}

/** @throws EstateError naming fields that have no numbers, `forbidden` for costs without `costs.view`. */
function numbersOf(ctx: Ctx, list = ''): NumberField[] {
  const names = [...new Set(list.split(',').map((name) => name.trim()))].filter(Boolean);
  if (names.length > MAX_FACETS)
    throw invalidField('numbers', 'count', `must be at most ${MAX_FACETS} names`);
  return names.map((key) => {
    if (key === 'data_quality') return { key, sql: fragment`c.data_quality::numeric` };
    const name = /^attributes\.(.+)$/s.exec(key)?.[1];
    const types = name === undefined ? [] : fieldsNamed(ctx, name).map(({ type }) => type);
    if (!types.some((type) => type === 'number' || type === 'cost'))
      throw invalidField('numbers', 'unknown_field', `"${key}" is no field with numbers`);
    if (types.includes('cost')) requirePermission(ctx.caller, 'costs.view');
    const value = `c.attributes -> ${textLiteral(name!)}`;
    return {
      key,
      sql: fragment`case jsonb_typeof(${embed(value)}) when 'number' then (${embed(value)})::numeric end`,
    };
  });
}

/** The fields with a key, of all visible types. */
const fieldsNamed = (ctx: Ctx, name: string) =>
  ctx.metamodel.visibleTypes.flatMap((type) => ctx.metamodel.cardTypes.get(type)!.fields.get(name) ?? []);

/** Columns that are counted together: their combinations are few, and each card is visited once. */
const COUNTED_AT_ONCE = 6;

/** Facets without conditions of their own are counted from the same cards, each other one by itself. */
function facetsQuery(
  ctx: Ctx,
  facets: Facet[],
  conditions: OwnedCondition[],
  { isWhole, types }: Pick<Counting, 'isWhole' | 'types'>,
): Fragment {
  const cardsWithout = (facet?: string) => {
    const others = conditions.filter((each) => facet === undefined || each.facet !== facet);
    return fragment`cards c${embed(whereClause(others.map(({ condition }) => condition)))}`;
  };
  const isOwner = ({ key }: Facet) => conditions.some(({ facet }) => facet === key);
  const column = (facet: Facet) => `f${facets.indexOf(facet)}`;
  const columnsOf = (some: Facet[]) =>
    some.flatMap((facet) =>
      'sql' in facet ? [fragment`${embed(facet.sql)} as ${embed(column(facet))}`] : [],
    );
  const common = facets.filter((facet) => !isOwner(facet));
  const plain = common.filter((facet) => 'sql' in facet);
  const tables: Fragment[] = [];
  // one group is counted without storing the cards
  const isDirect = plain.length === common.length && plain.length > 0 && plain.length <= COUNTED_AT_ONCE;
  // a single scan of an index costs less than storing the cards
  const isCountedWhole = (facet: Facet) => isWhole && 'type' in facet && hasTwoTypes(ctx, facet.type);
  const isAlone =
    common.length === 1 && common.every((facet) => facet.kind === 'tags' || isCountedWhole(facet));
  const isStored = !isDirect && !isAlone;
  if (isStored) {
    const selected = joinFragments([fragment`c.id`, ...columnsOf(common)], ', ');
    tables.push(fragment`base as materialized (select ${embed(selected)} from ${embed(cardsWithout())})`);
  }
  for (let n = 0; n < plain.length; n += COUNTED_AT_ONCE) {
    const group = plain.slice(n, n + COUNTED_AT_ONCE);
    const from = isDirect
      ? fragment`(select ${embed(joinFragments(columnsOf(group), ', '))} from ${embed(cardsWithout())}) base`
      : fragment`base`;
    const columns = group.map(column).join(', ');
    tables.push(fragment`${embed(`g${n / COUNTED_AT_ONCE}`)} as materialized (
      select ${embed(columns)}, count(*) as number from ${embed(from)} group by ${embed(columns)})`);
  }
  for (const [n, facet] of facets.entries()) {
    const groups = `g${Math.floor(plain.indexOf(facet as never) / COUNTED_AT_ONCE)}`;
    let values: Fragment;
    if ('sql' in facet) {
      const from = isOwner(facet)
        ? fragment`(select ${embed(facet.sql)} as value, count(*) as number from ${embed(cardsWithout(facet.key))} group by 1) v`
        : fragment`(select ${embed(column(facet))} as value, number from ${embed(groups)}) v`;
      values =
        facet.kind === 'list'
          ? fragment`select e.value, sum(v.number) as number from ${embed(from)}
              left join lateral jsonb_array_elements_text(v.value::jsonb) e (value) on true group by 1`
          : fragment`select ${embed(facet.key === PHASE ? `${PHASE_NAMES}[v.value]` : 'v.value')} as value,
              sum(v.number) as number from ${embed(from)} group by 1`;
    } else {
      const cards =
        isOwner(facet) || isAlone
          ? fragment`(select c.id from ${embed(cardsWithout(facet.key))})`
          : fragment`base`;
      values =
        facet.kind === 'tags'
          ? tagQuery(cards)
          : facet.kind === 'people'
            ? pairedQuery(peoplePairs(cards), cards)
            : isCountedWhole(facet)
              ? wholeRelationQuery(ctx, facet.type, cards, types)
              : pairedQuery(relatedPairs(ctx, facet.type, cards, types), cards);
    }
    tables.push(fragment`${embed(`v${n}`)} as materialized (${embed(values)})`);
  }
  const items = facets.map((facet, n) => itemQuery(facet, `v${n}`));
  const total = isDirect
    ? fragment`coalesce(sum(number), 0) from g0`
    : fragment`count(*) from ${embed(isStored ? fragment`base` : cardsWithout())}`;
  return fragment`with ${embed(joinFragments(tables, ', '))}
    select json_build_object('total', (select ${embed(total)}),
      'facets', json_build_array(${embed(joinFragments(items, ', '))}))::text`;
}

function itemQuery(facet: Facet, values: string): Fragment {
  const label =
    facet.kind === 'tags'
      ? `(select json_build_object('label', t.name, 'group', g.name) from tags t join tag_groups g on g.id = t.tag_group_id
          where t.id = v.value)`
      : facet.kind === 'relation'
        ? `(select json_build_object('label', o.name, 'group', o.type) from cards o where o.id = v.value)`
        : facet.kind === 'people'
          ? `(select json_build_object('label', u.display_name) from users u where u.id = v.value)`
          : 'null::json';
  const shown =
    facet.kind === 'presence'
      ? `'[]'::json`
      : `(select coalesce(json_agg(json_build_object('value', v.value, 'count', v.number, 'label', v.named ->> 'label',
            'group', v.named ->> 'group') order by v.number desc, v.value), '[]')
          from (select v.value, v.number, ${label} as named from ${values} v where v.value is not null
                order by v.number desc, v.value limit ${MAX_VALUES}) v)`;
  return fragment`json_build_object('facet', ${facet.key}::text, 'values', ${embed(shown)},
    'value_count', ${embed(facet.kind === 'presence' ? 'null::int' : `(select count(value) from ${values})`)},
    'without', (select coalesce(sum(number), 0) from ${embed(values)} where value is null))`;
}

const PHASE = 'lifecycle_phase';
const PEOPLE = 'stakeholder';
const PHASE_NAMES = `(array[${lifecyclePhases.map(textLiteral).join(', ')}])`;

const QUALITY = `case when c.data_quality >= 80 then '80' when c.data_quality >= 50 then '50' else '0' end`;

/** The facets by name besides those of attributes and relations. */
const plainFacets: Record<string, () => Fragment> = {
  type: () => fragment`c.type`,
  subtype: () => fragment`nullif(c.subtype, '')`,
  status: () => fragment`c.status`,
  approval_status: () => fragment`c.approval_status`,
  data_quality: () => fragment`${embed(QUALITY)}`,
  // Integers are grouped in half the time of texts.
  [PHASE]: () => fragment`${embed(phaseRank('c.lifecycle', today()))}`,
};

/** @throws EstateError naming unknown facets, `forbidden` for those that the caller may not see. */
function facetsOf(ctx: Ctx, list: string): Facet[] {
  const names = [...new Set(list.split(',').map((name) => name.trim()))].filter(Boolean);
  if (names.length === 0 || names.length > MAX_FACETS)
    throw invalidField('facets', 'count', `must be 1 to ${MAX_FACETS} names`);
  return names.map((key): Facet => {
    const plain = Object.hasOwn(plainFacets, key) ? plainFacets[key] : undefined;
    if (plain) return { key, kind: 'value', sql: plain() };
    if (key === 'tags') return { key, kind: 'tags' };
    if (key === PEOPLE) {
      requirePermission(ctx.caller, 'stakeholders.view');
      return { key, kind: 'people' };
    }
    const [root, name = ''] = key.split(/\.(.*)/s);
    if (root === 'attributes') return attributeFacet(ctx, key, name);
    if (root !== 'relations' || !ctx.metamodel.visibleRelationTypes.includes(name)) throw unknownFacet(key);
    requirePermission(ctx.caller, 'relations.view');
    return { key, kind: 'relation', type: name };
  });
}

const unknownFacet = (key: string) => invalidField('facets', 'unknown_facet', `"${key}" is not known`);

function attributeFacet(ctx: Ctx, key: string, name: string): Facet {
  const fields = fieldsNamed(ctx, name);
  if (fields.length === 0) throw unknownFacet(key);
  const types = new Set(fields.map(({ type }) => type));
  if (types.has('cost')) requirePermission(ctx.caller, 'costs.view');
  const value = `c.attributes -> ${textLiteral(name)}`;
  const text = `nullif(c.attributes ->> ${textLiteral(name)}, '')`;
  const list = `case jsonb_typeof(${value}) when 'array' then nullif(${value}, '[]') when 'null' then null
      else jsonb_build_array(${value}) end::text`;
  if (types.has('multiple_select')) return { key, kind: 'list', sql: { sql: list, bindings: [] } };
  if (types.has('single_select') || types.has('boolean'))
    return { key, kind: 'value', sql: { sql: text, bindings: [] } };
  return { key, kind: 'presence', sql: { sql: `case when ${text} is not null then 'x' end`, bindings: [] } };
}

/** The conditions of the filter that are joined by `and`; those on one facet alone are on their own. */
async function filterConditions(ctx: Ctx, text: string | undefined): Promise<OwnedCondition[]> {
  const parsed = text === undefined ? null : parseFilter(text);
  if (!parsed) return [];
  // the whole filter is checked first, so that its errors are those of the list
  const whole = await prepareNode(ctx, parsed);
  const items = parsed.kind === 'and' ? parsed.items : [parsed];
  const facets = items.map((item) => {
    const [facet, ...others] = new Set(facetsIn(item));
    return others.length === 0 ? facet : undefined;
  });
  if (facets.every((facet) => facet === undefined)) return [{ condition: whole }];
  const rest = items.filter((_, n) => facets[n] === undefined);
  const owned: OwnedCondition[] = [];
  if (rest.length > 0) owned.push({ condition: await prepareNode(ctx, { kind: 'and', items: rest }) });
  for (const [n, item] of items.entries()) {
    const facet = facets[n];
    if (facet !== undefined) owned.push({ facet, condition: await prepareNode(ctx, item) });
  }
  return owned;
}

/** The facet of each condition; undefined for one on no facet. */
function facetsIn(node: FilterNode): (string | undefined)[] {
  if (node.kind === 'not') return facetsIn(node.item);
  if (node.kind !== 'condition') return node.items.flatMap(facetsIn);
  const [root, name] = node.path.map(({ text }) => text);
  if (root === PEOPLE && name === undefined) return [PEOPLE];
  if (root === 'attributes') return [`attributes.${name}`];
  if (root === 'relation') return [`relations.${name}`];
  if (root === 'lifecycle' || root === 'phase') return [PHASE];
  return root === 'tags' || Object.hasOwn(plainFacets, root!) ? [root] : [undefined];
}

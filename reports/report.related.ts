import { may } from '../domain/access/policy.ts';
import type { Ctx } from '../domain/context.ts';
import type { Fragment } from '../domain/lists/lists.types.ts';
import type { Sql } from '../platform/database.ts';
import { jsonLine, jsonText, literal } from './report.sql.ts';

/** A relation's attributes over the alias `r`, without costs unless the caller holds `costs.view`. */
export function relationAttributes(ctx: Ctx): string {
  if (may(ctx.caller, 'costs.view')) return 'r.attributes';
  const branches = [...ctx.metamodel.relationTypes.values()].flatMap(({ key, costKeys }) =>
    costKeys.length > 0
      ? [`when ${literal(key)} then r.attributes - array[${costKeys.map(literal).join(', ')}]`]
      : [],
  );
  return branches.length > 0 ? `case r.type ${branches.join(' ')} else r.attributes end` : 'r.attributes';
}

/** Relations of one type that lead from cards to others: which of their columns holds the card, which the other. */
export interface Way {
  relationType: string;
  near: 'source_id' | 'target_id';
  far: 'source_id' | 'target_id';
}

/** The ways from cards of a type to those of each other visible type, by that type. */
export function waysFrom(ctx: Ctx, type: string): Map<string, Way[]> {
  const ways = new Map<string, Way[]>();
  const add = (other: string, way: Way) => {
    if (ctx.metamodel.visibleTypes.includes(other)) ways.set(other, [...(ways.get(other) ?? []), way]);
  };
  for (const relationType of ctx.metamodel.visibleRelationTypes) {
    const { source_type_key, target_type_key } = ctx.metamodel.relationTypes.get(relationType)!;
    if (source_type_key === type) add(target_type_key, { relationType, near: 'source_id', far: 'target_id' });
    if (target_type_key === type) add(source_type_key, { relationType, near: 'target_id', far: 'source_id' });
  }
  return ways;
}

/** Ids of the visible cards of a type, as a condition on a column that each process of the database works out once. */
const among = (column: string, type: string, visible: Fragment): Fragment => ({
  sql: `(${column} in (select c.id from cards c where c.type = ${literal(type)} and ${visible.sql})) is true`,
  bindings: visible.bindings,
});

/** The others of one type by card, `(card_id, ids)`; `ids` are in order, with `","` between them. */
export function idsOfType(type: string, ways: Way[], visible: Fragment): Fragment {
  const ids = (far: string) => `string_agg(${far}::text, '","' order by ${far}) as ids`;
  const [first, ...more] = ways.map((way) => ({ ...way, seen: among(`r.${way.far}`, type, visible) }));
  const where = ({ relationType, seen }: typeof first & object) =>
    `from relations r where r.type = ${literal(relationType)} and ${seen.sql}`;
  // no relation comes twice in one type, and its index has the ends in order
  if (first && more.length === 0) {
    const { near, far, seen } = first;
    return {
      sql: `select r.${near} as card_id, ${ids(`r.${far}`)} ${where(first)} group by r.${near}`,
      bindings: seen.bindings,
    };
  }
  const pairs = [first!, ...more].map(
    (way) => `select r.${way.near} as card_id, r.${way.far} as id ${where(way)}`,
  );
  return {
    sql: `select e.card_id, ${ids('e.id')} from (${pairs.join(' union ')}) e group by e.card_id`,
    bindings: [first!, ...more].flatMap(({ seen }) => seen.bindings),
  };
}

/** A function takes at most 100 arguments. */
const ARGUMENTS = 50;

/** SQL of texts with commas between them, leaving out those that are NULL; an empty text for none. */
export function joined(texts: string[]): string {
  if (texts.length <= ARGUMENTS) return `concat_ws(${["','", ...texts].join(', ')})`;
  return joined([`nullif(${joined(texts.slice(0, ARGUMENTS))}, '')`, ...texts.slice(ARGUMENTS)]);
}

/**
 * Everything that cards of a type are related to by relations of visible types, in either direction, as the common
 * table `related (card_id, relation_id, relation_type, attributes, other_id, other_name, other_type)`.
 * @param visible from the report's input.
 */
export function relatedTable(ctx: Ctx, type: string, visible: Fragment): Fragment {
  const types = ctx.metamodel.visibleRelationTypes.map((key) => ctx.metamodel.relationTypes.get(key)!);
  const from = types.filter(({ source_type_key }) => source_type_key === type).map(({ key }) => key);
  const to = types.filter(({ target_type_key }) => target_type_key === type).map(({ key }) => key);
  const attributes = relationAttributes(ctx);
  return {
    sql: `related as materialized (
      select e.card_id, e.relation_id, e.relation_type, e.attributes, c.id as other_id, c.name as other_name, c.type as other_type
      from (
        select r.source_id as card_id, r.target_id as other_id, r.id as relation_id, r.type as relation_type, ${attributes} as attributes
        from relations r where r.type = any(?::text[])
        union all
        select r.target_id, r.source_id, r.id, r.type, ${attributes}
        from relations r where r.type = any(?::text[])) e
      join cards c on c.id = e.other_id and ${visible.sql})`,
    bindings: [from, to, ...visible.bindings],
  };
}

/**
 * The visible cards that cards of a type are related to, by type, `{typeKey: [{id, name, type}]}`, as one text.
 * @param cards the cards of the type that are asked for, over the alias `c`.
 */
export function relatedCards(ctx: Ctx, type: string, cards: Fragment, visible: Fragment): Fragment {
  const ways = [...waysFrom(ctx, type).values()].flat();
  const typesBy = (near: Way['near']) =>
    ways.filter((way) => way.near === near).map(({ relationType }) => relationType);
  const item = jsonText({ id: { id: 'c.id' }, name: { text: 'c.name' }, type: { text: 'c.type' } });
  return {
    sql: `select concat('{', string_agg(concat(to_json(o.type)::text, ':[', o.cards, ']'), ',' order by o.type), '}') as text
      from (
        select c.type, string_agg(${item}, ',' order by c.name, c.id) as cards
        from cards c
        where ${visible.sql} and (c.id in (
          select e.other_id from (
            select r.source_id as card_id, r.target_id as other_id from relations r where r.type = any(?::text[])
            union all
            select r.target_id, r.source_id from relations r where r.type = any(?::text[])) e
          where (e.card_id in (select c.id from cards c where ${cards.sql})) is true)) is true
        group by c.type) o`,
    bindings: [...visible.bindings, typesBy('source_id'), typesBy('target_id'), ...cards.bindings],
  };
}

/**
 * The visible cards of some types, on a line each in the order in which {@link relatedCards} has them: for who has read
 * the ids of the related ones and picks them out.
 */
export function cardsOfTypes(types: string[], visible: Fragment): Fragment {
  // no key needs escaping
  const line = jsonLine({ id: { id: 'c.id' }, name: { text: 'c.name' }, type: { id: 'c.type' } });
  return {
    sql: `select ${line} from cards c where c.type = any(?::text[]) and ${visible.sql} order by c.type, c.name, c.id`,
    bindings: [types, ...visible.bindings],
  };
}

/** Ids of the tags by card, `(card_id, tag_ids)`: the items of a JSON array as text. */
export const tagIds = `select k.card_id, '"' || array_to_string(array_agg(k.tag_id order by k.tag_id), '","') || '"' as tag_ids
    from card_tags k group by k.card_id`;

/** The tag groups that a type takes, with their tags, as one text. */
export const tagGroupsOf = (type: string): Fragment => ({
  sql: `select coalesce(jsonb_agg(jsonb_build_object('id', g.id, 'name', g.name, 'mode', g.mode, 'tags', (
        select coalesce(jsonb_agg(jsonb_build_object('id', t.id, 'name', t.name, 'color', t.color) order by t.name, t.id), '[]')
        from tags t where t.tag_group_id = g.id)) order by g.name, g.id), '[]')::text as text
    from tag_groups g
    where coalesce(g.restrict_to_types, '[]') in ('[]', 'null') or g.restrict_to_types @> to_jsonb(?::text)`,
  bindings: [type],
});

/** The text that a query of one column and one row gives. */
export async function readText(sql: Sql, query: Fragment): Promise<string> {
  const { rows } = await sql.raw(query.sql, query.bindings as never);
  return rows[0].text;
}

import { forbidden } from '../../../domain/access/policy.ts';
import { combine, type Fragment, raw, sql } from '../../../domain/filters/filters.sql.ts';
import { textLiteral } from '../../../domain/lists/lists.sql.ts';
import { tagsProperty } from '../model/model.properties.ts';
import type { EntitySet, Navigation, ODataProperty } from '../model/model.types.ts';
import { invalidQuery, notOffered } from '../odata.errors.ts';
import type { Wire } from '../odata.wire.ts';
import type { ExpandItem, NestedOptions } from '../query/query.types.ts';
import { conditionOf } from './sql.expressions.ts';
import { orderKeys, orderList } from './sql.order.ts';
import { along, type Writing } from './sql.ways.ts';

/** So many related entities stand in one answer with each entity; a link leads to the others. */
export const MOST_RELATED = 1_000;

/** PostgreSQL takes 100 arguments. */
const MEMBERS_A_CALL = 49;

/** How an entity becomes JSON. */
export interface EntityJson {
  /** The JSON, over the alias of the entity and those of the joins. */
  item: Fragment;
  joins: Fragment[];
}

type Member = [name: string, value: Fragment];

/** The version of an entity as its ETag has it. */
export function etagOfEntity(set: EntitySet, alias: string): Fragment {
  const row = `${alias}.id::text || ${alias}.xmin::text || ${alias}.updated_at::text`;
  // tags are no part of the card's row
  return set.kind === 'card'
    ? raw(`('W/"' || md5(${row} || ${tagsOf(alias)}::text) || '"')`)
    : raw(`('W/"' || md5(${row}) || '"')`);
}

/** A card's tags as {@link tagsJoin} has gathered them. */
const tagsOf = (alias: string): string => `tags_${alias}.list`;

/** Gathers the tags of a card once for all that needs them. */
export function tagsJoin(set: EntitySet, alias: string): Fragment[] {
  if (set.kind !== 'card') return [];
  return [
    sql`left join lateral (select ${tagsProperty.value(alias)} as list offset 0) ${raw(`tags_${alias}`)} on true`,
  ];
}

/** The properties that are asked for. @throws EstateError naming one that is not there. */
export function selected(set: EntitySet, select: string[] | undefined): ODataProperty[] {
  if (select === undefined) return [...set.properties.values()];
  return select.flatMap((name) => {
    const property = set.properties.get(name);
    if (property) return [property];
    // naming a way asks for its link, which clients make for themselves
    if (set.navigations.has(name)) return [];
    if (set.hiddenCosts.has(name)) throw forbidden('costs.view');
    throw invalidQuery('$select', `"${name}" is no property of ${set.name}`);
  });
}

function jsonOf(property: ODataProperty, alias: string, wire: Wire): Fragment {
  const asText = wire.exactNumbers && property.type === 'Edm.Decimal';
  if (asText) return sql`(${property.value(alias)})::text`;
  if (property === tagsProperty) return raw(tagsOf(alias));
  return (property.json ?? property.value)(alias);
}

const shownTypes = new Set(['Edm.Guid', 'Edm.Date', 'Edm.DateTimeOffset', 'Edm.Decimal']);

/** What is told of the entity besides its properties, by the metadata level asked for. */
function controls(set: EntitySet, alias: string, names: Set<string>, wire: Wire): Member[] {
  if (wire.metadata === 'none') return [];
  const members: Member[] = [];
  const id = sql`(${`${wire.root}/${set.name}(`}::text || ${raw(`${alias}.id`)} || ')')`;
  const full = wire.metadata === 'full';
  if (full) members.push(['@odata.type', raw(`'#Estate.${set.name}'::text`)]);
  if (full || !names.has('id')) members.push(['@odata.id', id]);
  members.push(['@odata.etag', etagOfEntity(set, alias)]);
  if (!full) return members;
  for (const navigation of set.navigations.values()) {
    members.push([`${navigation.name}@odata.navigationLink`, sql`(${id} || ${`/${navigation.name}`}::text)`]);
  }
  return members;
}

/** The JSON of an entity under an alias with what is asked of it. */
export function entityJson(
  writing: Writing,
  set: EntitySet,
  alias: string,
  options: NestedOptions,
  wire: Wire,
): EntityJson {
  const properties = selected(set, options.select);
  const members = controls(set, alias, new Set(properties.map(({ name }) => name)), wire);
  for (const property of properties) {
    if (wire.metadata === 'full' && shownTypes.has(property.type)) {
      members.push([`${property.name}@odata.type`, raw(`'#${property.type.slice(4)}'::text`)]);
    }
    members.push([property.name, jsonOf(property, alias, wire)]);
  }
  const joins = tagsJoin(set, alias);
  const after: Fragment[] = [];
  for (const item of options.expand) {
    const navigation = set.navigations.get(item.name);
    if (!navigation) throw unknownWay(writing, set, item.name);
    const related = relatedJson(writing, navigation, alias, item, wire);
    joins.push(related.join);
    members.push(...related.members);
    after.push(sql`${raw(textLiteral(`,"${item.name}":`))} || ${related.text}`);
    if (related.more) {
      const rest = new URLSearchParams({
        ...item.options.sent,
        $skip: String(item.options.skip + MOST_RELATED),
      });
      const url = sql`(${`${wire.root}/${set.name}(`}::text || ${raw(`${alias}.id`)} || ${`)/${item.name}?${rest}`}::text)`;
      const name = raw(textLiteral(`,"${item.name}@odata.nextLink":`));
      after.push(sql`case when ${related.more} then ${name} || to_json(${url})::text else '' end`);
    }
  }
  if (after.length === 0) return { item: objectText(members), joins };
  // what is related comes as text, which is not read again
  const related = after.reduce((text, part) => sql`${text} || ${part}`);
  const item =
    members.length === 0
      ? sql`('{' || substr(${related}, 2) || '}')`
      : sql`(left(${objectText(members)}, -1) || ${related} || '}')`;
  return { item, joins };
}

function unknownWay(writing: Writing, set: EntitySet, name: string): Error {
  if (set.properties.has(name)) return notOffered('$expand', `"${name}" is no way to related entities`);
  if (writing.model.forbidden.size > 0) return forbidden('relations.view');
  return invalidQuery('$expand', `"${name}" is no way from ${set.name} to related entities`);
}

/** An object's text; long ones are put together. */
function objectText(members: Member[]): Fragment {
  const built: Fragment[] = [];
  for (let from = 0; from === 0 || from < members.length; from += MEMBERS_A_CALL) {
    const pairs = members
      .slice(from, from + MEMBERS_A_CALL)
      .map(([name, value]) => sql`${raw(textLiteral(name))}, ${value}`);
    built.push(sql`json_build_object(${listOf(pairs)})::text`);
  }
  const [first, ...others] = built;
  if (others.length === 0) return first!;
  const text = others.reduce(
    (all, one) => sql`${all} || ',' || substr(left(${one}, -1), 2)`,
    sql`left(${first}, -1)`,
  );
  return sql`(${text} || '}')`;
}

export const listOf = (fragments: Fragment[]): Fragment => ({
  sql: fragments.map((fragment) => fragment.sql).join(', '),
  bindings: fragments.flatMap((fragment) => fragment.bindings),
  total: false,
});

interface RelatedJson {
  join: Fragment;
  /** What is told besides the related entities. */
  members: Member[];
  /** Their JSON text. */
  text: Fragment;
  /** Whether there are more than the answer holds. */
  more?: Fragment;
}

function relatedJson(
  writing: Writing,
  navigation: Navigation,
  from: string,
  { name, references, options }: ExpandItem,
  wire: Wire,
): RelatedJson {
  if (options.search) throw notOffered('$expand', `${name}: $search is not offered within $expand`);
  const set = writing.model.sets.get(navigation.target)!;
  const to = writing.alias();
  const joined = writing.alias();
  const source = along(writing, navigation.way, from, to);
  const scope = { writing, option: '$expand', set, alias: to };
  const parts = [source.where];
  if (options.filter) parts.push(conditionOf(options.filter, scope));
  const where = combine('and', parts);
  const reference = sql`json_build_object('@odata.id', ${`${wire.root}/${set.name}(`}::text || ${raw(`${to}.id`)} || ')')::text`;
  const entity = references ? { item: reference, joins: [] } : entityJson(writing, set, to, options, wire);
  const tables = [source.from, ...entity.joins].reduce((all, one) => sql`${all} ${one}`);
  const column = (key: string) => raw(`${joined}.${key}`);
  if (!navigation.collection) {
    return {
      join: sql`left join lateral (select ${entity.item} as item from ${tables} where ${where} limit 1) ${raw(joined)} on true`,
      members: [],
      text: sql`coalesce(${column('item')}, 'null')`,
    };
  }
  const order = orderList(orderKeys(options.orderby, scope), to);
  const bounded = options.top !== undefined && options.top <= MOST_RELATED;
  const limit = bounded ? options.top! : MOST_RELATED;
  const one = raw(writing.alias());
  const text = sql`'[' || coalesce(string_agg(${one}.item, ',' order by ${one}.n) filter (where ${one}.n <= ${limit}), '') || ']'`;
  const members: Member[] = [];
  if (options.count) members.push([`${name}@odata.count`, column('total')]);
  const total = options.count
    ? sql`, (select count(*) from ${source.from} where ${where}) as total`
    : raw('');
  return {
    join: sql`left join lateral (select ${text} as items, count(*) > ${limit} as more${total}
      from (select ${entity.item} as item, row_number() over (order by ${order}) as n
        from ${tables} where ${where} order by ${order} limit ${bounded ? limit : limit + 1} offset ${options.skip}) ${one}) ${raw(joined)} on true`,
    members,
    text: column('items'),
    ...(bounded ? {} : { more: column('more') }),
  };
}

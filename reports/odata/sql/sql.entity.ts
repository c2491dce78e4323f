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

/** How an entity becomes JSON. */
export interface EntityJson {
  /** The JSON, over the alias of the entity and those of the joins. */
  item: Fragment;
  joins: Fragment[];
}

/** A member's name, and SQL of the JSON text of its value, which is never NULL. */
type Member = [name: string, text: Fragment];

/** Changes with every change of an entity. */
function versionOf(set: EntitySet, alias: string): string {
  const row = `${alias}.id::text || ${alias}.xmin::text || ${alias}.updated_at::text`;
  // tags are no part of the card's row
  return set.kind === 'card' ? `md5(${row} || ${tagsOf(alias)})` : `md5(${row})`;
}

/** An entity's ETag, over the joins of {@link entityJson}. */
export const etagOfEntity = (set: EntitySet, alias: string): Fragment =>
  raw(`('W/"' || ${versionOf(set, alias)} || '"')`);

/** A card's tags as {@link tagsJoin} has gathered them. */
const tagsOf = (alias: string): string => `tags_${alias}.list`;

/** Gathers the tags of a card once for all that needs them. */
export function tagsJoin(set: EntitySet, alias: string): Fragment[] {
  if (set.kind !== 'card') return [];
  return [
    sql`left join lateral (select ${tagsProperty.text(alias)} as list offset 0) ${raw(`tags_${alias}`)} on true`,
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

function textOf(property: ODataProperty, alias: string, wire: Wire): Fragment {
  const exact = wire.exactNumbers && property.type === 'Edm.Decimal';
  if (exact) return sql`coalesce('"' || (${property.value(alias)})::text || '"', 'null')`;
  return property === tagsProperty ? raw(tagsOf(alias)) : property.text(alias);
}

/** The JSON text of the address of an entity, or of something behind it. */
function addressText(set: EntitySet, alias: string, wire: Wire, behind = ''): Fragment {
  const start = JSON.stringify(`${wire.root}/${set.name}(`).slice(0, -1);
  return sql`(${start}::text || ${raw(`${alias}.id`)} || ${`)${behind}"`}::text)`;
}

const shownTypes = new Set(['Edm.Guid', 'Edm.Date', 'Edm.DateTimeOffset', 'Edm.Decimal']);

/** What is told of the entity besides its properties, by the metadata level asked for. */
function controls(set: EntitySet, alias: string, names: Set<string>, wire: Wire): Member[] {
  if (wire.metadata === 'none') return [];
  const members: Member[] = [];
  const full = wire.metadata === 'full';
  if (full) members.push(['@odata.type', raw(`'"#Estate.${set.name}"'`)]);
  if (full || !names.has('id')) members.push(['@odata.id', addressText(set, alias, wire)]);
  members.push(['@odata.etag', raw(`('"W/\\"' || ${versionOf(set, alias)} || '\\""')`)]);
  if (!full) return members;
  for (const { name } of set.navigations.values()) {
    members.push([`${name}@odata.navigationLink`, addressText(set, alias, wire, `/${name}`)]);
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
      members.push([`${property.name}@odata.type`, raw(`'"#${property.type.slice(4)}"'`)]);
    }
    members.push([property.name, textOf(property, alias, wire)]);
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
  return { item: objectText(members, after), joins };
}

function unknownWay(writing: Writing, set: EntitySet, name: string): Error {
  if (set.properties.has(name)) return notOffered('$expand', `"${name}" is no way to related entities`);
  if (writing.model.forbidden.size > 0) return forbidden('relations.view');
  return invalidQuery('$expand', `"${name}" is no way from ${set.name} to related entities`);
}

/** So many texts are joined one after the other. */
const RUN = 16;

/** Texts joined; runs of them are joined first, so that a long text is not copied for every member. */
function joined(texts: Fragment[]): Fragment {
  if (texts.length <= RUN) return sql`(${texts.reduce((all, text) => sql`${all} || ${text}`)})`;
  const runs: Fragment[] = [];
  for (let from = 0; from < texts.length; from += RUN) runs.push(joined(texts.slice(from, from + RUN)));
  return joined(runs);
}

/**
 * An object's text. It is put together here, which takes the database half the time that its functions for JSON take.
 * @param after texts of further members, each with a comma in front.
 */
function objectText(members: Member[], after: Fragment[]): Fragment {
  if (members.length === 0) {
    return after.length === 0 ? raw("'{}'") : sql`('{' || substr(${joined(after)}, 2) || '}')`;
  }
  const texts = members.map(
    ([name, text], at) => sql`${raw(textLiteral(`${at === 0 ? '{' : ','}"${name}":`))} || ${text}`,
  );
  return joined([...texts, ...after, raw("'}'")]);
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
  const result = writing.alias();
  const source = along(writing, navigation.way, from, to);
  const scope = { writing, option: '$expand', set, alias: to };
  const parts = [source.where];
  if (options.filter) parts.push(conditionOf(options.filter, scope));
  const where = combine('and', parts);
  const reference = sql`json_build_object('@odata.id', ${`${wire.root}/${set.name}(`}::text || ${raw(`${to}.id`)} || ')')::text`;
  const entity = references ? { item: reference, joins: [] } : entityJson(writing, set, to, options, wire);
  const tables = [source.from, ...entity.joins].reduce((all, one) => sql`${all} ${one}`);
  const column = (key: string) => raw(`${result}.${key}`);
  if (!navigation.collection) {
    return {
      join: sql`left join lateral (select ${entity.item} as item from ${tables} where ${where} limit 1) ${raw(result)} on true`,
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
  if (options.count) members.push([`${name}@odata.count`, sql`${column('total')}::text`]);
  const total = options.count
    ? sql`, (select count(*) from ${source.from} where ${where}) as total`
    : raw('');
  return {
    join: sql`left join lateral (select ${text} as items, count(*) > ${limit} as more${total}
      from (select ${entity.item} as item, row_number() over (order by ${order}) as n
        from ${tables} where ${where} order by ${order} limit ${bounded ? limit : limit + 1} offset ${options.skip}) ${one}) ${raw(result)} on true`,
    members,
    text: column('items'),
    ...(bounded ? {} : { more: column('more') }),
  };
}

import { parseRelationPath } from '../../../../domain/exchange/itsm/mappings.rules.ts';
import type { Mapping, Value } from '../../../../domain/exchange/itsm/mappings.types.ts';
import { visibleCards } from '../../../../domain/inventory/cards/cards.projection.ts';
import { prepareFilter } from '../../../../domain/inventory/filters/filters.prepare.ts';
import type { Ctx } from '../../../../domain/kernel/context.ts';
import type { Condition } from '../../../../domain/kernel/lists/lists.types.ts';
import { embed, query, type Sql } from '../../../../platform/database.ts';
import type { LocalCard, Path } from '../engine/model.types.ts';

/** Reads the cards of a mapping. */
export interface CardReader {
  /** Cards by id, including archived ones; without deleted and hidden ones. */
  byIds(sql: Sql, ids: readonly string[]): Promise<Map<string, LocalCard>>;
  /** Active cards of the mapping's type and filter in the order of their ids, after the given one. */
  page(sql: Sql, after: string | null, limit: number): Promise<LocalCard[]>;
  /** Ids of cards of the type that were changed after a position of the change feed, and the position reached. */
  changedAfter(
    sql: Sql,
    position: string,
    limit: number,
  ): Promise<{ ids: string[]; position: string; more: boolean }>;
  /** When fields of these cards were last changed, if the event is still stored; RFC 3339 by card and path. */
  changedAt(
    sql: Sql,
    ids: readonly string[],
    paths: readonly Path[],
  ): Promise<Map<string, Record<Path, string>>>;
}

/** Paths that are columns of a card; the others are keys of `lifecycle` and `attributes`. */
const ownColumns: ReadonlySet<Path> = new Set([
  'name',
  'alias',
  'description',
  'subtype',
  'external_id',
  'parent_id',
]);

interface CardRow {
  id: string;
  type: string;
  status: string;
  lifecycle: Record<string, string> | null;
  attributes: Record<string, Value>;
  in_filter: boolean;
  updated_at: string;
  [column: string]: unknown;
}

/** Less than every id. */
const FIRST = '00000000-0000-0000-0000-000000000000';

/**
 * Creates the card reader of a mapping. @param cardFilter a list filter; blank or null: all cards of the type.
 * @throws EstateError when the filter is no longer valid, or uses fields that the caller may not see.
 */
export async function openCards(
  ctx: Ctx,
  mapping: Pick<Mapping, 'card_type_key' | 'fields'>,
  cardFilter: string | null,
): Promise<CardReader> {
  const filter: Condition = (await prepareFilter(ctx, cardFilter ?? '')) ?? { sql: 'true', bindings: [] };
  const visible = visibleCards(ctx);
  const paths = mapping.fields.map(({ card_field: path }) => path);
  const related = relatedFields(paths);
  const relations = relatedColumns(related);
  const columns = {
    sql: `c.id, c.type, c.status, c.name, c.alias, c.description, c.subtype, c.external_id, c.parent_id,
    c.lifecycle, c.attributes, utc(c.updated_at) as updated_at${relations.sql}`,
    bindings: relations.bindings,
  };

  const cardOf = (row: CardRow): LocalCard => ({
    id: row.id,
    type: row.type,
    archived: row.status === 'ARCHIVED',
    fields: Object.fromEntries([
      ...paths.map((path) => [path, valueAt(row, path)] as const),
      ...related.map(({ path }, n) => [path, relatedValue(row[`related_${n}`])] as const),
    ]),
    inFilter: row.in_filter,
    updatedAt: row.updated_at,
  });

  return {
    async byIds(sql, ids) {
      if (ids.length === 0) return new Map();
      const rows = await query(sql)
        .rows<CardRow>`select ${embed(columns)}, coalesce(c.type = ${mapping.card_type_key} and (${embed(filter)}), false) as in_filter
         from cards c where c.id = any(${ids}::uuid[]) and (${embed(visible)})`;
      return new Map(rows.map((row) => [row.id, cardOf(row)]));
    },
    async page(sql, after, limit) {
      const rows = await query(sql).rows<CardRow>`select ${embed(columns)}, true as in_filter from cards c
         where c.type = ${mapping.card_type_key} and c.status = 'ACTIVE' and c.id > ${after ?? FIRST}::uuid
           and (${embed(filter)}) and (${embed(visible)})
         order by c.id limit ${limit}`;
      return rows.map(cardOf);
    },
    async changedAfter(sql, position, limit) {
      // read first: what is committed between the two queries is found by the next call
      const newest = await newestPosition(sql, position);
      const rows = await query(sql)
        .rows`select case when event_type like 'card.%' then array[card_id] else array[card_id, peer_card_id] end as ids,
           position::text as position
         from events
         where position > ${position} and position <= ${newest} and (card_type = ${mapping.card_type_key} and event_type like 'card.%'
           or relation_type = any(${related.map(({ relationType }) => relationType)}::text[]) and event_type like 'relation.%')
         order by events.position limit ${limit}`;
      const ids = new Set<string>(rows.flatMap((row: { ids: string[] }) => row.ids));
      const more = rows.length === limit;
      return { ids: [...ids], position: more ? rows.at(-1).position : newest, more };
    },
    async changedAt(sql, ids, wanted) {
      const rows = await query(sql)
        .rows`select distinct on (e.card_id, p.path) e.card_id, p.path, utc(e.at) as at
         from unnest(${ids}::uuid[]) q(id) join events e on e.card_id = q.id and e.event_type like 'card.%'
         join unnest(${wanted}::text[]) p(path) on jsonb_exists(e.data -> 'changes', p.path)
         order by e.card_id, p.path, e.position desc`;
      const times = new Map<string, Record<Path, string>>();
      const ofWanted = related.filter(({ path }) => wanted.includes(path));
      const ofRelations = await relationsChangedAt(sql, ids, ofWanted);
      for (const { id, path, at } of ofRelations) rows.push({ card_id: id, path, at });
      for (const { card_id, path, at } of rows) {
        const card = times.get(card_id) ?? {};
        card[path] = at;
        times.set(card_id, card);
      }
      return times;
    },
  };
}

/** The newest position of the change feed, at least the given one. */
async function newestPosition(sql: Sql, after: string): Promise<string> {
  return await query(sql)
    .value`select greatest(max(position), ${after}::bigint)::text as position from events`;
}

function valueAt(row: CardRow, path: Path): Value {
  if (ownColumns.has(path)) return (row[path] ?? null) as Value;
  const dot = path.indexOf('.');
  const [object, key] = [path.slice(0, dot), path.slice(dot + 1)];
  const members = (object === 'lifecycle' ? row.lifecycle : row.attributes) ?? {};
  return (Object.hasOwn(members, key) ? (members[key] ?? null) : null) as Value;
}

/** A path that is mapped to relations of one type. */
export interface RelatedField {
  path: Path;
  relationType: string;
  /** The columns of a relation with the card itself, and with the card at the other end. */
  own: 'source_id' | 'target_id';
  other: 'source_id' | 'target_id';
}

/** The paths that are relations. */
export function relatedFields(paths: readonly Path[]): RelatedField[] {
  return paths.flatMap((path): RelatedField[] => {
    const related = parseRelationPath(path);
    if (!related) return [];
    const { relationType, reversed } = related;
    return [
      reversed
        ? { path, relationType, own: 'target_id', other: 'source_id' }
        : { path, relationType, own: 'source_id', other: 'target_id' },
    ];
  });
}

/** For each of the fields, a column with the ids at the other ends of the relations of card `c`. */
function relatedColumns(fields: readonly RelatedField[]): { sql: string; bindings: string[] } {
  return {
    sql: fields
      .map(
        ({ own, other }, n) =>
          `, (select json_agg(r.${other} order by r.${other}) from relations r
            where r.${own} = c.id and r.type = ?) as related_${n}`,
      )
      .join(''),
    bindings: fields.map(({ relationType }) => relationType),
  };
}

/** Null, the id of one card, or a list of ids. */
function relatedValue(ids: unknown): Value {
  if (!Array.isArray(ids) || ids.length === 0) return null;
  return (ids.length === 1 ? ids[0] : ids) as Value;
}

/** When relations of these cards were last created, deleted or redirected; RFC 3339 by card and path. */
async function relationsChangedAt(
  sql: Sql,
  ids: readonly string[],
  fields: readonly RelatedField[],
): Promise<{ id: string; path: Path; at: string }[]> {
  const found: { id: string; path: Path; at: string }[] = [];
  for (const { path, relationType, own } of fields) {
    const rows = await query(sql).rows`select distinct on (q.id) q.id, ${path} as path, utc(e.at) as at
       from unnest(${ids}::uuid[]) q(id) join events e on e.${embed(own === 'source_id' ? 'card_id' : 'peer_card_id')} = q.id
         and e.relation_type = ${relationType} and e.event_type like 'relation.%'
         and (e.event_type in ('relation.created', 'relation.deleted')
           or jsonb_exists_any(e.data -> 'changes', array['source_id', 'target_id']))
       order by q.id, e.position desc`;
    found.push(...rows);
  }
  return found;
}

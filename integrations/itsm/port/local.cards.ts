import { relatedPath } from '../../../domain/exchange/itsm/mappings.rules.ts';
import type { Mapping, Value } from '../../../domain/exchange/itsm/mappings.types.ts';
import { visibleCards } from '../../../domain/inventory/cards/cards.visible.ts';
import { prepareFilter } from '../../../domain/inventory/filters/filters.prepare.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import type { Condition } from '../../../domain/kernel/lists/lists.types.ts';
import type { Sql } from '../../../platform/database.ts';
import type { LocalCard, Path } from '../engine/model.types.ts';

/** Reads the cards of a mapping as the engine sees them. */
export interface CardReader {
  /** Cards by id, archived ones too; those that do not exist, or are hidden, are left out. */
  byIds(sql: Sql, ids: readonly string[]): Promise<Map<string, LocalCard>>;
  /** Active cards of the mapping's type and filter in the order of their ids, from behind the given one on. */
  walk(sql: Sql, after: string | null, limit: number): Promise<LocalCard[]>;
  /** Ids of cards of the type that were changed after a position of the feed, and up to where that is known. */
  changedAfter(
    sql: Sql,
    position: string,
    limit: number,
  ): Promise<{ ids: string[]; position: string; more: boolean }>;
  /** When fields of these cards were last changed, as far as the events go back; RFC 3339 by card and path. */
  changedAt(
    sql: Sql,
    ids: readonly string[],
    paths: readonly Path[],
  ): Promise<Map<string, Record<Path, string>>>;
}

/** Where a card's own columns hold values; the others are keys of `lifecycle` and `attributes`. */
const plain: ReadonlySet<Path> = new Set([
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

/** Below every id there is. */
const FIRST = '00000000-0000-0000-0000-000000000000';

/**
 * Opens the cards of a mapping. @param cardFilter in the language of lists; blank or null: all cards of the type.
 * @throws EstateError where the filter is not valid any more, or asks about what the caller may not see.
 */
export async function openCards(
  ctx: Ctx,
  mapping: Pick<Mapping, 'card_type_key' | 'fields'>,
  cardFilter: string | null,
): Promise<CardReader> {
  const fits: Condition = (await prepareFilter(ctx, cardFilter ?? '')) ?? { sql: 'true', bindings: [] };
  const visible = visibleCards(ctx);
  const paths = mapping.fields.map(({ card_field: path }) => path);
  const related = relatedFields(paths);
  const beside = relatedColumns(related);
  const columns = `c.id, c.type, c.status, c.name, c.alias, c.description, c.subtype, c.external_id, c.parent_id,
    c.lifecycle, c.attributes, utc(c.updated_at) as updated_at${beside.sql}`;

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
      const { rows } = await sql.raw(
        `select ${columns}, coalesce(c.type = ? and (${fits.sql}), false) as in_filter from cards c
         where c.id = any(?::uuid[]) and (${visible.sql})`,
        [...beside.bindings, mapping.card_type_key, ...fits.bindings, ids, ...visible.bindings],
      );
      return new Map(rows.map((row: CardRow) => [row.id, cardOf(row)]));
    },
    async walk(sql, after, limit) {
      const { rows } = await sql.raw(
        `select ${columns}, true as in_filter from cards c
         where c.type = ? and c.status = 'ACTIVE' and c.id > ?::uuid and (${fits.sql}) and (${visible.sql})
         order by c.id limit ?`,
        [
          ...beside.bindings,
          mapping.card_type_key,
          after ?? FIRST,
          ...fits.bindings,
          ...visible.bindings,
          limit,
        ],
      );
      return rows.map(cardOf);
    },
    async changedAfter(sql, position, limit) {
      // asked first: what is committed between the two questions is found by the next reading
      const newest = await newestPosition(sql, position);
      const { rows } = await sql.raw(
        `select case when event_type like 'card.%' then array[card_id] else array[card_id, peer_card_id] end as ids,
           position::text as position
         from events
         where position > ? and position <= ? and (card_type = ? and event_type like 'card.%'
           or relation_type = any(?::text[]) and event_type like 'relation.%')
         order by events.position limit ?`,
        [position, newest, mapping.card_type_key, related.map(({ relationType }) => relationType), limit],
      );
      const ids = new Set<string>(rows.flatMap((row: { ids: string[] }) => row.ids));
      const more = rows.length === limit;
      return { ids: [...ids], position: more ? rows.at(-1).position : newest, more };
    },
    async changedAt(sql, ids, wanted) {
      const { rows } = await sql.raw(
        `select distinct on (e.card_id, p.path) e.card_id, p.path, utc(e.at) as at
         from unnest(?::uuid[]) q(id) join events e on e.card_id = q.id and e.event_type like 'card.%'
         join unnest(?::text[]) p(path) on jsonb_exists(e.data -> 'changes', p.path)
         order by e.card_id, p.path, e.position desc`,
        [ids, wanted],
      );
      const moments = new Map<string, Record<Path, string>>();
      const ofRelations = await relatedAt(
        sql,
        ids,
        related.filter(({ path }) => wanted.includes(path)),
      );
      for (const { id, path, at } of ofRelations) rows.push({ card_id: id, path, at });
      for (const { card_id, path, at } of rows) {
        const card = moments.get(card_id) ?? {};
        card[path] = at;
        moments.set(card_id, card);
      }
      return moments;
    },
  };
}

/** Up to where the feed is: never behind what was asked from. */
async function newestPosition(sql: Sql, after: string): Promise<string> {
  const { rows } = await sql.raw('select greatest(max(position), ?::bigint)::text as position from events', [
    after,
  ]);
  return rows[0].position;
}

function valueAt(row: CardRow, path: Path): Value {
  if (plain.has(path)) return (row[path] ?? null) as Value;
  const dot = path.indexOf('.');
  const [object, key] = [path.slice(0, dot), path.slice(dot + 1)];
  const members = (object === 'lifecycle' ? row.lifecycle : row.attributes) ?? {};
  return (Object.hasOwn(members, key) ? (members[key] ?? null) : null) as Value;
}

/** Mapped relations of one type, as the cards of a mapping have them. */
export interface RelatedField {
  path: Path;
  relationType: string;
  /** The columns of a relation that hold the card, and the one at its other end. */
  own: 'source_id' | 'target_id';
  other: 'source_id' | 'target_id';
}

/** Those of the paths that stand for relations. */
export function relatedFields(paths: readonly Path[]): RelatedField[] {
  return paths.flatMap((path): RelatedField[] => {
    const related = relatedPath(path);
    if (!related) return [];
    const { relationType, reversed } = related;
    return [
      reversed
        ? { path, relationType, own: 'target_id', other: 'source_id' }
        : { path, relationType, own: 'source_id', other: 'target_id' },
    ];
  });
}

/** Selects for each of the fields who stands at the other ends, beside the card `c`. */
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

/** None, the one card, or all of them: a column holds one alone. */
function relatedValue(ids: unknown): Value {
  if (!Array.isArray(ids) || ids.length === 0) return null;
  return (ids.length === 1 ? ids[0] : ids) as Value;
}

/** When relations of these cards last came, went or were led elsewhere; RFC 3339 by card and path. */
async function relatedAt(
  sql: Sql,
  ids: readonly string[],
  fields: readonly RelatedField[],
): Promise<{ id: string; path: Path; at: string }[]> {
  const found: { id: string; path: Path; at: string }[] = [];
  for (const { path, relationType, own } of fields) {
    const { rows } = await sql.raw(
      `select distinct on (q.id) q.id, ? as path, utc(e.at) as at
       from unnest(?::uuid[]) q(id) join events e on e.${own === 'source_id' ? 'card_id' : 'peer_card_id'} = q.id
         and e.relation_type = ? and e.event_type like 'relation.%'
         and jsonb_exists_any(e.data -> 'changes', array['source_id', 'target_id'])
       order by q.id, e.position desc`,
      [path, ids, relationType],
    );
    found.push(...rows);
  }
  return found;
}

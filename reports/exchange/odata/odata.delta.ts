import { type Fragment, raw, sql } from '../../../domain/inventory/filters/filters.sql.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { feedEnds } from '../../../domain/kernel/events/changes.ts';
import { rowEvents } from '../../../domain/kernel/events/row-changes.ts';
import { may } from '../../../domain/kernel/permissions/policy.ts';
import { EstateError } from '../../../platform/errors.ts';
import type { EntitySet } from './model/model.types.ts';
import { contextOf, inSnapshot, prepareItems, readItems } from './odata.items.ts';
import { type PageQuery, selectEntities } from './odata.page.ts';
import { writeDeltaToken, writeSkipToken } from './odata.tokens.ts';
import { createStatement } from './sql/sql.navigation.ts';

/** Events that can make a card and its relations visible or invisible. */
const VISIBILITY_EVENTS = `('card.archived', 'card.restored', 'card.deleted', 'card.merged', 'card.unmerged')`;

const typesOf = (types: string[]): Fragment => raw(types.map((type) => `'${type}'`).join(', '));
const [flowEvents, costEvents, relationCostEvents] = ['data_flow', 'cost', 'relation_cost'].map((kind) =>
  Object.values(rowEvents(kind as 'cost')).flat(),
);

/** The ids of a set's entities that have events between two positions. */
function changedIds({ caller, metamodel }: Ctx, set: EntitySet, since: number, until: number): Fragment {
  const span = sql`e.position > ${since} and e.position <= ${until}`;
  if (set.kind === 'card') {
    return sql`select e.card_id as id from events e
        where ${span} and e.card_type = ${set.key}::text and e.card_id is not null
          and split_part(e.event_type, '.', 1) in ('card', 'tag')
      union select c.id from events e
        join tags t on t.id = (e.data ->> 'id')::uuid and e.event_type = 'tag.updated'
          or t.tag_group_id = (e.data ->> 'id')::uuid and e.event_type = 'tag_group.updated'
        join card_tags ct on ct.tag_id = t.id join cards c on c.id = ct.card_id and c.type = ${set.key}::text
        where ${span} and e.event_type in ('tag.updated', 'tag_group.updated')`;
  }
  const moved = sql`(select distinct e.card_id from events e where ${span} and e.event_type in ${raw(VISIBILITY_EVENTS)}) moved`;
  if (set.kind === 'data_flow' || set.kind === 'cost') {
    const ofRelations = set.kind === 'cost' && may(caller, 'relations.view');
    const types =
      set.kind === 'data_flow'
        ? flowEvents!
        : ofRelations
          ? [...costEvents!, ...relationCostEvents!]
          : costEvents!;
    const ends =
      set.kind === 'data_flow' ? 'moved.card_id in (t.source_id, t.target_id)' : 't.card_id = moved.card_id';
    // the names of rows between cards of hidden types remain unknown
    const shown = sql`e.card_type = any(${metamodel.visibleTypes}::text[])
      and coalesce(e.peer_card_type, e.card_type) = any(${metamodel.visibleTypes}::text[])`;
    return sql`select (e.data ->> 'id')::uuid as id from events e
        where ${span} and e.event_type in (${typesOf(types)}) and ${shown}
      union select (e.data ->> 'id')::uuid from events e
        where ${span} and e.event_type = 'attachment.moved' and e.data ->> 'entity' = ${set.kind}::text
      union select t.id from ${moved} join ${raw(set.table)} t on ${raw(ends)}
      ${ofRelations ? sql`union select t.id from ${moved} join relations r on moved.card_id in (r.source_id, r.target_id) join costs t on t.relation_id = r.id` : raw('')}`;
  }
  return sql`select e.relation_id as id from events e
      where ${span} and e.relation_type = ${set.key}::text and e.relation_id is not null
    union select r.id from ${moved}
      join relations r on r.type = ${set.key}::text and moved.card_id in (r.source_id, r.target_id)`;
}

/**
 * Reads what has changed in a query's result since a position: entities in their current state, and removed ones.
 * @throws EstateError `position_expired` when events since then are no longer stored.
 */
export async function readChanges(ctx: Ctx, query: PageQuery, from: number): Promise<Buffer[]> {
  const { set, options, token, wire, pageSize } = query;
  const ends = await feedEnds(ctx.db);
  if (from < ends.purgedThrough || from > ends.newest) {
    throw new EstateError('position_expired', 'Changes since then are no longer stored: read the set again.');
  }
  const until = token?.position ?? ends.newest;
  const statement = createStatement(ctx, query.model);
  const source = selectEntities(statement, { set, options });
  const items = prepareItems(statement, { set, options, wire });
  const table = raw(set.table);
  const behind = token ? sql` where id > ${token.id}::uuid` : raw('');
  const select = sql`with page as materialized (
        select id from (${changedIds(ctx, set, from, until)}) changed${behind} order by id limit ${pageSize + 1})
      select page.id, found.id is not null as there, not exists (select from ${table} t where t.id = page.id) as gone
      from page left join lateral (select c.id from ${source.from} where ${source.where} and c.id = page.id) found on true
      order by page.id`;
  return await inSnapshot(ctx, async (snapshot) => {
    const rows = await snapshot.query<Changed>(select.sql, select.bindings);
    const there = rows.slice(0, pageSize).filter((row) => row.there);
    const ids = there.map(({ id }) => id);
    return buildResponse(query, { rows, from, until }, await readItems(snapshot, items, ids));
  });
}

/** An entity with events. */
interface Changed {
  id: string;
  /** Whether the query selects it. */
  there: boolean;
  /** Whether it is deleted. */
  gone: boolean;
}

/** Adds the members around the present entities; removed ones follow them. */
function buildResponse(
  query: PageQuery,
  { rows, from, until }: { rows: Changed[]; from: number; until: number },
  chunks: Buffer[],
): Buffer[] {
  const { set, options, wire, pageSize } = query;
  const shown = rows.slice(0, pageSize);
  const link =
    rows.length > pageSize
      ? [
          '@odata.nextLink',
          query.link({
            $skiptoken: writeSkipToken({
              bound: query.bound,
              keys: [],
              id: shown.at(-1)!.id,
              left: null,
              position: until,
              since: from,
            }),
          }),
        ]
      : [
          '@odata.deltaLink',
          query.link({
            $deltatoken: writeDeltaToken({ bound: query.bound, position: until, shape: set.shape }),
          }),
        ];
  const away = shown.filter(({ there }) => !there).map((row) => removed(query, row));
  const before = [...contextOf(wire, set.name, options, '/$delta'), '"value":['];
  const between = chunks.length > 0 && away.length > 0 ? ',' : '';
  return [
    Buffer.from(`{${before.join(',')}`),
    ...chunks,
    Buffer.from(`${between}${away.join(',')}],${JSON.stringify(link[0])}:${JSON.stringify(link[1])}}`),
  ];
}

/** Writes an entity that is deleted or that the query no longer selects. */
function removed({ set, wire }: PageQuery, { id, gone }: Changed): string {
  const reason = gone ? 'deleted' : 'changed';
  const address = `${wire.root}/${set.name}(${id})`;
  return JSON.stringify(
    wire.version === '4.0'
      ? { '@odata.context': `${wire.root}/$metadata#${set.name}/$deletedEntity`, id: address, reason }
      : { '@removed': { reason }, '@odata.id': address, id },
  );
}

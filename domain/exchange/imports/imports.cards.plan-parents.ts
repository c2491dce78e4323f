import { embed, query } from '../../../platform/database.ts';
import { visibleCards } from '../../inventory/cards/cards.projection.ts';
import { siblingOf } from '../../inventory/cards/cards.unique.ts';
import { type Planning, refuse, refuseDuplicates, representative } from './imports.planning.ts';

/** The column by which the row `p` of the plan names its parent. */
export const parentField = `case p.parent_by when 'external_id' then 'parent_external_id' when 'path' then 'parent_path'
  else 'parent_id' end`;

/**
 * Finds the parent of each row, in the file or among the visible cards, and then the cards that are identified by parent
 * and name only. Rows whose parent does not exist or is invisible fail.
 */
export async function findParents(planning: Planning): Promise<void> {
  const { sql, ctx, pulse } = planning;
  const visible = embed(visibleCards(ctx));
  pulse();
  await query(sql).run`update plan_rows p set parent = stored_parent where not is_new and parent_by is null`;
  await query(sql).run`update plan_rows p set parent = coalesce(
       (select f.card_id from plan_rows f where f.card_id = p.given_parent and not f.repeated),
       (select c.id from cards c where c.id = p.given_parent and (${visible})))
     where parent_by = 'id'`;
  await query(sql).run`update plan_rows p set parent = coalesce(
       (select f.card_id from plan_rows f
        where f.type = p.type and f.external_id = p.parent_external_id and not f.repeated),
       (select c.id from cards c
        where c.type = p.type and c.external_id = p.parent_external_id and (${visible})))
     where parent_by = 'external_id'`;
  await walkOtherPaths(planning);
  await walkPaths(planning);
  await refuseFormerPaths(planning);
  await refuse(planning)`
     select line, 'parent_path', 'other_parent_path', 'is not the path of the card in ' || ${embed(parentField)}
       || ': leave one of both empty'
     from plan_rows p where walks and parent_by <> 'path' and parent is not null and not exists (
       select from plan_paths t where t.type = p.type and t.path = ${embed(lowerPath)}
         -- the id is edited, and the path is that of the stored parent
         and t.node in (p.parent, p.stored_parent))`;
  await refuse(planning)`
     select p.line, 'parent_path', 'ambiguous_path', 'several cards have a name of the path: name the parent by its external id'
     from plan_rows p join plan_paths t on t.type = p.type and t.path = ${embed(lowerPath)}
     where p.parent_by = 'path' and t.hits > 1`;
  await refuse(planning)`
     select line, ${embed(parentField)}, 'unknown_parent', '"' || coalesce(parent_external_id, given_parent::text,
       array_to_string(parent_path, ' / ')) || '" is no card of the type ' || type
     from plan_rows p where parent_by in ('id', 'external_id', 'path') and parent is null and type = any(${planning.ctx.metamodel.visibleTypes}::text[])`;
  await refuse(planning)`select p.line, 'parent_id', 'parent_type', 'must be a card of the type ' || p.type
     from plan_rows p where p.parent_by = 'id' and p.parent is not null and p.type <> coalesce(
       (select f.type from plan_rows f where f.card_id = p.parent and not f.repeated),
       (select c.type from cards c where c.id = p.parent))`;
  await identifyByName(planning);
  await refuseNew(planning);
}

/** The path that the row `p` names, to be compared. */
const lowerPath =
  'array(select lower(step) from unnest(p.parent_path) with ordinality as s(step, at) order by at)';

/**
 * Rows that name their parent by an id or external id, and besides by a path that is not its path now: the file may lead there
 * by new names and places.
 */
async function walkOtherPaths({ sql, pulse }: Planning): Promise<void> {
  pulse();
  await query(sql).run`with recursive up as (
       select c.id as leaf, c.parent_id, array[lower(c.name)] as path from cards c where c.id in (
         select p.parent from plan_rows p where p.parent_path is not null and not p.walks)
       union all
       select up.leaf, c.parent_id, lower(c.name) || up.path from up join cards c on c.id = up.parent_id
     )
     update plan_rows p set walks = true
     where p.parent_path is not null and p.parent is not null and not exists (
       select from up where up.leaf = p.parent and up.parent_id is null and up.path = ${embed(lowerPath)})`;
}

/** Finds the cards at the ends of paths, step by step from the roots; a path may include cards of the file. */
async function walkPaths({ sql, ctx, pulse }: Planning): Promise<void> {
  await query(sql).run`create temp table plan_paths on commit drop as
     select distinct p.type, n as depth,
       (select array_agg(lower(step) order by at)
       from unnest(p.parent_path[1:n]) with ordinality as s(step, at)) as path,
       null::uuid as node, 0 as hits
     from plan_rows p cross join generate_series(1, cardinality(p.parent_path)) n where p.walks`;
  const rows = await query(sql).rows`select coalesce(max(depth), 0) as depth from plan_paths`;
  if (rows[0].depth === 0) return;
  await query(sql).run`create index on plan_paths (type, path)`;
  await query(sql).run`create index on plan_rows (type, lower(coalesce(name, stored_name)))`;
  await query(sql).run`analyze plan_paths`;
  const visible = embed(visibleCards(ctx));
  for (let depth = 1; depth <= rows[0].depth; depth += 1) {
    pulse();
    const stored = embed(`cards o where ${siblingOf('t.type', 'up.node', `t.path[${depth}]`)}`);
    await query(sql).run`update plan_paths t set hits = greatest(up.hits,
         (select count(*) from ${stored} and exists (select from cards c where c.id = o.id and (${visible})))
           + (select count(*) from plan_rows f join card_types y on y.key = f.type and y.allow_same_name
             where f.type = t.type and f.is_new and f.external_id is not null and f.placed and not f.repeated
               and f.parent is not distinct from up.node and lower(f.name) = t.path[${embed(depth)}])),
       node = coalesce(
         (select o.id from ${stored}
            and exists (select from cards c where c.id = o.id and (${visible})) limit 1),
         (select f.card_id from plan_rows f
          where f.type = t.type and f.placed and not f.repeated and f.parent is not distinct from up.node
            and lower(coalesce(f.name, f.stored_name)) = t.path[${embed(depth)}] order by f.line limit 1))
       from plan_paths s left join plan_paths up on up.type = s.type and up.path = s.path[1:${embed(depth - 1)}]
       where s.type = t.type and s.path = t.path and t.depth = ${embed(depth)}
         and (${embed(depth)} = 1 or up.node is not null)`;
    await query(sql).run`update plan_rows p set parent = t.node, placed = t.node is not null from plan_paths t
       where p.parent_by = 'path' and cardinality(p.parent_path) = ${embed(depth)} and t.type = p.type
         and t.path = ${embed(lowerPath)}`;
    // the id is that of the stored parent, and the path leads to another card: the path is edited
    await query(sql).run`update plan_rows p set parent = t.node, parent_by = 'path' from plan_paths t
       where p.walks and p.parent_by <> 'path' and not p.is_new and p.parent = p.stored_parent and t.node <> p.parent
         and cardinality(p.parent_path) = ${embed(depth)} and t.type = p.type and t.path = ${embed(lowerPath)}`;
  }
}

/**
 * Fails rows that would be moved by a path with a former name of the parent or of a card above it: they may have been written
 * before it was renamed.
 */
async function refuseFormerPaths({ sql, pulse }: Planning): Promise<void> {
  await refuse({ sql, pulse })`with recursive up as (
       select p.line, c.id, c.parent_id, lower(c.name) as name, array(select lower(step) from unnest(p.parent_path) step) as steps
       from plan_rows p join cards c on c.id = p.stored_parent
       where p.parent_by = 'path' and coalesce(p.given_parent::text, p.parent_external_id) is not null
       union all
       select up.line, c.id, c.parent_id, lower(c.name), up.steps from up join cards c on c.id = up.parent_id
     )
     select distinct line, 'parent_path', 'other_parent_path',
       'may be a path from before a card was renamed: to move the card there, leave the other column of the parent empty'
     from up join events e on e.card_id = up.id and e.event_type = 'card.updated'
     where lower(e.data #>> '{changes,name,old}') = any(steps) and lower(e.data #>> '{changes,name,old}') <> up.name`;
}

/** Finds the cards of rows without id and external id by parent and name; for archived rows among archived cards. */
async function identifyByName(planning: Planning): Promise<void> {
  const { sql, mode, pulse } = planning;
  const keyless = `p.given_id is null and p.external_id is null and p.is_new and p.placed and p.name is not null`;
  if (mode === 'upsert') {
    const found = embed(`is_new = false, card_id = o.id, stored_type = o.type, stored_name = o.name,
      stored_parent = o.parent_id, stored_status = o.status, stored_level = o.attributes ->> 'capabilityLevel'`);
    pulse();
    await query(sql).run`create temp table plan_renewed (before uuid, after uuid) on commit drop`;
    const renewed = embed(`returning old.card_id, new.card_id)
      insert into plan_renewed (before, after) select * from named`);
    await refuse(planning)`select p.line, 'name', 'ambiguous_path',
         'several cards have this name below the parent: identify the card by its external id or id'
       from plan_rows p where ${embed(keyless)} and (
         select count(*) from cards o where ${embed(siblingOf('p.type', 'p.parent', 'lower(p.name)'))}) > 1`;
    await query(sql).run`with named as (update plan_rows p set ${found}
       from cards o where not p.failed and ${embed(keyless)} and ${embed(siblingOf('p.type', 'p.parent', 'lower(p.name)'))} ${renewed}`;
    await query(sql).run`with named as (update plan_rows p set ${found}
       from (
         select distinct on (p.line) p.line, c.* from plan_rows p join cards c
           on c.type = p.type and c.parent_id is not distinct from p.parent and lower(c.name) = lower(p.name)
         where ${embed(keyless)} and p.status = 'ARCHIVED' and c.status = 'ARCHIVED'
         order by p.line, c.id desc
       ) o where o.line = p.line ${renewed}`;
    // others may have created a parent after the paths were walked
    await query(sql)
      .run`update plan_rows p set parent = r.after from plan_renewed r where p.parent = r.before`;
  }
  await refuseDuplicates(
    planning,
    `select line, 'name' as field, case when not is_new then ${representative('card_id')}
         else ${representative('is_new, type, parent, lower(name)')} end as first
     from plan_rows
     where not repeated and ((given_id is null and external_id is null and name is not null and placed) or not is_new)`,
  );
}

/** Fails rows with errors that only apply to new cards, once it is known which cards are new. */
async function refuseNew({ sql, pulse }: Planning): Promise<void> {
  pulse();
  await query(sql).run`update plan_rows set failed = true where is_new and fails_new and not failed`;
}

import { embed, query } from '../../../platform/database.ts';
import { MAX_DEPTH } from '../../inventory/cards/cards.tree.ts';
import { siblingOf } from '../../inventory/cards/cards.unique.ts';
import { MACRO } from '../../inventory/cards/rules/capability.ts';
import { parentField } from './imports.cards.plan-parents.ts';
import { type Planning, refuse } from './imports.planning.ts';

/** Whether the row `p` changes the level of its existing root card to or from Macro. */
export const changesMacro = `(not p.is_new and p.parent is null
  and (coalesce(p.level, p.stored_level) is not distinct from '${MACRO}')
    <> (p.stored_level is not distinct from '${MACRO}'))`;

const moves = '(not p.is_new and p.parent is distinct from p.stored_parent)';
const status = `coalesce(p.status, p.stored_status, 'ACTIVE')`;
/** A depth that valid hierarchies never reach; it ends a walk through a corrupt hierarchy. */
const DEEPEST_LEVEL = 100;

/**
 * Fails rows that would make the hierarchy invalid: cycles, children of cards that are not created, too deep levels,
 * active cards below archived ones, siblings with the same name. The card of a failed row is not moved, which may
 * invalidate other rows, so the checks are repeated until no more rows fail. Stores the depth of each card in
 * `plan_depths`.
 */
export async function checkStructure(planning: Planning): Promise<void> {
  const { sql } = planning;
  await query(sql).run`create temp table plan_nodes (id uuid, parent uuid, macro boolean,
    line integer) on commit drop`;
  await query(sql).run`create temp table plan_depths (id uuid, depth integer, level integer) on commit drop`;
  await query(sql).run`create unique index on plan_nodes (id)`;
  await query(sql).run`create index on plan_nodes (parent)`;
  await query(sql).run`create unique index on plan_depths (id)`;
  for (;;) {
    let failed = await refuseOrphans(planning);
    await measureDepths(planning);
    failed += await refuseLoops(planning);
    if (failed > 0) continue;
    failed += await refuseDepths(planning);
    failed += await refuseLevels(planning);
    failed += await refuseArchived(planning);
    failed += await refuseNames(planning);
    if (failed === 0) return;
  }
}

/** Fails rows whose parent's row has failed, and their descendants. */
async function refuseOrphans(planning: Planning): Promise<number> {
  return await refuse(
    planning,
    `with recursive missing as (
       select p.line, p.card_id from plan_rows p where p.is_new and p.failed and not p.repeated
       union
       select p.line, p.card_id from missing m join plan_rows p on p.parent = m.card_id
       where p.is_new and not p.repeated
     )
     select p.line, ${parentField}, 'parent_failed', 'the row of the parent, line ' || m.line || ', has failed'
     from missing m join plan_rows p on p.parent = m.card_id where not p.failed`,
  );
}

/** Walks the resulting hierarchy: the cards of the file and all their ancestors. */
async function measureDepths({ sql, pulse }: Planning): Promise<void> {
  pulse();
  await query(sql).run`truncate plan_nodes, plan_depths`;
  await query(sql).run`insert into plan_nodes (id, parent, macro, line)
     select card_id, case when failed then stored_parent else parent end,
       case when failed then stored_level else coalesce(level,
       stored_level) end is not distinct from '${embed(MACRO)}', line
     from plan_rows where not repeated and not (is_new and failed)`;
  await query(sql).run`analyze plan_nodes`;
  await query(sql).run`with recursive above as (
       select c.id, c.parent_id, c.attributes from (select distinct parent from plan_nodes) q
       join cards c on c.id = q.parent where not exists (select from plan_nodes n where n.id = c.id)
       union
       select c.id, c.parent_id, c.attributes from above a join cards c on c.id = a.parent_id
       where not exists (select from plan_nodes n where n.id = c.id)
     )
     insert into plan_nodes (id, parent, macro)
     select id, parent_id, attributes ->> 'capabilityLevel' is not distinct from '${embed(MACRO)}'
     from above`;
  pulse();
  await query(sql).run`with recursive below as (
       select n.id, 1 as depth, case when n.macro then 0 else 1 end as level from plan_nodes n
       where n.parent is null
       union all
       select n.id, b.depth + 1, b.level + 1 from below b join plan_nodes n on n.parent = b.id
     )
     insert into plan_depths (id, depth, level) select id, depth, level from below`;
  await query(sql).run`analyze plan_depths`;
}

interface Unreached {
  id: string;
  parent: string;
  line: number | null;
  /** Whether its row can still be applied. */
  open: boolean;
}

/** Fails each row of a cycle: cards that no root reaches are in a cycle or below one. */
async function refuseLoops(planning: Planning): Promise<number> {
  const rows = await query(planning.sql).rows`select n.id, n.parent, n.line,
    coalesce(not p.failed, false) as open
     from plan_nodes n left join plan_depths d on d.id = n.id left join plan_rows p on p.line = n.line
     where d.id is null`;
  const lines = membersOfLoops(rows).flatMap(({ line, open }) => (line !== null && open ? [line] : []));
  if (lines.length === 0) return 0;
  return await refuse(
    planning,
    `select p.line, ${parentField}, 'parent_cycle', 'would lie below itself'
     from plan_rows p where p.line = any(?::int[])`,
    [lines],
  );
}

/** Of cards that each have one parent among them, those in a cycle. */
function membersOfLoops(cards: Unreached[]): Unreached[] {
  const byId = new Map(cards.map((card) => [card.id, card]));
  const children = new Map<string, number>();
  for (const { parent } of cards) children.set(parent, (children.get(parent) ?? 0) + 1);
  const leaves = cards.filter(({ id }) => !children.has(id));
  for (let leaf = leaves.pop(); leaf; leaf = leaves.pop()) {
    byId.delete(leaf.id);
    const left = children.get(leaf.parent)! - 1;
    children.set(leaf.parent, left);
    const parent = byId.get(leaf.parent);
    if (left === 0 && parent) leaves.push(parent);
  }
  return [...byId.values()];
}

/** Fails rows that would be, or would move cards, below the maximum depth of hierarchies. */
async function refuseDepths(planning: Planning): Promise<number> {
  return await refuse(
    planning,
    `with recursive below as (
       select p.line, p.parent_by, p.card_id as id, d.depth, p.is_new
       from plan_rows p join plan_depths d on d.id = p.card_id
       where not p.failed and p.parent is not null and (p.is_new or ${moves})
       union all
       select b.line, b.parent_by, c.id, b.depth + 1, false from below b join cards c on c.parent_id = b.id
       where not b.is_new and b.depth <= ${MAX_DEPTH}
     )
     select p.line, ${parentField}, 'too_deep', 'would lead below level ${MAX_DEPTH}'
     from below p group by p.line, p.parent_by having max(p.depth) > ${MAX_DEPTH}`,
  );
}

/** Fails capabilities below the maximum depth, with their descendants, and Macros that are not roots. */
async function refuseLevels(planning: Planning): Promise<number> {
  const { leveled } = planning;
  if (leveled.length === 0) return 0;
  const placed = `p.type = any(?::text[]) and not p.failed and (p.is_new or ${moves} or ${changesMacro} or p.level = '${MACRO}')`;
  const notRoot = await refuse(
    planning,
    `select p.line, 'attributes.capabilityLevel', 'macro_not_root', 'is Macro on roots only'
     from plan_rows p where ${placed} and p.parent is not null and coalesce(p.level, p.stored_level) = '${MACRO}'`,
    [leveled],
  );
  const tooDeep = await refuse(
    planning,
    `with recursive below as (
       select p.line, p.parent_by, p.card_id as id, d.level
       from plan_rows p join plan_depths d on d.id = p.card_id where ${placed}
       union all
       select b.line, b.parent_by, c.id, b.level + 1 from below b join cards c on c.parent_id = b.id
       where b.level < ${DEEPEST_LEVEL}
     )
     select p.line, ${parentField}, 'capability_too_deep', 'business capabilities have at most 5 levels below a Macro'
     from below p group by p.line, p.parent_by having max(p.level) > 5`,
    [leveled],
  );
  return notRoot + tooDeep;
}

/** Fails rows that would put an active card below an archived one. */
async function refuseArchived(planning: Planning): Promise<number> {
  const below = await refuse(
    planning,
    `select p.line, ${parentField}, 'parent_archived', 'is archived'
     from plan_rows p
     left join plan_rows f on f.card_id = p.parent and not f.repeated
     left join cards c on c.id = p.parent and f.line is null
     where not p.failed and p.parent is not null and ${status} = 'ACTIVE'
       and (p.is_new or ${moves} or p.stored_status = 'ARCHIVED')
       and coalesce(case when f.failed then f.stored_status else coalesce(f.status, f.stored_status) end, c.status)
         = 'ARCHIVED'`,
  );
  const above = await refuse(
    planning,
    `select p.line, 'status', 'children_present', 'the card has active children'
     from plan_rows p where not p.failed and p.status = 'ARCHIVED' and p.stored_status = 'ACTIVE' and exists (
       select from cards o left join plan_rows f on f.card_id = o.id and not f.repeated and not f.failed
       where o.parent_id = p.card_id and o.status = 'ACTIVE' and f.status is distinct from 'ARCHIVED'
         and (f.line is null or f.parent is not distinct from o.parent_id)
     )`,
  );
  return below + above;
}

/** Fails rows whose card would have the name of an active sibling, in the inventory or from an earlier line. */
async function refuseNames(planning: Planning): Promise<number> {
  const wanted = `(
    select p.line, p.card_id, p.type, p.parent, lower(coalesce(p.name, p.stored_name)) as name
    from plan_rows p where not p.failed and ${status} = 'ACTIVE'
      and (p.is_new or ${moves} or p.name <> p.stored_name or p.stored_status = 'ARCHIVED')
  )`;
  const stored = await refuse(
    planning,
    `select w.line, 'name', 'sibling_name_taken', 'the card ' || o.id || ' below the same parent has it already'
     from ${wanted} w join cards o on ${siblingOf('w.type', 'w.parent', 'w.name')} where o.id <> w.card_id`,
  );
  const inFile = await refuse(
    planning,
    `select line, 'name', 'sibling_name_taken', 'line ' || first || ' gives it to a card below the same parent'
     from (select line, min(line) over (partition by type, parent, name) as first from ${wanted} w) k
     where first < line`,
  );
  return stored + inFile;
}

import { embed, fragment, query } from '../../../platform/database.ts';
import { loadCards } from '../../inventory/cards/cards.load.ts';
import { MAX_DEPTH } from '../../inventory/cards/cards.tree.ts';
import { nameTaken } from '../../inventory/cards/cards.unique.ts';
import { hasLevels, MACRO } from '../../inventory/cards/rules/capability.ts';
import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import { mergeCard } from './imports.cards.merge.ts';
import { findParents, parentField } from './imports.cards.plan-parents.ts';
import type { CardPayload } from './imports.cards.types.ts';
import { lineName } from './imports.lines.ts';
import { attachedBy, readPeopleAndTags } from './imports.people.write.ts';
import {
  type Planning,
  type PlanSpec,
  refuse,
  refuseDuplicates,
  refuseIds,
  representative,
} from './imports.planning.ts';

/** Whether the row `p` changes the level of its existing root card to or from Macro. */
const changesMacro = `(not p.is_new and p.parent is null
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
async function checkStructure(planning: Planning): Promise<void> {
  const { sql } = planning;
  await query(sql).run`create temp table plan_nodes (id uuid, parent uuid, macro boolean,
    line integer) on commit drop`;
  await query(sql).run`create temp table plan_depths (id uuid, depth integer, level integer) on commit drop`;
  await query(sql).run`create unique index on plan_nodes (id)`;
  await query(sql).run`create index on plan_nodes (parent)`;
  await query(sql).run`create unique index on plan_depths (id)`;
  for (;;) {
    await storeNodes(planning);
    if ((await refuseOrphans(planning)) > 0) continue;
    await measureDepths(planning);
    if ((await refuseLoops(planning)) > 0) continue;
    let failed = await refuseDepths(planning);
    failed += await refuseLevels(planning);
    failed += await refuseArchived(planning);
    failed += await refuseNames(planning);
    if (failed === 0) return;
  }
}

/** Stores the resulting hierarchy: the cards of the file and all their ancestors. */
async function storeNodes({ sql, pulse }: Planning): Promise<void> {
  pulse();
  await query(sql).run`truncate plan_nodes`;
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
}

/**
 * The nodes below those of a recursive query. The index of parents finds them one by one: the planner cannot know that each step of
 * a deep chain has few.
 */
const nodesBelow = (of: string) =>
  embed(`cross join lateral (select c.id, c.line from plan_nodes c where c.parent = ${of} offset 0) n`);

/** Fails rows whose parent's row has failed, and their descendants. */
async function refuseOrphans(planning: Planning): Promise<number> {
  return await refuse(planning)`with recursive missing as (
       select p.line, p.card_id, null::integer as above from plan_rows p
       where p.is_new and p.failed and not p.repeated
       union
       select n.line, n.id, m.line from missing m ${nodesBelow('m.card_id')}
       join plan_rows p on p.line = n.line where p.is_new
     )
     select p.line, ${embed(parentField)}, 'parent_failed', 'the row of the parent, ' || ${lineName('m.above')} || ', has failed'
     from missing m join plan_rows p on p.line = m.line where m.above is not null
     union all
     select p.line, ${embed(parentField)}, 'parent_failed', 'the row of the parent, ' || ${lineName('m.line')} || ', has failed'
     from missing m ${nodesBelow('m.card_id')} join plan_rows p on p.line = n.line
     where not p.is_new and not p.failed`;
}

/** Computes the depths of all cards that a root reaches. */
async function measureDepths({ sql, pulse }: Planning): Promise<void> {
  pulse();
  await query(sql).run`truncate plan_depths`;
  await query(sql).run`with recursive below as (
       select n.id, 1 as depth, case when n.macro then 0 else 1 end as level from plan_nodes n
       where n.parent is null
       union all
       select n.id, b.depth + 1, b.level + 1 from below b ${nodesBelow('b.id')}
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
  return await refuse(planning)`select p.line, ${embed(parentField)}, 'parent_cycle', 'would lie below itself'
     from plan_rows p where p.line = any(${lines}::int[])`;
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
  return await refuse(planning)`with recursive below as (
       select p.line, p.parent_by, p.card_id as id, d.depth, p.is_new
       from plan_rows p join plan_depths d on d.id = p.card_id
       where not p.failed and p.parent is not null and (p.is_new or ${embed(moves)})
       union all
       select b.line, b.parent_by, c.id, b.depth + 1, false from below b join cards c on c.parent_id = b.id
       where not b.is_new and b.depth <= ${embed(MAX_DEPTH)}
     )
     select p.line, ${embed(parentField)}, 'too_deep', 'would lead below level ${embed(MAX_DEPTH)}'
     from below p group by p.line, p.parent_by having max(p.depth) > ${embed(MAX_DEPTH)}`;
}

/** Fails capabilities below the maximum depth, with their descendants, and Macros that are not roots. */
async function refuseLevels(planning: Planning): Promise<number> {
  const { leveled } = planning;
  if (leveled.length === 0) return 0;
  const placed = embed(fragment`p.type = any(${leveled}::text[]) and not p.failed
    and (p.is_new or ${embed(moves)} or ${embed(changesMacro)} or p.level = '${embed(MACRO)}')`);
  const notRoot = await refuse(planning)`
     select p.line, 'attributes.capabilityLevel', 'macro_not_root', 'is Macro on roots only'
     from plan_rows p
     where ${placed} and p.parent is not null and coalesce(p.level, p.stored_level) = '${embed(MACRO)}'`;
  const tooDeep = await refuse(planning)`with recursive below as (
       select p.line, p.parent_by, p.card_id as id, d.level
       from plan_rows p join plan_depths d on d.id = p.card_id where ${placed}
       union all
       select b.line, b.parent_by, c.id, b.level + 1 from below b join cards c on c.parent_id = b.id
       where b.level < ${embed(DEEPEST_LEVEL)}
     )
     select p.line, ${embed(parentField)}, 'capability_too_deep',
       'business capabilities have at most 5 levels below a Macro'
     from below p group by p.line, p.parent_by having max(p.level) > 5`;
  return notRoot + tooDeep;
}

/** Fails rows that would put an active card below an archived one. */
async function refuseArchived(planning: Planning): Promise<number> {
  const below = await refuse(planning)`select p.line, ${embed(parentField)}, 'parent_archived', 'is archived'
     from plan_rows p
     left join plan_rows f on f.card_id = p.parent and not f.repeated
     left join cards c on c.id = p.parent and f.line is null
     where not p.failed and p.parent is not null and ${embed(status)} = 'ACTIVE'
       and (p.is_new or ${embed(moves)} or p.stored_status = 'ARCHIVED')
       and coalesce(case when f.failed then f.stored_status else coalesce(f.status, f.stored_status) end, c.status)
         = 'ARCHIVED'`;
  const above = await refuse(planning)`
     select p.line, 'status', 'children_present', 'the card has active children'
     from plan_rows p where not p.failed and p.status = 'ARCHIVED' and p.stored_status = 'ACTIVE' and exists (
       select from cards o left join plan_rows f on f.card_id = o.id and not f.repeated and not f.failed
       where o.parent_id = p.card_id and o.status = 'ACTIVE' and f.status is distinct from 'ARCHIVED'
         and (f.line is null or f.parent is not distinct from o.parent_id)
     )`;
  return below + above;
}

/**
 * Fails rows whose card would have the name of an active sibling, in the inventory or from an earlier line; in types with
 * `allow_same_name` only if one of them has no external id.
 */
async function refuseNames(planning: Planning): Promise<number> {
  const { ctx } = planning;
  const sharing = [...ctx.metamodel.cardTypes.values()].flatMap((type) =>
    type.allow_same_name ? [type.key] : [],
  );
  const wanted = `(
    select p.line, p.card_id, p.type, p.parent, lower(coalesce(p.name, p.stored_name)) as name, p.own_external_id
    from plan_rows p where not p.failed and ${status} = 'ACTIVE'
      and (p.is_new or ${moves} or p.name <> p.stored_name or p.stored_status = 'ARCHIVED')
  )`;
  const taken = nameTaken('w.type', 'w.parent', 'w.name', 'w.own_external_id');
  const stored = await refuse(planning)`
     select distinct on (w.line) w.line, 'name', 'sibling_name_taken', 'the card ' || o.id || ' below the same parent has it already'
       || case when w.type = any(${sharing}::text[]) then '; both need an external id' else '' end
     from ${embed(wanted)} w join cards o on ${embed(taken)} where o.id <> w.card_id`;
  const inFile = await refuse(planning)`
     select line, 'name', 'sibling_name_taken', ${lineName('first')} || ' gives it to a card below the same parent'
       || case when shares then '; both need an external id' else '' end
     from (
       select line, type = any(${sharing}::text[]) as shares, min(line) over same as first,
         bool_or(own_external_id is null) over same as unmarked
       from ${embed(wanted)} w window same as (partition by type, parent, name)
     ) k
     where first < line and (not shares or unmarked)`;
  return stored + inFile;
}

/** The keys of the card types whose cards have capability levels. */
export const leveledTypes = ({ cardTypes }: Metamodel): string[] =>
  [...cardTypes.values()].filter(hasLevels).map(({ key }) => key);

/**
 * Plans rows of cards: the card of each row, and its new parent. Rows are checked against each other as if they were
 * written at once, except names and external ids: those that an existing card gives up can be used only by the next
 * import, so that the order of writes does not matter.
 */
export const cardPlan: PlanSpec = {
  rowsTable: 'import_card_rows',
  planTable: 'import_card_plan',
  rows: `select r.line, r.type, r.id as given_id, r.external_id, r.name, r.status, r.parent_by,
     r.parent_id as given_parent, r.parent_external_id, r.parent_path, r.level, r.bytes,
     r.errors is not null or x.line is not null as failed, r.new_errors is not null as fails_new,
     x.line is not null as repeated, null::integer as yields_to,
     found.id is null as is_new,
     coalesce(found.id, case when :mode = 'create' then r.id end, uuidv7()) as card_id,
     found.type as stored_type, found.name as stored_name, found.parent_id as stored_parent,
     found.status as stored_status, coalesce(r.external_id, found.external_id) as own_external_id, found.attributes ->> 'capabilityLevel' as stored_level, keyed.id as holder,
     null::uuid as parent, r.parent_by is distinct from 'path' as placed,
     coalesce(r.parent_by = 'path', false) as walks
   from import_card_rows r
   left join cards keyed on keyed.type = r.type and keyed.external_id = r.external_id
   left join cards found on found.id = coalesce(r.id, keyed.id)
   left join plan_excluded x on x.line = r.line
   where r.job_id = :jobId`,
  indexes: ['card_id', 'type, external_id'],
  async settle(planning) {
    await checkKeys(planning);
    await findParents(planning);
    await checkStructuralRows(planning);
    await checkStructure(planning);
  },
  named: {
    value: `coalesce(p.parent_external_id, p.given_parent::text, array_to_string(p.parent_path, ' / '))`,
    type: 'p.type',
  },
  readErrors: `coalesce(r.errors, '[]') || case when p.is_new then coalesce(r.new_errors, '[]') else '[]' end`,
  planned: `with placed as (
       select p.*, d.depth, d.level as planned_level, maker.line as parent_line,
         p.type = any(cast(:leveled as text[])) as leveled,
         not p.is_new and coalesce(p.status, p.stored_status) <> p.stored_status as turns_status
       from plan_rows p
       left join plan_depths d on d.id = p.card_id
       left join plan_rows maker on maker.card_id = p.parent and maker.is_new and not maker.repeated
       where not p.failed
    ), ranked as (
       select p.*,
         not p.is_new and (p.parent is distinct from p.stored_parent or turns_status
           or (leveled and ${changesMacro})) as structural,
         turns_status and p.status = 'ARCHIVED' as archives,
        ${status} = 'ACTIVE' and (p.is_new or coalesce(p.name <> p.stored_name, false)) as named
       from placed p
    )
    select line, bytes, card_id, is_new, parent as parent_id, parent_line, structural, named, archives, depth,
      case when leveled and (is_new or structural) then
        case planned_level when 0 then 'Macro' else 'L' || planned_level end end as level
    from ranked`,
  // Parents before children; cards to be archived come last, children before parents.
  order: 'archives, case when archives then -depth else depth end, line',
  columns: 'line, card_id, is_new, parent_id, parent_line, level, structural, named',
};

/**
 * Refuses rows whose keys contradict the inventory, and the later of two rows with the same key. `fails_new` rows that
 * create a card fail here too.
 */
async function checkKeys(planning: Planning): Promise<void> {
  await refuse(planning)`select line, 'type', 'type_differs', 'the card is of the type ' || stored_type
     from plan_rows where given_id is not null and stored_type <> type`;
  await refuseIds(planning, 'card');
  await refuse(planning)`
     select line, 'external_id', 'external_id_taken', 'the card ' || holder || ' of this type has it already'
     from plan_rows where holder is not null and (${planning.mode} = 'create' or holder <> card_id)`;
  await refuseRepeated(planning);
}

/** Fails the later of two rows with the same id, external id or card, naming the line that takes precedence. */
async function refuseRepeated(planning: Planning): Promise<void> {
  await refuseDuplicates(
    planning,
    `select line, case when by_external_id <> line or given_id is null then 'external_id' else 'id' end as field,
       least(nullif(by_external_id, line), nullif(by_id, line), nullif(by_card, line)) as first
     from (
       select line, given_id,
         case when external_id is not null then ${representative('type, external_id')} end as by_external_id,
         case when given_id is not null then ${representative('given_id')} end as by_id,
         case when not is_new then ${representative('card_id')} end as by_card
       from plan_rows where not repeated
     ) k`,
  );
}

const CHUNK = 1_000;

interface StructuralRow {
  line: number;
  card_id: string;
  is_new: false;
  type: string;
  parent: string | null;
  payload: CardPayload;
}

/**
 * Merges the rows that move, archive or restore existing cards to check whether that is possible: other rows depend on
 * the new places of these cards. Other rows of existing cards are checked when they are written.
 */
async function checkStructuralRows(planning: Planning): Promise<void> {
  const { sql, jobId, leveled, pulse } = planning;
  for (let line = 0; ; ) {
    pulse();
    const rows = await query(sql).rows<StructuralRow>`select p.line, p.card_id, p.is_new, p.type, p.parent,
      r.payload
       from plan_rows p join import_card_rows r on r.job_id = ${jobId} and r.line = p.line
       where p.line > ${line} and not p.failed and not p.is_new and (p.parent is distinct from p.stored_parent
         or p.status <> p.stored_status or (p.type = any(${leveled}::text[]) and ${embed(changesMacro)}))
       order by p.line limit ${embed(CHUNK)}`;
    if (rows.length === 0) return;
    await checkRows(planning, rows);
    line = rows.at(-1)!.line;
  }
}

async function checkRows(planning: Planning, rows: StructuralRow[]): Promise<void> {
  const { sql, ctx, jobId } = planning;
  const ids = rows.map((row) => row.card_id);
  const stored = await loadCards({ sql, metamodel: ctx.metamodel }, ctx, ids);
  const around = await readPeopleAndTags(sql, rows);
  const errors = rows.flatMap(({ line, card_id, type: key, parent, payload }) => {
    const before = stored.get(card_id);
    const type = ctx.metamodel.cardTypes.get(key);
    if (!before || !type) return [];
    const attached = attachedBy(card_id, payload, around);
    const row = { type, payload, parent_id: parent, level: null, archive_batch_id: jobId };
    return mergeCard(ctx, before, row, attached).errors.map((error) => ({ line, ...error }));
  });
  if (errors.length === 0) return;
  await refuse(planning)`select line, field, code, message
     from jsonb_to_recordset(${JSON.stringify(errors)}::jsonb) as v(line integer, field text, code text, message text)`;
}

import { hasLevels } from '../../inventory/cards/rules/capability.ts';
import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import { checkStructuralRows } from './imports.cards.check.ts';
import { checkKeys } from './imports.cards.plan-keys.ts';
import { findParents } from './imports.cards.plan-parents.ts';
import { settleStructure, turnsMacro } from './imports.cards.plan-structure.ts';
import type { PlanSpec } from './imports.planning.ts';

/** The keys of the card types whose cards have capability levels. */
export const leveledTypes = ({ cardTypes }: Metamodel): string[] =>
  [...cardTypes.values()].filter(hasLevels).map(({ key }) => key);

/**
 * Plans rows of cards: which card each means, and where that will be in the hierarchy. Rows are checked against each other
 * as if all were written at once, except names and external ids: those that an existing card gives up are free only for
 * the next import, so that the order of writing cannot matter.
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
     found.status as stored_status, found.attributes ->> 'capabilityLevel' as stored_level, keyed.id as holder,
     null::uuid as parent, r.parent_by is distinct from 'path' as placed
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
    await settleStructure(planning);
  },
  readErrors: `coalesce(r.errors, '[]') || case when p.is_new then coalesce(r.new_errors, '[]') else '[]' end`,
  planned: `with judged as (
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
           or (leveled and ${turnsMacro})) as structural,
         turns_status and p.status = 'ARCHIVED' as archives
       from judged p
    )
    select line, bytes, card_id, is_new, parent as parent_id, parent_line, structural, archives, depth,
      case when leveled and (is_new or structural) then
        case planned_level when 0 then 'Macro' else 'L' || planned_level end end as level
    from ranked`,
  // parents before children; cards to be archived come last, children before parents
  order: 'archives, case when archives then -depth else depth end, line',
  columns: 'line, card_id, is_new, parent_id, parent_line, level, structural',
};

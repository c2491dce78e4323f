import { embed, query } from '../../../platform/database.ts';
import { loadCards } from '../../inventory/cards/cards.load.ts';
import { hasLevels } from '../../inventory/cards/rules/capability.ts';
import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import { mergeCard } from './imports.cards.merge.ts';
import { findParents } from './imports.cards.plan-parents.ts';
import { changesMacro, checkStructure } from './imports.cards.plan-structure.ts';
import type { CardPayload } from './imports.cards.types.ts';
import { attachedBy, readPeopleAndTags } from './imports.people.write.ts';
import {
  type Planning,
  type PlanSpec,
  refuse,
  refuseDuplicates,
  representative,
} from './imports.planning.ts';

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
    await checkStructure(planning);
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
           or (leveled and ${changesMacro})) as structural,
         turns_status and p.status = 'ARCHIVED' as archives
       from judged p
    )
    select line, bytes, card_id, is_new, parent as parent_id, parent_line, structural, archives, depth,
      case when leveled and (is_new or structural) then
        case planned_level when 0 then 'Macro' else 'L' || planned_level end end as level
    from ranked`,
  // Parents before children; cards to be archived come last, children before parents.
  order: 'archives, case when archives then -depth else depth end, line',
  columns: 'line, card_id, is_new, parent_id, parent_line, level, structural',
};

/**
 * Refuses rows whose keys contradict the inventory, and the later of two rows with the same key. `fails_new` rows that
 * create a card fail here too.
 */
async function checkKeys(planning: Planning): Promise<void> {
  await refuse(
    planning,
    `select line, 'type', 'type_differs', 'the card is of the type ' || stored_type
     from plan_rows where given_id is not null and stored_type <> type`,
  );
  if (planning.mode === 'upsert') {
    await refuse(
      planning,
      `select line, 'id', 'unknown_id', 'is no card'
       from plan_rows where given_id is not null and is_new and type is not null`,
    );
  } else {
    await refuse(
      planning,
      `select line, 'id', 'id_taken', 'is a card already' from plan_rows where given_id is not null and not is_new`,
    );
  }
  await refuse(
    planning,
    `select line, 'external_id', 'external_id_taken', 'the card ' || holder || ' of this type has it already'
     from plan_rows where holder is not null and (? = 'create' or holder <> card_id)`,
    [planning.mode],
  );
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
  const stored = await loadCards(
    { sql, metamodel: ctx.metamodel },
    ctx,
    rows.map((row) => row.card_id),
  );
  const around = await readPeopleAndTags(sql, rows);
  const faults = rows.flatMap(({ line, card_id, type: key, parent, payload }) => {
    const before = stored.get(card_id);
    const type = ctx.metamodel.cardTypes.get(key);
    if (!before || !type) return [];
    const attached = attachedBy(card_id, payload, around);
    const row = { type, payload, parent_id: parent, level: null, archive_batch_id: jobId };
    return mergeCard(ctx, before, row, attached).faults.map((fault) => ({ line, ...fault }));
  });
  if (faults.length === 0) return;
  await refuse(
    planning,
    `select line, field, code, message
     from jsonb_to_recordset(?::jsonb) as v(line integer, field text, code text, message text)`,
    [JSON.stringify(faults)],
  );
}

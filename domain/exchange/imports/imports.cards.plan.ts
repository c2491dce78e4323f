import { hasLevels } from '../../inventory/cards/rules/capability.ts';
import { checkStructuralRows } from './imports.cards.check.ts';
import { checkKeys } from './imports.cards.plan-keys.ts';
import { findParents } from './imports.cards.plan-parents.ts';
import { type CardPlanning, settleStructure, turnsMacro } from './imports.cards.plan-structure.ts';
import {
  BATCH_BYTES,
  notedFaults,
  openFaults,
  type Planned,
  type Planning,
  planAnew,
} from './imports.planning.ts';

/**
 * Decides what is to be done with each staged row, set by set: which card it means, where that shall lie, and which
 * rows cannot be carried out. Rows count against each other as if all were written at once, but for names and
 * external ids: those that an existing card gives up are free only for the next import, so that no order of writing
 * can fail. The plan and the outcomes of failed rows are stored with the caller's transaction.
 */
export async function planCards(planning: Planning): Promise<Planned> {
  const leveled = [...planning.ctx.metamodel.cardTypes.values()].filter(hasLevels).map((type) => type.key);
  const cards: CardPlanning = { ...planning, leveled };
  await planAnew(
    cards,
    () => gather(cards),
    async () => {
      await checkKeys(cards);
      await findParents(cards);
      await checkStructuralRows(cards);
      await settleStructure(cards);
    },
  );
  return await store(cards);
}

/** Puts each row beside the card that it means by id or external id. */
async function gather({ sql, jobId, mode, ...planning }: CardPlanning): Promise<void> {
  await openFaults({ sql });
  planning.pulse();
  await sql.raw(
    `create temp table plan_rows on commit drop as
     select r.line, r.type, r.id as given_id, r.external_id, r.name, r.status, r.parent_by,
       r.parent_id as given_parent, r.parent_external_id, r.parent_path, r.level, r.bytes,
       r.errors is not null or x.line is not null as failed, r.new_errors is not null as fails_new,
       x.line is not null as repeated, null::integer as yields_to,
       found.id is null as is_new,
       coalesce(found.id, case when ? = 'create' then r.id end, uuidv7()) as card_id,
       found.type as stored_type, found.name as stored_name, found.parent_id as stored_parent,
       found.status as stored_status, found.attributes ->> 'capabilityLevel' as stored_level, keyed.id as holder,
       null::uuid as parent, r.parent_by is distinct from 'path' as placed
     from import_card_rows r
     left join cards keyed on keyed.type = r.type and keyed.external_id = r.external_id
     left join cards found on found.id = coalesce(r.id, keyed.id)
     left join plan_excluded x on x.line = r.line
     where r.job_id = ?`,
    [mode, jobId],
  );
  await sql.raw('create unique index on plan_rows (line)');
  await sql.raw('create index on plan_rows (card_id)');
  await sql.raw('create index on plan_rows (type, external_id)');
  await sql.raw('analyze plan_rows');
}

/** Stores what is to be done, in batches, and the outcomes of the rows that have failed. */
async function store({ sql, jobId, leveled, batchRows, pulse }: CardPlanning): Promise<Planned> {
  pulse();
  const { rowCount: failed } = await sql.raw(
    `insert into import_outcomes (job_id, line, outcome, errors)
     select r.job_id, r.line, 'failed',
       coalesce(r.errors, '[]') || case when p.is_new then coalesce(r.new_errors, '[]') else '[]' end
         || coalesce(f.errors, '[]')
     from plan_rows p
     join import_card_rows r on r.job_id = ? and r.line = p.line
     left join ${notedFaults} f on f.line = p.line
     where p.failed`,
    [jobId],
  );
  pulse();
  const { rows } = await sql.raw(
    `with judged as (
       select p.*, d.depth, d.level as planned_level, maker.line as parent_line,
         p.type = any(?::text[]) as leveled,
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
     ), batched as (
       -- parents before children; what is archived comes last, children before parents
       select *, floor(sum(1.0::float8 / ${batchRows} + bytes::float8 / ${BATCH_BYTES}) over (
         order by archives, case when archives then -depth else depth end, line
         rows between unbounded preceding and 1 preceding))::int as batch
       from ranked
     ), stored as (
       insert into import_card_plan (job_id, batch, line, card_id, is_new, parent_id, parent_line, level, structural)
       select ?::uuid, coalesce(batch, 0), line, card_id, is_new, parent, parent_line,
         case when leveled and (is_new or structural) then
           case planned_level when 0 then 'Macro' else 'L' || planned_level end end,
         structural
       from batched
       returning batch
     ) select count(*)::int as rows, coalesce(max(batch) + 1, 0) as batches from stored`,
    [leveled, jobId],
  );
  return { ...rows[0], failed };
}

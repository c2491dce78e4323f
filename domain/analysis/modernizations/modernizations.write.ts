import type { Knex } from 'knex';
import type { Candidate } from './modernizations.types.ts';

/** Deletes proposals of runs that did not complete. */
export async function clearLeftovers(sql: Knex.Transaction): Promise<void> {
  await sql('modernizations').where({ is_current: false }).delete();
}

/** Stores proposals of a run, which are not listed before it completes. */
export async function keepCandidates(
  sql: Knex.Transaction,
  run: { id: string; targetType: string },
  candidates: readonly Candidate[],
): Promise<void> {
  const rows = candidates.map((candidate) => ({
    run_id: run.id,
    target_type: run.targetType,
    card_id: candidate.cardId,
    modernization_type: candidate.type,
    current_tech: candidate.currentTech,
    recommendation: candidate.recommendation,
    effort: candidate.effort,
    score: candidate.score,
    score_without_costs: candidate.scoreWithoutCosts,
    reasons: candidate.reasons,
    dependants: candidate.dependants,
  }));
  await sql.raw(
    `insert into modernizations (run_id, target_type, card_id, modernization_type, current_tech, recommendation,
       effort, score, score_without_costs, reasons, dependants)
     select m.* from jsonb_to_recordset(?::jsonb) as m(run_id uuid, target_type text, card_id uuid,
       modernization_type text, current_tech text, recommendation text, effort text, score numeric,
       score_without_costs numeric, reasons jsonb, dependants int)`,
    [JSON.stringify(rows)],
  );
}

/**
 * Replaces the listed proposals for the type by those of the run. Repeated proposals keep their id.
 * @returns their number by type.
 */
export async function showCandidates(
  sql: Knex.Transaction,
  run: { id: string; targetType: string },
): Promise<Record<string, number>> {
  await sql.raw(
    `with o as (
       delete from modernizations where is_current and target_type = ? returning id, card_id, modernization_type
     )
     update modernizations n set id = o.id from o
     where n.run_id = ? and o.card_id = n.card_id and o.modernization_type = n.modernization_type`,
    [run.targetType, run.id],
  );
  await sql('modernizations')
    .where({ run_id: run.id })
    .update({ is_current: true, analysed_at: sql.fn.now() });
  const { rows } = await sql.raw(
    `select modernization_type as type, count(*)::int as count from modernizations where run_id = ? group by 1 order by 1`,
    [run.id],
  );
  return Object.fromEntries(rows.map(({ type, count }: { type: string; count: number }) => [type, count]));
}

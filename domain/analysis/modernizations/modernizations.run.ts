import { setImmediate as breathe } from 'node:timers/promises';
import type { Knex } from 'knex';
import { command } from '../../kernel/command.ts';
import type { ActiveRun, AnalysisJob } from '../runs/runs.execute.ts';
import { readCardFacts, readCostRanks } from './modernizations.read.ts';
import { type Candidate, type CostRanks, candidateOf } from './modernizations.rules.ts';

/** Cards that are judged at once. */
const PAGE = 2_000;

/** The checkpoint of a run. */
interface Place {
  /** The last card that was judged. */
  after: string | null;
  judged: number;
  total: number;
  ranks: CostRanks;
  today: string;
}

/** Judges all cards of a type, page by page; shows what it found when all are judged. */
export async function analyseModernizations(job: AnalysisJob, run: ActiveRun): Promise<void> {
  const { targetType, only } = parametersOf(run);
  const { ctx, signal } = job;
  const asked = { id: run.id, targetType };
  let place = (job.resume as Place | null) ?? (await begin(job, targetType));
  for (;;) {
    signal.throwIfAborted();
    const { after, today, ranks, total } = place;
    const cards = await readCardFacts(ctx.db, ctx.metamodel, { type: targetType, after, limit: PAGE, today });
    if (cards.length === 0) break;
    const candidates = cards
      .map((card) => candidateOf(card, today, ranks))
      .filter(
        (found): found is Candidate => found !== null && (only === null || found.modernization_type === only),
      );
    const next: Place = { ...place, after: cards.at(-1)!.id, judged: place.judged + cards.length };
    await command(ctx, async (work) => {
      if (candidates.length > 0) await keepCandidates(work.sql, asked, candidates);
      await job.checkpoint(work, {
        progress: Math.min(0.95, next.judged / Math.max(1, total)),
        message: `judged ${next.judged} of ${total} cards`,
        checkpoint: next,
      });
    });
    place = next;
    await breathe();
  }
  await command(ctx, async (work) => {
    await job.hold(work);
    const types = await showCandidates(work.sql, asked);
    const candidates = Object.values(types).reduce((sum, count) => sum + count, 0);
    await run.finish(work, { results: { cards: place.judged, candidates, types } });
  });
}

async function begin(job: AnalysisJob, type: string): Promise<Place> {
  const { ctx } = job;
  const ranks = await readCostRanks(ctx.db, ctx.metamodel, type);
  const { rows } = await ctx.db.raw(
    `select count(*)::int as total from cards c where c.type = ? and c.status = 'ACTIVE'`,
    [type],
  );
  const today = new Date().toISOString().slice(0, 10);
  const place: Place = { after: null, judged: 0, total: rows[0].total, ranks, today };
  await command(ctx, async (work) => {
    await clearLeftovers(work.sql);
    await job.checkpoint(work, { progress: 0.01, checkpoint: place });
  });
  return place;
}

function parametersOf({ parameters }: ActiveRun): { targetType: string; only: string | null } {
  const type = String(parameters.modernization_type);
  return { targetType: String(parameters.target_type), only: type === 'general' ? null : type };
}

/** Deletes proposals of runs that did not complete. */
async function clearLeftovers(sql: Knex.Transaction): Promise<void> {
  await sql('modernizations').where({ is_current: false }).delete();
}

/** Stores proposals of a run, which are not listed before it completes. */
async function keepCandidates(
  sql: Knex.Transaction,
  run: { id: string; targetType: string },
  candidates: readonly Candidate[],
): Promise<void> {
  const columns = Object.keys(candidates[0]!).join(', ');
  await sql.raw(
    `insert into modernizations (run_id, target_type, ${columns})
     select ?, ?, ${columns} from jsonb_populate_recordset(null::modernizations, ?::jsonb)`,
    [run.id, run.targetType, JSON.stringify(candidates)],
  );
}

/**
 * Replaces the listed proposals for the type by those of the run. Repeated proposals keep their id.
 * @returns their number by type.
 */
async function showCandidates(
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

import Type, { type Static } from 'typebox';
import { query, type Sql } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import type { CalculationFormula } from '../../kernel/formulas/calculations.model.ts';
import { defineJob } from '../../kernel/jobs/jobs.define.ts';
import { enqueueJob, type StartedJob } from '../../kernel/jobs/jobs.enqueue.ts';
import type { JobResult, RunningJob } from '../../kernel/jobs/jobs.running.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { lockCards } from '../cards/cards.load.ts';
import { saveCards } from '../cards/cards.save.ts';
import { noRuns } from './calculations.follow.ts';
import { seedsOfType } from './recalculate.ts';

/** Cards for each transaction of the job. */
const BATCH = 500;
/** The maximum number of cards that a request computes itself. */
const REQUEST_LIMIT = 2_000;

/** Starts a job that runs all formulas of a card type. @throws EstateError `forbidden`, `not_found`. */
export async function startRecalculation(ctx: Ctx, typeKey: string): Promise<StartedJob> {
  requirePermission(ctx.caller, 'admin.metamodel');
  if (!ctx.metamodel.cardTypes.has(typeKey)) throw notFound('card type', typeKey);
  return await command(ctx, (work) => enqueueJob(ctx, work, recalculateJob, { type_key: typeKey }));
}

/** Computes the cards of an activated formula: within the command if there are few, otherwise in a job. */
export async function recomputeOrEnqueue(
  work: Work,
  ctx: Ctx,
  { target_type_key: type }: CalculationFormula,
): Promise<void> {
  const ids = await cardIds(work.sql, type, { after: FIRST_ID, limit: REQUEST_LIMIT + 1 });
  if (ids.length > REQUEST_LIMIT) await enqueueJob(ctx, work, recalculateJob, { type_key: type });
  else await computeCards(work, ctx, type, ids);
}

const FIRST_ID = '00000000-0000-0000-0000-000000000000';

async function cardIds(
  sql: Sql,
  type: string,
  { after, limit }: { after: string; limit: number },
): Promise<string[]> {
  return await query(sql).column<string>`select id from cards where type = ${type} and id > ${after}::uuid
    order by id limit ${limit}`;
}

/** Runs the formulas of a type for cards. @returns the number of changed values and of errors. */
async function computeCards(
  work: Work,
  ctx: Ctx,
  type: string,
  ids: string[],
): Promise<{ updated: number; errors: number }> {
  await lockCards(work, ids);
  const runs = noRuns();
  await saveCards(work, ctx, [], { seeds: seedsOfType(work, type, ids), runs });
  return runs;
}

interface Progress {
  last: string;
  processed: number;
  updated: number;
  errors: number;
}

/** Computes all cards of a type in batches, ordered by id, starting from the checkpoint. */
export async function recalculateType(job: RunningJob<RecalculatePayload>): Promise<JobResult> {
  const { ctx, payload } = job;
  let at = (job.resume ?? { last: FIRST_ID, processed: 0, updated: 0, errors: 0 }) as Progress;
  const total = await query(ctx.db).value<number>`select count(*) from cards
    where type = ${payload.type_key}`;
  for (let more = true; more; ) {
    job.signal.throwIfAborted();
    [at, more] = await command(ctx, async (work): Promise<[Progress, boolean]> => {
      const next = await batch(work, ctx, payload.type_key, at);
      const { last: _, ...counts } = next;
      const progress = Math.min(next.processed / Math.max(total, 1), 1);
      await job.checkpoint(work, { progress, counts, checkpoint: next });
      return [next, next.processed - at.processed === BATCH];
    });
  }
  const { last: _, ...counts } = at;
  return { result: counts, counts };
}

async function batch(work: Work, ctx: Ctx, type: string, at: Progress): Promise<Progress> {
  const ids = await cardIds(work.sql, type, { after: at.last, limit: BATCH });
  if (ids.length === 0) return at;
  const { updated, errors } = await computeCards(work, ctx, type, ids);
  const processed = at.processed + ids.length;
  return { last: ids.at(-1)!, processed, updated: at.updated + updated, errors: at.errors + errors };
}

const Payload = Type.Object({ type_key: Type.String({ maxLength: 100 }) }, { additionalProperties: false });

/** Key of the card type. */
type RecalculatePayload = Static<typeof Payload>;

/** Runs the active formulas of a card type over all its cards, batch by batch. */
export const recalculateJob = defineJob({
  kind: 'recalculate',
  queue: 'bulk',
  payload: Payload,
  attempts: 3,
  resumable: true,
});

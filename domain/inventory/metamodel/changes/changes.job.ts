import { setTimeout as delay } from 'node:timers/promises';
import { embed, LOCK_NOT_AVAILABLE, query, sqlState } from '../../../../platform/database.ts';
import { command } from '../../../kernel/command.ts';
import type { JobResult, RunningJob } from '../../../kernel/jobs/jobs.running.ts';
import { requirePermission } from '../../../kernel/permissions/policy.ts';
import { loadCards, lockCards, typeOf } from '../../cards/cards.load.ts';
import { rescored } from '../../cards/cards.rows.ts';
import { saveCards } from '../../cards/cards.save.ts';
import { withHiddenTypes } from '../metamodel.hidden.ts';
import type { MetamodelChangePayload } from './changes.run.ts';
import { type ChangeOperation, executeChange, openRun } from './changes.run.ts';

const PAUSE_MS = 1_000;
const BATCH = 500;

/** The progress of the data quality computation, which follows after the change itself is committed. */
interface Scoring {
  /** Card types that are still to be checked, the current one first. */
  types: string[];
  /** The last checked card of the current type. */
  last: string | null;
  /** Number of cards and relations that the change itself wrote. */
  changed: number;
  /** Number of cards whose data quality was computed since. */
  scored: number;
}

/**
 * Executes a change as a job. Types, values and relations are written in one transaction, exactly once even if workers
 * crash; it waits for long writes. Cards of which only the data quality changes follow in batches, without blocking
 * other writers.
 */
export async function runMetamodelChange(job: RunningJob<MetamodelChangePayload>): Promise<JobResult> {
  requirePermission(job.ctx.caller, 'admin.metamodel');
  let at = (job.resume as Scoring | null) ?? (await change(job));
  while (at.types.length > 0) {
    job.signal.throwIfAborted();
    at = await scoreBatch(job, at);
  }
  const { operation, key, role } = job.payload;
  return { result: { operation, key, ...(role ? { role } : {}) }, counts: countsOf(at) };
}

async function change(job: RunningJob<MetamodelChangePayload>): Promise<Scoring> {
  const { ctx, payload, signal } = job;
  const { operation, key, role, body, force, language, expected } = payload;
  for (;;) {
    try {
      return await command(
        ctx,
        async (work) => {
          await job.hold(work);
          const next: Scoring = { types: [], last: null, changed: 0, scored: 0 };
          const progress = (done: number, total: number) => {
            signal.throwIfAborted();
            next.changed = done;
            job.progress((0.9 * done) / total, `${done} of ${total} cards and relations`);
          };
          const run = openRun(work, ctx, { language, force, expected, progress, deferred: next.types });
          await executeChange(run, { operation: operation as ChangeOperation, key, role, body });
          await job.checkpoint(work, {
            message: 'Counting the data quality',
            counts: countsOf(next),
            checkpoint: next,
          });
          return next;
        },
        { changesMetamodel: true },
      );
    } catch (error) {
      if (sqlState(error) !== LOCK_NOT_AVAILABLE) throw error;
      job.progress(0, 'Waiting for a long write');
      await delay(PAUSE_MS);
      signal.throwIfAborted();
    }
  }
}

const countsOf = ({ changed, scored }: Scoring) => ({ changed, scored });

/** Computes the data quality of some cards with the current metamodel. */
async function scoreBatch(job: RunningJob<MetamodelChangePayload>, at: Scoring): Promise<Scoring> {
  const { ctx } = job;
  return await command(ctx, async (work) => {
    const rows = await query(work.sql).rows`select id from cards
      where type = ${at.types[0]!} and id > ${at.last ?? '00000000-0000-0000-0000-000000000000'}::uuid
      order by id limit ${embed(BATCH)}`;
    const ids: string[] = rows.map((row: { id: string }) => row.id);
    const writing = { ...work, metamodel: withHiddenTypes(work.metamodel) };
    await lockCards(work, ids);
    const cards = await loadCards(writing, ctx, ids);
    const writes = [...cards.values()].map((before) => ({
      before,
      after: rescored(typeOf(writing.metamodel, before), before),
    }));
    await saveCards(writing, ctx, writes);
    const scored = at.scored + ids.length;
    const next: Scoring =
      ids.length < BATCH
        ? { ...at, types: at.types.slice(1), last: null, scored }
        : { ...at, last: ids.at(-1)!, scored };
    await job.checkpoint(work, { counts: countsOf(next), checkpoint: next });
    return next;
  });
}

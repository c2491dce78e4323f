import { setTimeout as delay } from 'node:timers/promises';
import Type, { type Static } from 'typebox';
import { embed, LOCK_NOT_AVAILABLE, query, sqlState } from '../../../../platform/database.ts';
import { EstateError, invalidField } from '../../../../platform/errors.ts';
import { command, commandWith } from '../../../kernel/command.ts';
import type { Ctx, Work } from '../../../kernel/context.ts';
import { defineJob } from '../../../kernel/jobs/jobs.define.ts';
import { enqueueJob, type StartedJob } from '../../../kernel/jobs/jobs.enqueue.ts';
import type { JobResult, RunningJob } from '../../../kernel/jobs/jobs.running.ts';
import type { JsonText } from '../../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../../kernel/permissions/policy.ts';
import { loadCards, lockCards, typeOf } from '../../cards/cards.load.ts';
import { rescored } from '../../cards/cards.rows.ts';
import { saveCards } from '../../cards/cards.save.ts';
import { createCardType, deleteCardType, patchCardType } from '../card-types/card-types.changes.ts';
import { withHiddenTypes } from '../metamodel.hidden.ts';
import {
  createRelationType,
  deleteRelationType,
  patchRelationType,
  restoreRelationType,
} from '../relation-types/relation-types.changes.ts';
import { type PartRename, renameField, renameRelationOption } from '../renames/fields.rename.ts';
import { archiveRole, createRole, patchRole, restoreRole } from '../roles/roles.changes.ts';
import { breaks, type FoundConsumers, listed, noConsumers } from '../usage/consumers.ts';
import { type ChangeRun, LargeChange } from './changes.types.ts';

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
  /** The consumers that the change broke. */
  broken?: ReturnType<typeof listed>;
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
  return { result: { operation, key, ...(role ? { role } : {}), ...at.broken }, counts: countsOf(at) };
}

async function change(job: RunningJob<MetamodelChangePayload>): Promise<Scoring> {
  const { ctx, payload, signal } = job;
  const { operation, key, role, body, force, language, expected } = payload;
  for (;;) {
    try {
      return await commandWith(ctx, { changesMetamodel: true }, async (work) => {
        await job.lock(work);
        const next: Scoring = { types: [], last: null, changed: 0, scored: 0 };
        const progress = (done: number, total: number) => {
          signal.throwIfAborted();
          next.changed = done;
          job.progress((0.9 * done) / total, `${done} of ${total} cards and relations`);
        };
        const run = openRun(work, ctx, { language, force, expected, progress, deferred: next.types });
        await executeChange(run, { operation: operation as ChangeOperation, key, role, body });
        if (breaks(run.broken)) next.broken = listed(run.broken);
        const message = 'Counting the data quality';
        await job.checkpoint(work, { message, counts: countsOf(next), checkpoint: next });
        return next;
      });
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

/** The maximum number of cards and relations that a request writes itself; about a second. */
export const REQUEST_LIMIT = 2_000;

/** The result of a change: the response if it was executed, or the job that executes it. */
type ChangeOutcome =
  | { text: JsonText; broken: FoundConsumers; job?: undefined }
  | { text?: undefined; broken?: undefined; job: StartedJob };

/** A run of a change within a command. */
export function openRun(work: Work, ctx: Ctx, more: Partial<ChangeRun> & { language: string }): ChangeRun {
  return {
    work,
    ctx,
    limit: Number.POSITIVE_INFINITY,
    dryRun: false,
    force: false,
    expected: null,
    seen: null,
    held: null,
    deferred: null,
    broken: noConsumers,
    unannounced: noConsumers,
    progress: () => undefined,
    ...more,
  };
}

/**
 * Changes the metamodel and all data that depends on it in one transaction that blocks other writers. A change that
 * writes many cards or relations becomes a job. A dry run returns the impact and writes nothing.
 * @throws EstateError of the operation; `metamodel_busy` while a long write is running.
 */
export async function changeMetamodel(
  ctx: Ctx,
  change: MetamodelChange,
  options: { language: string; dryRun?: boolean; force?: boolean; limit?: number },
): Promise<ChangeOutcome> {
  requirePermission(ctx.caller, 'admin.metamodel');
  const { language, dryRun = false, force = false, limit = REQUEST_LIMIT } = options;
  let seen: string | null = null;
  let broken = noConsumers;
  try {
    const text = await commandWith(ctx, { dryRun, changesMetamodel: !dryRun }, async (work) => {
      const run = openRun(work, ctx, { language, dryRun, force, limit });
      try {
        return await executeChange(run, change);
      } finally {
        ({ seen, broken } = run);
      }
    });
    return { text, broken };
  } catch (error) {
    if (sqlState(error) === LOCK_NOT_AVAILABLE) throw metamodelBusy(error);
    if (!(error instanceof LargeChange)) throw error;
    if (ctx.batch.joined) {
      const message = 'cannot be sent here: a job makes this large change, which is not part of the batch';
      throw invalidField('X-Mutation-Batch', 'not_offered', message);
    }
    const payload = { ...change, force, language, expected: seen };
    return { job: await command(ctx, (work) => enqueueJob(ctx, work, metamodelChangeJob, payload)) };
  }
}

/** The error for a change while a long write is running. */
export function metamodelBusy(cause: unknown): EstateError {
  const detail = 'A long write, such as an import as a whole, is under way; try again when it has ended.';
  return new EstateError('metamodel_busy', detail, { headers: { 'retry-after': '10' }, cause });
}

/** The requested operation, its target, and the request body. */
export interface MetamodelChange {
  operation: ChangeOperation;
  /** The key of the card type or relation type; of a role, of its card type. */
  key: string;
  /** The key of the stakeholder role. */
  role?: string;
  body?: Record<string, unknown>;
}

type Handler = (run: ChangeRun, change: MetamodelChange) => Promise<JsonText>;

const handlers = {
  create_card_type: (run, { body }) => createCardType(run, body!),
  patch_card_type: (run, { key, body }) => patchCardType(run, key, body!),
  delete_card_type: (run, { key }) => deleteCardType(run, key),
  rename_field: (run, { key, body }) => renameField(run, key, body as unknown as PartRename),
  rename_relation_option: (run, { key, body }) =>
    renameRelationOption(run, key, body as unknown as PartRename & { option_key: string }),
  create_relation_type: (run, { body }) => createRelationType(run, body!),
  patch_relation_type: (run, { key, body }) => patchRelationType(run, key, body!),
  delete_relation_type: (run, { key }) => deleteRelationType(run, key),
  restore_relation_type: (run, { key }) => restoreRelationType(run, key),
  create_role: (run, { key, body }) => createRole(run, key, body!),
  patch_role: (run, { key, role, body }) => patchRole(run, key, role!, body!),
  archive_role: (run, { key, role }) => archiveRole(run, key, role!),
  restore_role: (run, { key, role }) => restoreRole(run, key, role!),
} satisfies Record<string, Handler>;

type ChangeOperation = keyof typeof handlers;

/** Executes one change in a command with the exclusive metamodel lock, and stores its buffered events. */
async function executeChange(run: ChangeRun, change: MetamodelChange): Promise<JsonText> {
  const handler: Handler = handlers[change.operation];
  const text = await handler(run, change);
  await run.held?.record();
  return text;
}

const Payload = Type.Object(
  {
    operation: Type.String({ maxLength: 50 }),
    key: Type.String({ maxLength: 100 }),
    role: Type.Optional(Type.String({ maxLength: 100 })),
    /** The checked request body; it is stored nowhere else before the job has run. */
    body: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    force: Type.Boolean(),
    /** The language of the labels in `expected`. */
    language: Type.String({ maxLength: 40 }),
    /** ETag of the object to be changed; null if it is created. */
    expected: Type.Union([Type.String({ maxLength: 100 }), Type.Null()]),
  },
  { additionalProperties: false },
);

/** What a change of the metamodel works on. */
type MetamodelChangePayload = Static<typeof Payload>;

/**
 * Changes the metamodel and the values of many cards or relations in one transaction; then computes data quality in
 * batches.
 */
export const metamodelChangeJob = defineJob({
  kind: 'metamodel_change',
  queue: 'bulk',
  payload: Payload,
  attempts: 3,
  resumable: true,
});

import { inTransaction, query, type Sql } from '../../../platform/database.ts';
import { command } from '../../kernel/command.ts';
import type { Work } from '../../kernel/context.ts';
import { feedEnds } from '../../kernel/events/changes.ts';
import type { RunningJob } from '../../kernel/jobs/jobs.running.ts';
import { revokeApiTokensOf } from '../api-tokens.commands.ts';
import { lockUsers, type UserRow } from '../users.store.ts';
import { readIdentity } from './erasure.identity.ts';
import type { EraseUserPayload } from './erasure.job.ts';
import { createEraser, type Pseudonym, pseudonymOf, type UserIdentity } from './erasure.rules.ts';
import { type ErasedUser, type FeedRange, patternsOf, sweepEvents, sweepTable } from './erasure.sweep.ts';
import { personalRows, textTables } from './erasure.tables.ts';

/** Number of feed positions for each transaction. */
const STRETCH = 20_000;

interface Person extends ErasedUser {
  known: UserIdentity;
  pseudonym: Pseudonym;
}

/**
 * Replaces a user's names and addresses in two passes: one over everything, then the account itself, which nobody
 * changes afterwards, then one over texts that were written meanwhile with the old name. Rows that contain the names to
 * search for are rewritten last, so that an interrupted run can start over and find all of them again.
 */
export async function eraseUser(job: RunningJob<EraseUserPayload>): Promise<void> {
  const { ctx } = job;
  const id = job.payload.user_id;
  const first = await personOf(ctx.db, id);
  // A user who already has the pseudonym needs no replacement.
  if (!first) return;
  const { purgedThrough, newest } = await feedEnds(ctx.db);
  const counts: Record<string, number> = {};
  await sweepTables(job, first, counts);
  await sweepFeed(job, first, { after: purgedThrough, through: newest }, counts);

  const person = await command(ctx, async (work) => {
    await job.hold(work);
    const user = (await lockUsers(work.sql, [id])).get(id);
    // A concurrent rename has ended, or waits and will find the user erased.
    const known = (await personOf(work.sql, id)) ?? first;
    await replaceAccount(work, known, user);
    work.raise('users');
    return known;
  });
  const renamed = person.patterns.some((pattern) => !first.patterns.includes(pattern));
  await sweepTables(job, person, counts);
  const begin = renamed ? purgedThrough : newest;
  const { newest: behind } = await feedEnds(ctx.db);
  await sweepFeed(job, person, { after: begin, through: behind }, counts);

  await command(ctx, async (work) => {
    await job.hold(work);
    const { newest: end } = await feedEnds(work.sql);
    counts.events! += await sweepEvents(work.sql, { after: behind, through: end }, person, 'others');
    counts.events! += await sweepEvents(work.sql, { after: purgedThrough, through: end }, person, 'identity');
    work.emit({ event_type: 'user.erased', data: { id, display_name: person.pseudonym.name } });
    await job.finish(work, { result: { user_id: id, pseudonym: person.pseudonym.name }, counts });
  });
}

async function personOf(sql: Sql, id: string): Promise<Person | undefined> {
  const known = await readIdentity(sql, id);
  const pseudonym = pseudonymOf(id);
  return (
    known && { id, known, pseudonym, patterns: patternsOf(known), eraser: createEraser(known, pseudonym) }
  );
}

async function sweepTables(
  { ctx }: RunningJob<EraseUserPayload>,
  person: Person,
  counts: Record<string, number>,
): Promise<void> {
  for (const spec of textTables) {
    const swept = await inTransaction(ctx.db, (sql) => sweepTable(sql, spec, person));
    counts[spec.table] = (counts[spec.table] ?? 0) + swept;
  }
}

async function sweepFeed(
  job: RunningJob<EraseUserPayload>,
  person: Person,
  { after: begin, through: end }: FeedRange,
  counts: Record<string, number>,
): Promise<void> {
  counts.events ??= 0;
  for (let after = begin; after < end; after += STRETCH) {
    job.signal.throwIfAborted();
    const through = Math.min(after + STRETCH, end);
    counts.events += await inTransaction(job.ctx.db, (sql) =>
      sweepEvents(sql, { after, through }, person, 'others'),
    );
    job.progress((through - begin) / (end - begin));
  }
}

async function replaceAccount(
  work: Work,
  { id, known, pseudonym }: Person,
  user: UserRow | undefined,
): Promise<void> {
  const { sql } = work;
  await revokeApiTokensOf(work, id);
  for (const { table, column } of personalRows) {
    await sql(table)
      .where({ [column]: id })
      .delete();
  }
  await query(sql).run`delete from throttles
    where key ilike any(${patternsOf({ ...known, names: [] })}::text[])`;
  if (!user) return;
  await sql('users')
    .where({ id })
    .update({
      email: pseudonym.email,
      display_name: pseudonym.name,
      password_hash: null,
      is_active: false,
      invited_at: null,
      last_login: null,
      locale: 'en',
      ui_preferences: sql.raw('default'),
      notification_preferences: sql.raw('default'),
      token_version: user.token_version + 1,
      erased_at: sql.fn.now(),
      updated_at: sql.fn.now(),
    });
}

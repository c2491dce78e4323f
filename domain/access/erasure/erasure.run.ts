import { inTransaction } from '../../../platform/database.ts';
import { command, type Work } from '../../command.ts';
import { feedEnds } from '../../events/changes.ts';
import type { RunningJob } from '../../jobs/jobs.running.ts';
import type { EraseUserPayload } from '../../jobs/kinds/erase-user.ts';
import { revokeApiTokensOf } from '../api-tokens.commands.ts';
import { lockUsers } from '../users.store.ts';
import { knownAs } from './erasure.identity.ts';
import { createEraser, type KnownAs, type Pseudonym, pseudonymOf } from './erasure.rules.ts';
import { type Erased, patternsOf, sweepEvents, sweepTable } from './erasure.sweep.ts';
import { ownRows, textTables } from './erasure.tables.ts';

/** Positions looked through in one transaction. */
const STRETCH = 20_000;

interface Person extends Erased {
  known: KnownAs;
  pseudonym: Pseudonym;
}

/**
 * Replaces a person's names and addresses. What tells them is rewritten last, together with the account, so that a run
 * which was killed begins anew and finds all of them again.
 */
export async function eraseUser(job: RunningJob<EraseUserPayload>): Promise<void> {
  const { ctx } = job;
  const id = job.payload.user_id;
  const known = await knownAs(ctx.db, id);
  const pseudonym = pseudonymOf(id);
  // whoever is called by the pseudonym already leaves nothing to replace
  const person = known && {
    id,
    known,
    pseudonym,
    patterns: patternsOf(known),
    eraser: createEraser(known, pseudonym),
  };
  if (!person) return;
  const counts: Record<string, number> = {};
  for (const spec of textTables) {
    counts[spec.table] = await inTransaction(ctx.db, (sql) => sweepTable(sql, spec, person));
  }
  const { purgedThrough, newest } = await feedEnds(ctx.db);
  counts.events = 0;
  for (let after = purgedThrough; after < newest; after += STRETCH) {
    job.signal.throwIfAborted();
    const through = Math.min(after + STRETCH, newest);
    counts.events += await inTransaction(ctx.db, (sql) =>
      sweepEvents(sql, { after, through }, person, 'others'),
    );
    job.progress((through - purgedThrough) / (newest - purgedThrough));
  }
  await command(ctx, async (work) => {
    await job.hold(work);
    const { newest: end } = await feedEnds(work.sql);
    // what was written meanwhile
    counts.events! += await sweepEvents(work.sql, { after: newest, through: end }, person, 'others');
    counts.events! += await sweepEvents(work.sql, { after: purgedThrough, through: end }, person, 'identity');
    await replaceAccount(work, person);
    work.emit({ event_type: 'user.erased', data: { id, display_name: pseudonym.name } });
    work.raise('users');
    await job.finish(work, { result: { user_id: id, pseudonym: pseudonym.name }, counts });
  });
}

async function replaceAccount(work: Work, { id, known, pseudonym }: Person): Promise<void> {
  const { sql } = work;
  const user = (await lockUsers(sql, [id])).get(id);
  await revokeApiTokensOf(work, id);
  for (const { table, column } of ownRows) {
    await sql(table)
      .where({ [column]: id })
      .delete();
  }
  await sql.raw('delete from throttles where key ilike any(?::text[])', [
    patternsOf({ ...known, names: [] }),
  ]);
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

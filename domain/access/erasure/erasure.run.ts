import { embed, inTransaction, query, type Sql, type Transaction } from '../../../platform/database.ts';
import { EstateError, notFound } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { feedEnds } from '../../kernel/events/changes.ts';
import { enqueueJob, type StartedJob } from '../../kernel/jobs/jobs.enqueue.ts';
import type { RunningJob } from '../../kernel/jobs/jobs.running.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { lockRow } from '../../kernel/resources/rows.ts';
import { lockAdministrators, requireAnotherAdministrator } from '../administrators.ts';
import { revokeApiTokensOf } from '../api-tokens.commands.ts';
import { isAdministrator } from '../users.delete.ts';
import { User, type UserRow } from '../users.model.ts';
import { updateUser } from '../users.store.ts';
import { identityEvents, readIdentity } from './erasure.identity.ts';
import { type EraseUserPayload, eraseUserJob } from './erasure.job.ts';
import {
  createEraser,
  type Eraser,
  type Pseudonym,
  pseudonymOf,
  type UserIdentity,
} from './erasure.rules.ts';
import { personalRows, type TextTable, textTables } from './erasure.tables.ts';

/**
 * Deactivates a user at once, and starts the job that replaces name and address in all texts that the service has
 * written. This cannot be undone. A deleted user can be erased as well.
 * @throws EstateError `forbidden`, `not_found`, `conflict` for the caller and the last administrator, `wrong_state` if
 * the user is erased already.
 */
export async function startErasure(ctx: Ctx, id: string): Promise<StartedJob> {
  requirePermission(ctx.caller, 'admin.users');
  return await command(ctx, async (work) => {
    const { sql } = work;
    await lockAdministrators(sql);
    const user = await lockRow(sql, User, { id });
    if (!user && !(await readIdentity(sql, id))) throw notFound('user', id);
    if (id === ctx.caller.userId) throw new EstateError('conflict', 'Nobody erases himself.');
    if (user) {
      if (user.erased_at !== null) throw new EstateError('wrong_state', 'The user was erased already.');
      if (isAdministrator(user)) await requireAnotherAdministrator(sql, [id]);
      if (user.is_active) {
        await updateUser(work, user, { is_active: false }, { revokes: true });
        await work.extensions.userRightsChanged(work, ctx, [id]);
      }
    }
    return await enqueueJob(ctx, work, eraseUserJob, { user_id: id });
  });
}

/** Maximum rows of one statement. */
const ROWS = 1_000;

/** The erased user, and how to find rows that contain the name. */
interface ErasedUser {
  id: string;
  /** LIKE patterns. */
  patterns: string[];
  eraser: Eraser;
}

/** LIKE patterns of every name, address and mention, in plain text and in JSON text. */
export function patternsOf({ id, emails, names }: UserIdentity): string[] {
  const words = [...emails, ...names].flatMap((word) => [word, JSON.stringify(word).slice(1, -1)]);
  return [...new Set([...words, `(user:${id})`])].map((word) => `%${word.replace(/[\\%_]/g, '\\$&')}%`);
}

/** Positions of the feed: after `after`, up to and including `through`. */
interface FeedRange {
  after: number;
  through: number;
}

/**
 * Rewrites the events of a range that contain the user's name. Events of the account itself also lose the network
 * address.
 * @param which `identity` for the events with former names, `others` for the rest.
 * @returns the number of rewritten events.
 */
export async function pseudonymiseEvents(
  sql: Sql,
  stretch: FeedRange,
  person: ErasedUser,
  which: 'identity' | 'others',
): Promise<number> {
  let changed = 0;
  for (let { after } = stretch; ; ) {
    const rows = await query(sql).rows`select e.position, e.event_type, e.scope, e.user_id, e.data,
      e.data::text like ${`%${person.id}%`} as about from events e
       where e.position > ${after} and e.position <= ${stretch.through}
       and (e.event_type = any(${identityEvents}::text[])) = ${which === 'identity'}
         and (e.data::text ilike any(${person.patterns}::text[])
         or (e.user_id = ${person.id}::uuid and e.event_type like 'auth.%'))
       order by e.position limit ${embed(ROWS)}`;
    const rewritten = (rows as EventRow[])
      .map((row) => ({ ...row, erased: erasedData(row, person) }))
      .filter(({ erased, data }) => differ(erased, data));
    if (rewritten.length > 0) {
      await query(sql).run`update events e set data = v.data
         from jsonb_to_recordset(${JSON.stringify(rewritten.map(({ position, erased }) => ({ position, data: erased })))}::jsonb) as v(position bigint, data jsonb) where e.position = v.position`;
      changed += rewritten.length;
    }
    if (rows.length < ROWS) return changed;
    after = rows.at(-1)!.position;
  }
}

interface EventRow {
  position: number;
  event_type: string;
  scope: string;
  user_id: string | null;
  data: Record<string, unknown>;
  /** Whether the event contains the user's id. */
  about: boolean;
}

function erasedData(row: EventRow, { id, eraser }: ErasedUser): unknown {
  const about = row.about || row.user_id === id;
  // Texts of notifications are written by the service; other events also contain texts of users.
  const replace = row.scope === 'user' ? eraser.texts : eraser.members;
  const data = replace(row.data, about) as EventRow['data'];
  const own = row.user_id === id && row.event_type.startsWith('auth.') && 'address' in data;
  return own ? { ...data, address: null } : data;
}

/** Rewrites the texts of one table. @returns the number of rewritten rows. */
async function sweepTable(sql: Transaction, spec: TextTable, person: ErasedUser): Promise<number> {
  const { text = [], json = [], mentions = [] } = spec;
  const columns = [...text, ...json, ...mentions];
  const hits = columns.map((column) => `t.${column}::text ilike any(?::text[])`).join(' or ');
  const about = spec.about ? `t.${spec.about} is not distinct from ?::uuid` : '?::uuid is null';
  const { rows } = await sql.raw(
    `select t.${spec.key} as key, ${about} as about, ${columns.map((column) => `t.${column}`).join(', ')}
     from ${spec.table} t where (${hits}) and ${spec.where ?? 'true'} order by t.${spec.key} for update`,
    [person.id, ...columns.map(() => person.patterns)],
  );
  let changed = 0;
  for (const row of rows) {
    const values: Record<string, unknown> = {};
    for (const column of columns) {
      const before = row[column];
      if (before === null) continue;
      const after = mentions.includes(column)
        ? person.eraser.mentions(before)
        : person.eraser.texts(before, row.about);
      if (differ(after, before)) values[column] = json.includes(column) ? JSON.stringify(after) : after;
    }
    if (Object.keys(values).length === 0) continue;
    await sql(spec.table)
      .where({ [spec.key]: row.key })
      .update(values);
    changed += 1;
  }
  return changed;
}

const differ = (a: unknown, b: unknown): boolean => JSON.stringify(a) !== JSON.stringify(b);

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
    await job.lock(work);
    const user = await lockRow(work.sql, User, { id });
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
    await job.lock(work);
    const { newest: end } = await feedEnds(work.sql);
    counts.events! += await pseudonymiseEvents(work.sql, { after: behind, through: end }, person, 'others');
    const stretch = { after: purgedThrough, through: end };
    counts.events! += await pseudonymiseEvents(work.sql, stretch, person, 'identity');
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
      pseudonymiseEvents(sql, { after, through }, person, 'others'),
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
  for (const { table, column, where = 'true' } of personalRows) {
    await sql(table)
      .where({ [column]: id })
      .whereRaw(where)
      .delete();
  }
  await query(sql).run`delete from throttles
    where key ilike any(${patternsOf({ ...known, names: [] })}::text[])`;
  if (!user) return;
  await query(sql).run`update users set email = ${pseudonym.email}, display_name = ${pseudonym.name},
    password_hash = null, is_active = false, invited_at = null, last_login = null, locale = 'en',
    ui_preferences = default, notification_preferences = default, token_version = ${user.token_version + 1},
    erased_at = now(), updated_at = now() where id = ${id}`;
}

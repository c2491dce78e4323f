import { embed, query } from '../../../../platform/database.ts';
import { EstateError } from '../../../../platform/errors.ts';
import { callerOfJob } from '../../../access/jobs.owner.ts';
import { command } from '../../../kernel/command.ts';
import { type Ctx, type Reference, systemCaller, type Work } from '../../../kernel/context.ts';
import { today } from '../../../kernel/dates.ts';
import type { RunningJob } from '../../../kernel/jobs/jobs.running.ts';
import { deprecationOf } from '../../../kernel/metamodel/deprecations.ts';
import type { Metamodel } from '../../../kernel/metamodel/metamodel.compile.ts';
import { type FoundConsumers, findConsumers } from '../usage/consumers.ts';

/** How many days before the removal owners are reminded. */
const REMINDER_DAYS = 7;
const MAX_NAMES = 3;

/**
 * Notifies the owners of objects that use deprecated parts: once when the object is found, and once in the week before the
 * removal. Owners only read of objects that they may read.
 * @returns the number of notices.
 */
export async function notifyOwners(job: RunningJob): Promise<number> {
  const { metamodel } = job.ctx;
  const found = await findUses({ ...job.ctx, caller: systemCaller }, job.ctx.db, metamodel);
  const owners = Map.groupBy(found.consumers, ({ owner }) => owner?.id);
  let notices = job.counts.notices ?? 0;
  for (const [ownerId, consumers] of owners) {
    if (ownerId === undefined) continue;
    job.signal.throwIfAborted();
    const parts = new Set(consumers.flatMap(({ uses }) => uses));
    await command(job.ctx, async (work) => {
      const told = await notifyOwner(work, job.ctx, ownerId, parts);
      if (told === 0) return;
      notices += told;
      await job.checkpoint(work, { counts: { notices } });
    });
  }
  return notices;
}

/** The objects that use parts whose removal is announced; their `uses` are the paths of the deprecations. */
async function findUses(
  ctx: Ctx,
  sql: Ctx['db'] | Work['sql'],
  metamodel: Metamodel,
  ownerId?: string,
): Promise<FoundConsumers> {
  const day = today();
  const announced = (paths: Reference): string[] => {
    const parts = paths.flatMap((path) => deprecationOf(metamodel, path) ?? []);
    const isGoing = parts.length === paths.length && parts.every(({ removal }) => removal > day);
    return isGoing ? parts.map(({ path }) => path) : [];
  };
  const select = (references: Iterable<Reference>) => [...new Set([...references].flatMap(announced))];
  return await findConsumers(ctx, sql, metamodel, select, ownerId);
}

async function notifyOwner(
  work: Work,
  ctx: Ctx,
  ownerId: string,
  parts: ReadonlySet<string>,
): Promise<number> {
  const { deprecations } = ctx.metamodel;
  const paths = [...parts].sort();
  const removals = paths.map((path) => deprecations.get(path)!.removal);
  const due = await query(work.sql).rows<{ path: string; is_reminder: boolean }>`
    insert into deprecation_notices as n (user_id, path, removal, announced_on)
    select u.id, p.path, p.removal, ${today()}::date
    from unnest(${paths}::text[], ${removals}::date[]) p (path, removal) join users u on u.id = ${ownerId}::uuid
    on conflict (user_id, path, removal) do update set reminded_on = excluded.announced_on
      where n.reminded_on is null and n.announced_on < excluded.announced_on
        and n.removal - excluded.announced_on <= ${embed(REMINDER_DAYS)}
    returning path, reminded_on is not null as is_reminder`;
  if (due.length === 0) return 0;
  const caller = await callerOfJob(work.sql, ownerId, { permissions: '*' }).catch((error) => {
    if (error instanceof EstateError) return undefined;
    throw error;
  });
  if (!caller) return 0;
  const { consumers } = await findUses({ ...ctx, caller }, work.sql, ctx.metamodel, ownerId);
  let told = 0;
  for (const { path, is_reminder } of due) {
    const using = consumers.filter(({ uses }) => uses.includes(path));
    if (using.length === 0) continue;
    const { label, removal, note, successor } = deprecations.get(path)!;
    work.emit({
      event_type: is_reminder ? 'deprecation.reminded' : 'deprecation.announced',
      recipient_id: ownerId,
      data: {
        id: path,
        label,
        removal,
        note: note ?? null,
        successor: successor ?? null,
        consumers: using.slice(0, MAX_NAMES).map(({ kind, name }) => ({ kind, name })),
        consumer_count: using.length,
      },
    });
    told += 1;
  }
  return told;
}

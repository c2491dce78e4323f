import { queryRows } from '../../../platform/database.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { inBatches } from '../../kernel/jobs/jobs.batches.ts';
import type { RunningJob } from '../../kernel/jobs/jobs.running.ts';
import { readSetting } from '../../kernel/settings/settings.read.ts';
import { deleteAll } from './cards.delete.ts';
import { loadCards, lockHierarchy, requireCard } from './cards.load.ts';

/** Cards deleted by one transaction: nobody moves a card meanwhile. */
const BATCH = 500;

/**
 * Deletes, batch by batch, the cards that were archived longer ago than the settings keep them; run again it finds
 * none. Archived children that are younger stay, without a parent. Cards of hidden types stay until those are shown.
 * @returns how many.
 */
export async function purgeArchive(job: RunningJob): Promise<number> {
  return await inBatches(job, 'deleted', BATCH, async (work) => await purgeBatch(work, job.ctx));
}

async function purgeBatch(work: Work, ctx: Ctx): Promise<number> {
  const days = await readSetting(work.sql, 'archive_retention_days');
  if (days === 0) return 0;
  await lockHierarchy(work.sql, 'exclusive');
  const rows = await queryRows<{ id: string }>(
    work.sql,
    `select c.id from cards c
     where c.status = 'ARCHIVED' and c.archived_at < now() - make_interval(days => ?) and c.type = any(?::text[])
       and not exists (select from cards k where k.parent_id = c.id and k.status = 'ACTIVE')
     order by c.archived_at, c.id limit ${BATCH}`,
    [days, work.metamodel.visibleTypes],
  );
  if (rows.length === 0) return 0;
  const ids = rows.map(({ id }) => id);
  const cards = await loadCards(work, ctx, ids);
  await deleteAll(
    work,
    ctx,
    ids.map((id) => requireCard(cards, id)),
    {},
  );
  return ids.length;
}

import { embed, query } from '../../../platform/database.ts';
import { rescoreCards } from '../../inventory/cards/cards.save.ts';
import { command } from '../../kernel/command.ts';
import type { Applying } from './transfer.write.ts';

/** Cards of a page. */
const PAGE = 500;

/**
 * Recomputes the data quality of all cards that the archive has written or attached something to: it may differ in a workspace with
 * other tags, relations and stakeholders.
 */
export async function rescoreImported({ job, services }: Applying): Promise<void> {
  const { ctx, payload, signal } = job;
  let after = '00000000-0000-0000-0000-000000000000';
  for (;;) {
    signal.throwIfAborted();
    const rows = await query(services.db).rows`with touched as (
         select case kind when 'cards' then content ->> 'id' else content ->> 'card_id' end as id
         from workspace_transfer_rows where transfer_id = ${payload.transfer_id}::uuid and done
         and kind in ('cards', 'card_tags', 'stakeholders')
         union
         select unnest(array[content ->> 'source_id', content ->> 'target_id'])
         from workspace_transfer_rows where transfer_id = ${payload.transfer_id}::uuid and done
         and kind = 'relations'
       )
       select id from touched where id > ${after} order by id limit ${embed(PAGE)}`;
    if (rows.length === 0) return;
    const ids = rows.map(({ id }: { id: string }) => id);
    await command(ctx, async (work) => {
      await rescoreCards(work, ctx, ids);
      await job.checkpoint(work, { message: 'Computing the data quality' });
    });
    after = ids.at(-1)!;
  }
}

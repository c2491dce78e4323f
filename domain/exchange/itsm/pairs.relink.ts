import { EstateError, notFound } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { lockBook } from './book.read.ts';
import { MANAGE_SYNC } from './connections.queries.ts';

/** What a bulk re-link has done, or would do. */
export interface Relinked {
  /** Pairs whose card goes to another record. */
  relinked: number;
  /** Open questions about matches that it leaves to a person. */
  left: number;
}

/**
 * Questions that ask whether a record is a card whose own record is gone, where nothing else fits: one candidate with the same
 * identity fields, claimed by one record. A record counts as gone when its pair says so, or a row of the plan that waits.
 */
const fitting = `
  with asked as (
    select q.id, q.remote_id, (q.candidates -> 0 ->> 'cardId')::uuid as card_id,
      count(*) over (partition by q.candidates -> 0 ->> 'cardId') as claims
    from itsm_questions q
    where q.mapping_id = :mapping and q.kind = 'match' and q.remote_id is not null
      and jsonb_array_length(q.candidates) = 1 and q.candidates -> 0 ->> 'score' = '1'
  ), own as (
    select p.*, count(*) over (partition by p.card_id) as records, p.gone is not distinct from 'remote' or exists (
        select from itsm_runs r join itsm_plan_rows w on w.run_id = r.id
        where r.mapping_id = p.mapping_id and r.status = 'review' and w.remote_id = p.remote_id
          and w.row -> 'state' ->> 'gone' = 'remote') as is_gone
    from itsm_pairs p where p.mapping_id = :mapping and p.state <> 'unmapped'
  )
  select a.id, a.remote_id as to, o.remote_id as from, a.card_id
  from asked a join own o on o.card_id = a.card_id and o.records = 1 and o.is_gone
  where a.claims = 1 and not exists (
    select from itsm_pairs p where p.mapping_id = :mapping and p.remote_id = a.remote_id)`;

/**
 * Gives cards whose records are gone to the records with the same identity fields, all at once, as after a clone of the remote
 * or a move to another one, where each record has a new key. The next run carries it out; it reads everything.
 * @param dryRun only counts.
 * @throws EstateError `forbidden`, `not_found`, `wrong_state` while a run is under way.
 */
export async function relinkPairs(ctx: Ctx, mappingId: string, dryRun: boolean): Promise<Relinked> {
  requirePermission(ctx.caller, MANAGE_SYNC);
  return await command(ctx, async ({ sql, emit }) => {
    const { rows: mappings } = await sql.raw('select id from itsm_mappings where id = ? for no key update', [
      mappingId,
    ]);
    if (!mappings[0]) throw notFound('mapping', mappingId);
    const { rows: open } = await sql.raw(
      `select id from itsm_runs where mapping_id = ? and status in ('queued', 'running')`,
      [mappingId],
    );
    if (open[0]) {
      const extra = { mapping_id: mappingId, run_id: open[0].id };
      throw new EstateError('wrong_state', 'A run of the mapping is under way.', { extra });
    }
    await lockBook(sql, mappingId);
    const { rows } = await sql.raw(fitting, { mapping: mappingId } as never);
    const { rows: asked } = await sql.raw(
      `select count(*)::int as n from itsm_questions where mapping_id = ? and kind = 'match'`,
      [mappingId],
    );
    const outcome = { relinked: rows.length, left: asked[0].n - rows.length };
    if (dryRun || rows.length === 0) return outcome;
    const column = (name: string) => rows.map((row: Record<string, string>) => row[name]);
    await sql.raw(
      `update itsm_pairs set state = 'ended', gone = 'remote', evidence = null, since = null
       where mapping_id = ? and remote_id = any(?::text[])`,
      [mappingId, column('from')] as never,
    );
    await sql.raw(
      `insert into itsm_decisions (mapping_id, remote_id, card_id, created_by)
       select ?, d.remote_id, d.card_id, ? from unnest(?::text[], ?::uuid[]) as d(remote_id, card_id)
       on conflict (mapping_id, remote_id) do update set card_id = excluded.card_id, created_by = excluded.created_by`,
      [mappingId, ctx.caller.userId, column('to'), column('card_id')] as never,
    );
    await sql.raw('delete from itsm_questions where id = any(?::uuid[])', [column('id')] as never);
    await sql.raw(
      `update itsm_books set again = array(select distinct unnest(again || ?::text[])), complete_read_at = null,
         pulled_read_at = null, pushed_read_at = null where mapping_id = ?`,
      [column('to'), mappingId] as never,
    );
    emit({
      event_type: 'itsm_pairs.relinked',
      data: { mapping_id: mappingId, count: rows.length },
    });
    return outcome;
  });
}

import { embed, fragment, query, type Sql, type Transaction } from '../../../platform/database.ts';
import { EstateError, invalidField, notFound } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { MANAGE_SYNC } from './connections.queries.ts';
import { lockSyncState, markForReread, requireMappingPermissionsById } from './itsm.load.ts';

/** A user's decision: the winner of a conflict, or the card of a record (null: a new card). */
type ReviewDecision = { winner: 'local' | 'remote' } | { card_id: string | null };

/** @throws EstateError `validation_failed` unless the card can be the card of the record. */
async function requireFreeCard(sql: Sql, mappingId: string, remoteId: string, cardId: string): Promise<void> {
  const [card] = await query(sql).rows<{ other: string | null }>`
       select (select min(p.remote_id) from itsm_pairs p
         where p.mapping_id = m.id and p.card_id = c.id and p.remote_id <> ${remoteId} and p.state = 'linked') as other
     from cards c join itsm_mappings m on m.id = ${mappingId} and m.card_type_key = c.type
     where c.id = ${cardId} and c.status = 'ACTIVE'`;
  if (!card)
    throw invalidField('card_id', 'unknown_card', 'is not an active card of the mapping’s card type');
  if (card.other !== null) {
    const what = `is the card of record ${card.other}: un-map that record first, or set null for a new card`;
    throw invalidField('card_id', 'card_in_use', what);
  }
}

/**
 * Decides a review item; the next run applies the decision. The decision of a conflict is valid as long as neither side has
 * changed since the conflict was found.
 * @throws EstateError `forbidden`, `not_found`, `validation_failed`, `wrong_state` if no decision can resolve the item.
 */
export async function decideReviewItem(ctx: Ctx, id: string, decision: ReviewDecision): Promise<void> {
  requirePermission(ctx.caller, MANAGE_SYNC);
  await command(ctx, async ({ sql, metamodel, emit }) => {
    const item = await sql('itsm_review_items').where({ id }).forUpdate().first();
    if (!item) throw notFound('question', id);
    const { mapping_id, kind, remote_id, path } = item;
    await requireMappingPermissionsById(ctx, { sql, metamodel }, mapping_id);
    if (remote_id === null) {
      const message =
        item.refused_side === 'remote'
          ? 'The remote refused to create a record for the card: change the card, or correct the mapping or the remote.'
          : 'The card is similar to another synchronised card: change one of them, or merge them.';
      throw new EstateError('wrong_state', message);
    }
    if (kind === 'conflict') {
      if (!('winner' in decision)) throw invalidField('winner', 'required', 'A conflict needs a winner.');
      await query(sql)
        .run`insert into itsm_resolutions (mapping_id, remote_id, path, winner, local, remote, created_by)
         select mapping_id, remote_id, path, ${decision.winner}, local, remote, ${ctx.caller.userId} from itsm_review_items where id = ${id}
         on conflict (mapping_id, remote_id, coalesce(path, '')) do update set winner = excluded.winner,
           local = excluded.local, remote = excluded.remote, created_by = excluded.created_by, created_at = now()`;
    } else {
      if (!('card_id' in decision)) {
        const message = 'Set card_id to the card of the record, or to null for a new card.';
        throw invalidField('card_id', 'required', message);
      }
      if (decision.card_id !== null) await requireFreeCard(sql, mapping_id, remote_id, decision.card_id);
      await sql('itsm_decisions')
        .insert({ mapping_id, remote_id, card_id: decision.card_id, created_by: ctx.caller.userId })
        .onConflict(['mapping_id', 'remote_id'])
        .merge(['card_id', 'created_by']);
    }
    await lockSyncState(sql, mapping_id);
    await markForReread(sql, mapping_id, [remote_id]);
    await sql('itsm_review_items').where({ id }).delete();
    const data = { id, mapping_id, kind, remote_id, path, ...decision };
    emit({ event_type: 'itsm_question.answered', data });
  });
}

/**
 * Excludes the card of a record from synchronisation, with all records that merges of cards have assigned to it. Neither side
 * is changed, paired or created again until a user maps the pair again.
 * @throws EstateError `forbidden`, `not_found`, `wrong_state` while a run writes one of the records.
 */
export async function unmapPair(ctx: Ctx, mappingId: string, remoteId: string): Promise<void> {
  requirePermission(ctx.caller, MANAGE_SYNC);
  await command(ctx, async ({ sql, emit }) => {
    await requireMapping(sql, mappingId);
    await lockSyncState(sql, mappingId);
    const pairs = await query(sql).rows<{ remote_id: string; state: string; is_written: boolean }>`
         with recursive one as (
         select card_id as id from itsm_pairs where mapping_id = ${mappingId} and remote_id = ${remoteId}
       ), led as (
         select id from one union select r.survivor_id from led join card_redirects r on r.card_id = led.id
       ), whole as (
         select id from led union select r.card_id from whole join card_redirects r on r.survivor_id = whole.id
       )
       select p.remote_id, p.state, exists (select from itsm_plan_rows w join itsm_runs r on r.id = w.run_id
           where r.mapping_id = p.mapping_id and r.status = 'running' and w.progress = 'started'
             and w.remote_id = p.remote_id) as is_written
       from itsm_pairs p where p.mapping_id = ${mappingId} and p.card_id in (select id from whole)`;
    if (pairs.length === 0) throw notFound('pair', remoteId);
    if (pairs.some(({ is_written }) => is_written))
      throw new EstateError('wrong_state', 'A run is writing the record; try again shortly.');
    const remoteIds = pairs.flatMap(({ remote_id, state }) => (state === 'unmapped' ? [] : [remote_id]));
    if (remoteIds.length === 0) return;
    await query(sql).run`update itsm_pairs set state = 'unmapped', gone = null, evidence = null, since = null
       where mapping_id = ${mappingId} and remote_id = any(${remoteIds}::text[])`;
    const data = { mapping_id: mappingId, remote_id: remoteId, remote_ids: remoteIds };
    emit({ event_type: 'itsm_pair.unmapped', data });
  });
}

/**
 * Synchronises an unmapped pair again. Changes that one side alone made meanwhile are copied to the other.
 * @throws EstateError `forbidden`, `not_found`, `wrong_state` unless the pair is unmapped.
 */
export async function remapPair(ctx: Ctx, mappingId: string, remoteId: string): Promise<void> {
  requirePermission(ctx.caller, MANAGE_SYNC);
  await command(ctx, async ({ sql, metamodel, emit }) => {
    await requireMapping(sql, mappingId);
    await requireMappingPermissionsById(ctx, { sql, metamodel }, mappingId);
    await lockSyncState(sql, mappingId);
    const keys = { mapping_id: mappingId, remote_id: remoteId };
    const pair = await sql('itsm_pairs').where(keys).forUpdate().first('state');
    if (!pair) throw notFound('pair', remoteId);
    if (pair.state !== 'unmapped') throw new EstateError('wrong_state', `The pair is ${pair.state}.`);
    await sql('itsm_pairs').where({ mapping_id: mappingId, remote_id: remoteId }).update({ state: 'linked' });
    await markForReread(sql, mappingId, [remoteId]);
    emit({ event_type: 'itsm_pair.mapped', data: { mapping_id: mappingId, remote_id: remoteId } });
  });
}

async function requireMapping(
  sql: Transaction,
  id: string,
  lock: 'key share' | 'no key update' = 'key share',
): Promise<void> {
  const row = await query(sql).row`select id from itsm_mappings where id = ${id} for ${embed(lock)}`;
  if (!row) throw notFound('mapping', id);
}

/**
 * Open matches of a record with a card whose own record is gone, without an alternative: the only candidate has the same identity
 * fields and is the candidate of no other record. A record is gone according to its pair or to a row of the plan in review.
 */
const selectRelinkable = (mapping: string) => fragment`
  with asked as (
    select q.id, q.remote_id, (q.candidates -> 0 ->> 'cardId')::uuid as card_id,
      count(*) over (partition by q.candidates -> 0 ->> 'cardId') as claims
    from itsm_review_items q
    where q.mapping_id = ${mapping} and q.kind = 'match' and q.remote_id is not null
      and jsonb_array_length(q.candidates) = 1 and q.candidates -> 0 ->> 'score' = '1'
  ), own as (
    select p.*, count(*) over (partition by p.card_id) as records, p.gone is not distinct from 'remote' or exists (
        select from itsm_runs r join itsm_plan_rows w on w.run_id = r.id
        where r.mapping_id = p.mapping_id and r.status = 'review' and w.remote_id = p.remote_id
          and w.row -> 'state' ->> 'gone' = 'remote') as is_gone
    from itsm_pairs p where p.mapping_id = ${mapping} and p.state <> 'unmapped'
  )
  select a.id, a.remote_id as to, o.remote_id as from, a.card_id
  from asked a join own o on o.card_id = a.card_id and o.records = 1 and o.is_gone
  where a.claims = 1 and not exists (
    select from itsm_pairs p where p.mapping_id = ${mapping} and p.remote_id = a.remote_id)`;

/**
 * Pairs cards whose records are gone with the records that have the same identity fields. For remotes that were cloned or moved,
 * so that each record has a new key. The next run is a full read and applies it.
 * @param dryRun only count.
 * @returns how many cards are paired with another record, and how many open matches still need a user's decision.
 * @throws EstateError `forbidden`, `not_found`, `wrong_state` while a run is queued or running.
 */
export async function relinkPairs(ctx: Ctx, mappingId: string, dryRun: boolean) {
  requirePermission(ctx.caller, MANAGE_SYNC);
  return await command(ctx, async ({ sql, emit }) => {
    await requireMapping(sql, mappingId, 'no key update');
    const [run_id] = await query(sql)
      .column<string>`select id from itsm_runs where mapping_id = ${mappingId} and status in ('queued', 'running')`;
    if (run_id !== undefined) {
      const extra = { mapping_id: mappingId, run_id };
      throw new EstateError('wrong_state', 'A run of the mapping is queued or running.', { extra });
    }
    await lockSyncState(sql, mappingId);
    const rows = await query(sql).rows<Record<string, string>>`${embed(selectRelinkable(mappingId))}`;
    const open = await query(sql)
      .value<number>`select count(*)::int from itsm_review_items where mapping_id = ${mappingId} and kind = 'match'`;
    const result = { relinked: rows.length, still_open: open - rows.length };
    if (dryRun || rows.length === 0) return result;
    const column = (name: string) => rows.map((row) => row[name]);
    await query(sql).run`update itsm_pairs set state = 'ended', gone = 'remote', evidence = null, since = null
       where mapping_id = ${mappingId} and remote_id = any(${column('from')}::text[])`;
    await query(sql).run`insert into itsm_decisions (mapping_id, remote_id, card_id, created_by)
       select ${mappingId}, d.remote_id, d.card_id, ${ctx.caller.userId} from unnest(${column('to')}::text[], ${column('card_id')}::uuid[]) as d(remote_id, card_id)
       on conflict (mapping_id, remote_id) do update set card_id = excluded.card_id, created_by = excluded.created_by`;
    await query(sql).run`delete from itsm_review_items where id = any(${column('id')}::uuid[])`;
    await query(sql)
      .run`update itsm_sync_states set again = array(select distinct unnest(again || ${column('to')}::text[])), complete_read_at = null,
         pulled_read_at = null, pushed_read_at = null where mapping_id = ${mappingId}`;
    emit({ event_type: 'itsm_pairs.relinked', data: { mapping_id: mappingId, count: rows.length } });
    return result;
  });
}

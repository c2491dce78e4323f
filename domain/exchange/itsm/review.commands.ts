import type { Knex } from 'knex';
import { EstateError, invalidField, notFound } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { requireMappingPermissionsById } from './connections.load.ts';
import { MANAGE_SYNC } from './connections.queries.ts';
import { lockSyncState, readAgainNext } from './mappings.load.ts';

/** What a person says: who wins a conflict, or which card a record is (null: a new one). */
type Answer = { winner: 'local' | 'remote' } | { card_id: string | null };

/**
 * Answers an open question. A conflict's answer holds while both sides are as they were when it was asked; the next run
 * carries it out.
 * @throws EstateError `forbidden`, `not_found`, `validation_failed`, `wrong_state` where no answer would decide it.
 */
export async function answerQuestion(ctx: Ctx, id: string, answer: Answer): Promise<void> {
  requirePermission(ctx.caller, MANAGE_SYNC);
  await command(ctx, async ({ sql, metamodel, emit }) => {
    const question = await sql('itsm_review_items').where({ id }).forUpdate().first();
    if (!question) throw notFound('question', id);
    const { mapping_id, kind, remote_id, path } = question;
    await requireMappingPermissionsById(ctx, { sql, metamodel }, mapping_id);
    if (remote_id === null) {
      const message =
        question.refused_side === 'remote'
          ? 'The remote refuses a record for the card: change the card, or correct the mapping or the remote.'
          : 'The card is like another one that is synchronised: change or merge one of them.';
      throw new EstateError('wrong_state', message);
    }
    if (kind === 'conflict') {
      if (!('winner' in answer)) throw invalidField('winner', 'required', 'A conflict needs a winner.');
      await sql.raw(
        `insert into itsm_resolutions (mapping_id, remote_id, path, winner, local, remote, created_by)
         select mapping_id, remote_id, path, ?, local, remote, ? from itsm_review_items where id = ?
         on conflict (mapping_id, remote_id, coalesce(path, '')) do update set winner = excluded.winner,
           local = excluded.local, remote = excluded.remote, created_by = excluded.created_by, created_at = now()`,
        [answer.winner, ctx.caller.userId, id],
      );
    } else {
      if (!('card_id' in answer)) {
        throw invalidField('card_id', 'required', 'Name the card that the record is, or null for a new one.');
      }
      if (answer.card_id !== null) {
        const { rows } = await sql.raw(
          `select c.id from cards c join itsm_mappings m on m.id = ? and m.card_type_key = c.type
           where c.id = ? and c.status = 'ACTIVE'`,
          [mapping_id, answer.card_id],
        );
        if (!rows[0]) throw invalidField('card_id', 'unknown_card', 'The mapping has no such card.');
      }
      await sql('itsm_decisions')
        .insert({ mapping_id, remote_id, card_id: answer.card_id, created_by: ctx.caller.userId })
        .onConflict(['mapping_id', 'remote_id'])
        .merge(['card_id', 'created_by']);
    }
    await lockSyncState(sql, mapping_id);
    await readAgainNext(sql, mapping_id, [remote_id]);
    await sql('itsm_review_items').where({ id }).delete();
    emit({
      event_type: 'itsm_question.answered',
      data: { id, mapping_id, kind, remote_id, path, ...answer },
    });
  });
}

/**
 * Takes the card of a record out of the synchronisation, with all records that merges have brought to it: both sides
 * stay as they are, and neither is linked or made again until a person says so.
 * @throws EstateError `forbidden`, `not_found`, `wrong_state` while a write about it is under way.
 */
export async function unmapPair(ctx: Ctx, mappingId: string, remoteId: string): Promise<void> {
  requirePermission(ctx.caller, MANAGE_SYNC);
  await command(ctx, async ({ sql, emit }) => {
    await requireMapping(sql, mappingId);
    await lockSyncState(sql, mappingId);
    const { rows } = await sql.raw(
      `with recursive one as (
         select card_id as id from itsm_pairs where mapping_id = ? and remote_id = ?
       ), led as (
         select id from one union select r.survivor_id from led join card_redirects r on r.card_id = led.id
       ), whole as (
         select id from led union select r.card_id from whole join card_redirects r on r.survivor_id = whole.id
       )
       select p.remote_id, p.state, exists (select from itsm_plan_rows w join itsm_runs r on r.id = w.run_id
           where r.mapping_id = p.mapping_id and r.status = 'running' and w.progress = 'begun'
             and w.remote_id = p.remote_id) as under_way
       from itsm_pairs p where p.mapping_id = ? and p.card_id in (select id from whole)`,
      [mappingId, remoteId, mappingId],
    );
    if (rows.length === 0) throw notFound('pair', remoteId);
    if (rows.some(({ under_way }: { under_way: boolean }) => under_way)) {
      throw new EstateError('wrong_state', 'A write about the record is under way; try again shortly.');
    }
    const remoteIds = rows.flatMap(({ remote_id, state }: { remote_id: string; state: string }) =>
      state === 'unmapped' ? [] : [remote_id],
    );
    if (remoteIds.length === 0) return;
    await sql.raw(
      `update itsm_pairs set state = 'unmapped', gone = null, evidence = null, since = null
       where mapping_id = ? and remote_id = any(?::text[])`,
      [mappingId, remoteIds],
    );
    emit({
      event_type: 'itsm_pair.unmapped',
      data: { mapping_id: mappingId, remote_id: remoteId, remote_ids: remoteIds },
    });
  });
}

/**
 * Puts together again what was taken apart; what has changed meanwhile on one side alone goes to the other.
 * @throws EstateError `forbidden`, `not_found`, `wrong_state` unless it was taken apart.
 */
export async function mapPairAgain(ctx: Ctx, mappingId: string, remoteId: string): Promise<void> {
  requirePermission(ctx.caller, MANAGE_SYNC);
  await command(ctx, async ({ sql, metamodel, emit }) => {
    await requireMapping(sql, mappingId);
    await requireMappingPermissionsById(ctx, { sql, metamodel }, mappingId);
    await lockSyncState(sql, mappingId);
    const pair = await sql('itsm_pairs')
      .where({ mapping_id: mappingId, remote_id: remoteId })
      .forUpdate()
      .first('state');
    if (!pair) throw notFound('pair', remoteId);
    if (pair.state !== 'unmapped') throw new EstateError('wrong_state', `The pair is ${pair.state}.`);
    await sql('itsm_pairs').where({ mapping_id: mappingId, remote_id: remoteId }).update({ state: 'linked' });
    await readAgainNext(sql, mappingId, [remoteId]);
    emit({ event_type: 'itsm_pair.mapped', data: { mapping_id: mappingId, remote_id: remoteId } });
  });
}

async function requireMapping(sql: Knex.Transaction, id: string): Promise<void> {
  const { rows } = await sql.raw('select id from itsm_mappings where id = ? for key share', [id]);
  if (!rows[0]) throw notFound('mapping', id);
}

/** What a bulk re-link has done, or would do. */
interface Relinked {
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
    from itsm_review_items q
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
    await lockSyncState(sql, mappingId);
    const { rows } = await sql.raw(fitting, { mapping: mappingId });
    const { rows: asked } = await sql.raw(
      `select count(*)::int as n from itsm_review_items where mapping_id = ? and kind = 'match'`,
      [mappingId],
    );
    const outcome = { relinked: rows.length, left: asked[0].n - rows.length };
    if (dryRun || rows.length === 0) return outcome;
    const column = (name: string) => rows.map((row: Record<string, string>) => row[name]);
    await sql.raw(
      `update itsm_pairs set state = 'ended', gone = 'remote', evidence = null, since = null
       where mapping_id = ? and remote_id = any(?::text[])`,
      [mappingId, column('from')],
    );
    await sql.raw(
      `insert into itsm_decisions (mapping_id, remote_id, card_id, created_by)
       select ?, d.remote_id, d.card_id, ? from unnest(?::text[], ?::uuid[]) as d(remote_id, card_id)
       on conflict (mapping_id, remote_id) do update set card_id = excluded.card_id, created_by = excluded.created_by`,
      [mappingId, ctx.caller.userId, column('to'), column('card_id')],
    );
    await sql.raw('delete from itsm_review_items where id = any(?::uuid[])', [column('id')]);
    await sql.raw(
      `update itsm_sync_states set again = array(select distinct unnest(again || ?::text[])), complete_read_at = null,
         pulled_read_at = null, pushed_read_at = null where mapping_id = ?`,
      [column('to'), mappingId],
    );
    emit({
      event_type: 'itsm_pairs.relinked',
      data: { mapping_id: mappingId, count: rows.length },
    });
    return outcome;
  });
}

import type { Knex } from 'knex';
import { EstateError, notFound } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { lockBook } from './book.read.ts';
import { requireMappingReach } from './connections.owner.ts';
import { MANAGE_SYNC } from './connections.queries.ts';

/**
 * Takes the card of a record out of the synchronisation, with all records that merges have brought to it: both sides
 * stay as they are, and neither is linked or made again until a person says so.
 * @throws EstateError `forbidden`, `not_found`, `wrong_state` while a write about it is under way.
 */
export async function unmapPair(ctx: Ctx, mappingId: string, remoteId: string): Promise<void> {
  requirePermission(ctx.caller, MANAGE_SYNC);
  await command(ctx, async ({ sql, emit }) => {
    await requireMapping(sql, mappingId);
    await lockBook(sql, mappingId);
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
      [mappingId, remoteIds] as never,
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
    await requireMappingReach(ctx, { sql, metamodel }, mappingId);
    await lockBook(sql, mappingId);
    const pair = await sql('itsm_pairs')
      .where({ mapping_id: mappingId, remote_id: remoteId })
      .forUpdate()
      .first('state');
    if (!pair) throw notFound('pair', remoteId);
    if (pair.state !== 'unmapped') throw new EstateError('wrong_state', `The pair is ${pair.state}.`);
    await sql('itsm_pairs').where({ mapping_id: mappingId, remote_id: remoteId }).update({ state: 'linked' });
    await sql.raw(
      'update itsm_books set again = array(select distinct unnest(again || ?::text[])) where mapping_id = ?',
      [[remoteId], mappingId] as never,
    );
    emit({ event_type: 'itsm_pair.mapped', data: { mapping_id: mappingId, remote_id: remoteId } });
  });
}

async function requireMapping(sql: Knex.Transaction, id: string): Promise<void> {
  const { rows } = await sql.raw('select id from itsm_mappings where id = ? for key share', [id]);
  if (!rows[0]) throw notFound('mapping', id);
}

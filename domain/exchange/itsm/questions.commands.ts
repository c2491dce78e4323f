import { EstateError, invalidField, notFound } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { lockBook } from './book.read.ts';
import { requireMappingReach } from './connections.owner.ts';
import { MANAGE_SYNC } from './connections.queries.ts';

/** What a person says: who wins a conflict, or which card a record is (null: a new one). */
export type Answer = { winner: 'local' | 'remote' } | { card_id: string | null };

/**
 * Answers an open question. A conflict's answer holds while both sides are as they were when it was asked; the next run
 * carries it out.
 * @throws EstateError `forbidden`, `not_found`, `validation_failed`, `wrong_state` where no answer would decide it.
 */
export async function answerQuestion(ctx: Ctx, id: string, answer: Answer): Promise<void> {
  requirePermission(ctx.caller, MANAGE_SYNC);
  await command(ctx, async ({ sql, metamodel, emit }) => {
    const question = await sql('itsm_questions').where({ id }).forUpdate().first();
    if (!question) throw notFound('question', id);
    const { mapping_id, kind, remote_id, path } = question;
    await requireMappingReach(ctx, { sql, metamodel }, mapping_id);
    if (remote_id === null) {
      const message = 'The card is like another one that is synchronised: change or merge one of them.';
      throw new EstateError('wrong_state', message);
    }
    if (kind === 'conflict') {
      if (!('winner' in answer)) throw invalidField('winner', 'required', 'A conflict needs a winner.');
      await sql.raw(
        `insert into itsm_resolutions (mapping_id, remote_id, path, winner, local, remote, created_by)
         select mapping_id, remote_id, path, ?, local, remote, ? from itsm_questions where id = ?
         on conflict (mapping_id, remote_id, coalesce(path, '')) do update set winner = excluded.winner,
           local = excluded.local, remote = excluded.remote, created_by = excluded.created_by, created_at = now()`,
        [answer.winner, ctx.caller.userId, id] as never,
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
    await lockBook(sql, mapping_id);
    await sql.raw(
      `update itsm_books set again = array(select distinct unnest(again || ?::text[])) where mapping_id = ?`,
      [[remote_id], mapping_id] as never,
    );
    await sql('itsm_questions').where({ id }).delete();
    emit({
      event_type: 'itsm_question.answered',
      data: { id, mapping_id, kind, remote_id, path, ...answer },
    });
  });
}

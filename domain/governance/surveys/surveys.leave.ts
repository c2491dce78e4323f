import type { Work } from '../../kernel/context.ts';
import { responseEvent } from './surveys.events.ts';
import type { ResponseRow } from './surveys.types.ts';

/** Takes back the questions that users who are deleted have not answered; their answers stay. */
export async function withdrawQuestions(work: Work, userIds: readonly string[]): Promise<void> {
  const { rows } = await work.sql.raw(
    `with gone as (
       delete from survey_responses r where r.user_id = any(?::uuid[]) and r.status = 'pending'
       returning r.id, r.card_id, to_jsonb(r) as row
     ) select gone.row, c.id, c.type from gone join cards c on c.id = gone.card_id order by gone.id`,
    [userIds] as never,
  );
  for (const { row, ...card } of rows as { row: ResponseRow; id: string; type: string }[]) {
    work.emit(responseEvent(card, row, null));
  }
}

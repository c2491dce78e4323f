import { query } from '../../../platform/database.ts';
import type { Work } from '../../kernel/context.ts';
import { changeRow } from '../../kernel/resources/items.ts';
import { lockRow, updateRow } from '../../kernel/resources/rows.ts';
import { responseEvent, surveyEvent } from './surveys.commands.ts';
import {
  type Answer,
  type ResponseRow,
  Survey,
  type SurveyField,
  SurveyResponse,
  type SurveyRow,
} from './surveys.model.ts';

/** Stores a survey, and the answers to it, with other keys of the metamodel. */
export async function renameInSurvey(
  work: Work,
  id: string,
  values: Partial<Pick<SurveyRow, 'target_filters' | 'fields'>>,
): Promise<void> {
  const row = await lockRow(work.sql, Survey, { id });
  if (!row) return;
  await changeRow(work, Survey, row, values, surveyEvent);
  const renamed = renamedAnswers(row.fields, values.fields ?? row.fields);
  const rows = await query(work.sql).rows<{
    row: ResponseRow;
    card: { id: string; type: string };
  }>`select to_jsonb(r) as row, jsonb_build_object('id', c.id, 'type', c.type) as card
    from survey_responses r join cards c on c.id = r.card_id
    where r.survey_id = ${id}::uuid and r.responses <> '{}' order by r.id for update of r`;
  for (const { row: before, card } of rows) {
    const responses = renamed(before.responses);
    if (JSON.stringify(responses) === JSON.stringify(before.responses)) continue;
    const after = await updateRow(work.sql, SurveyResponse, { id: before.id }, { responses });
    work.emit(responseEvent(card, before, after));
  }
}

/** Answers by the keys of the present questions, with the present keys of their options. */
function renamedAnswers(before: readonly SurveyField[], after: readonly SurveyField[]) {
  const questions = new Map(
    before.map(({ key, options = [] }, n) => {
      const now = after[n]!;
      const choices = new Map(options.map((option, o) => [option.key, now.options![o]!.key]));
      return [key, { key: now.key, choices }] as const;
    }),
  );
  return (answers: Record<string, Answer>): Record<string, Answer> =>
    Object.fromEntries(
      Object.entries(answers).map(([key, answer]) => {
        const question = questions.get(key);
        if (!question) return [key, answer];
        const choice = (value: unknown) => question.choices.get(value as string) ?? value;
        const present = (value: unknown) => (Array.isArray(value) ? value.map(choice) : choice(value));
        const { current_value, new_value } = answer;
        const now = { ...answer, current_value: present(current_value), new_value: present(new_value) };
        return [question.key, now];
      }),
    );
}

import { randomUUID } from 'node:crypto';
import { type Row, row } from '../matrix.row.ts';
import type { Role, World } from '../world.ts';

const fields = JSON.stringify([
  { key: 'businessCriticality', label: 'B', type: 'single_select', section: 'S', action: 'confirm' },
]);

async function survey(w: World, more: object = {}): Promise<{ survey_id: string }> {
  const [made] = await w.t.services
    .db('surveys')
    .insert({ name: randomUUID(), target_type_key: 'Application', fields, ...more })
    .returning('id');
  return { survey_id: made.id };
}

/** A question that waits for the user, by default somebody who has no column. */
async function question(w: World, user?: string) {
  const { survey_id } = await survey(w, { status: 'active' });
  const card_id = await w.card();
  const user_id = user ?? (await w.user());
  const [made] = await w.t.services
    .db('survey_responses')
    .insert({ survey_id, card_id, user_id })
    .returning('id');
  return { survey_id, card_id, id: made.id as string };
}

/** A question for whoever may answer surveys; the others are shown one that is not theirs. */
async function ownQuestion(w: World, role: Role) {
  const answers = !['integrator', 'participant', 'anonymous'].includes(role);
  const { survey_id, card_id } = await question(w, answers ? (await w.t.as(role)).userId : undefined);
  return { survey_id, card_id };
}

const draft = async (w: World) => ({ path: await survey(w) });

/** Surveys are the administrators' to write; everybody but a program's role answers them. */
export const surveyRows: Row[] = [
  row('GET /surveys', '+ - - - - - 0'),
  row('POST /surveys', '+ - - - - - 0', () => ({
    body: { name: randomUUID(), target_type_key: 'Application' },
  })),
  row('GET /surveys/my', '+ + + + - - 0'),
  row('GET /surveys/{survey_id}', '+ - - - - - 0', draft),
  row('PATCH /surveys/{survey_id}', '+ - - - - - 0', draft, { message: 'Changed' }),
  row('DELETE /surveys/{survey_id}', '+ - - - - - 0', draft),
  row('POST /surveys/{survey_id}/preview', '+ - - - - - 0', draft),
  row('POST /surveys/{survey_id}/send', '+ - - - - - 0', async (w) => {
    const card = await w.card();
    await w.stakeholder(card, await w.user(), 'responsible');
    return {
      path: await survey(w, {
        target_filters: JSON.stringify({ card_ids: [card] }),
        target_roles: '["responsible"]',
      }),
    };
  }),
  row('POST /surveys/{survey_id}/remind', '+ - - - - - 0', async (w) => ({
    path: await survey(w, { status: 'active' }),
  })),
  row('POST /surveys/{survey_id}/close', '+ - - - - - 0', async (w) => ({
    path: await survey(w, { status: 'active' }),
  })),
  row('GET /surveys/{survey_id}/responses', '+ - - - - - 0', draft),
  row('POST /surveys/{survey_id}/apply', '+ - - - - - 0', async (w) => {
    const { survey_id, id } = await question(w);
    return { path: { survey_id }, body: { response_ids: [id] } };
  }),
  row('GET /surveys/{survey_id}/respond/{card_id}', '+ + + + - - 0', async (w, role) => ({
    path: await ownQuestion(w, role),
  })),
  row('POST /surveys/{survey_id}/respond/{card_id}', '+ + + + - - 0', async (w, role) => ({
    path: await ownQuestion(w, role),
    body: { responses: { businessCriticality: { confirmed: true } } },
  })),
];

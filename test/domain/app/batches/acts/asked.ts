import { type Act, type Acts, deletes, onRow, patches } from './hand.ts';

const surveys = '/surveys';

const addSurvey: Act = (hand) =>
  hand.send('POST', surveys, {
    name: hand.name('Survey'),
    target_type_key: 'Application',
    target_filters: hand.one([{}, { filter: 'name ~ card' }]),
    target_roles: hand.one([['responsible'], ['responsible', 'observer']]),
    fields: hand.one([
      [{ key: 'timeModel' }],
      [{ key: 'costTotalAnnual' }, { key: 'businessCriticality', action: 'confirm' }],
    ]),
  });
const patchSurvey = patches(
  'surveys',
  surveys,
  (hand) => hand.one<object>([{ name: hand.name('Survey') }, { message: 'Please', description: null }]),
  "status = 'draft'",
);
const respond: Act = async (hand) => {
  const asked = await hand.row('survey_responses', `user_id = '${hand.people[0]}' and status = 'pending'`);
  const responses = hand.one<object>([
    { timeModel: { new_value: 'migrate' } },
    { costTotalAnnual: { new_value: hand.below(500) }, businessCriticality: { confirmed: true } },
  ]);
  if (asked) await hand.send('POST', `${surveys}/${asked.survey_id}/respond/${asked.card_id}`, { responses });
};

const formulas = '/calculations';
const texts = [
  'COALESCE(data.costTotalAnnual, 0) + 1',
  'children_count',
  'SUM(PLUCK(children, "numberOfUsers")) + 1',
  'relation_count.relAppToITC * 2',
  'IF(data.timeModel == "invest", 5, null)',
];

const addFormula: Act = (hand) =>
  hand.send('POST', formulas, {
    name: hand.name('Formula'),
    target_type_key: 'Application',
    target_field_key: hand.one(['numberOfUsers', 'numberOfUsers', 'costTotalAnnual']),
    formula: hand.one(texts),
    execution_order: hand.below(3),
  });
const patchFormula = patches('calculations', formulas, (hand) =>
  hand.one<object>([
    { name: hand.name('Formula') },
    { formula: hand.one(texts) },
    { execution_order: hand.below(3) },
  ]),
);

/** Writes of surveys and formulas. */
export const askedActs: Acts = [
  [addSurvey, 4],
  [patchSurvey, 1],
  [onRow('surveys', (draft) => ['POST', `${surveys}/${draft.id}/send`], "status = 'draft'"), 5],
  [onRow('surveys', (sent) => ['POST', `${surveys}/${sent.id}/close`], "status = 'active'"), 1],
  [deletes('surveys', surveys), 1],
  [respond, 6],
  [
    onRow(
      'survey_responses',
      (given) => ['POST', `${surveys}/${given.survey_id}/apply`, { response_ids: [given.id] }],
      "status = 'completed' and not applied",
    ),
    4,
  ],
  [addFormula, 3],
  [patchFormula, 2],
  [
    onRow('calculations', ({ id, is_active }) => [
      'POST',
      `${formulas}/${id}/${is_active ? 'deactivate' : 'activate'}`,
    ]),
    4,
  ],
  [deletes('calculations', formulas), 1],
];

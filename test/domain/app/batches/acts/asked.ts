import type { Act } from './hand.ts';

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
const patchSurvey: Act = async (hand) => {
  const draft = await hand.row('surveys', "status = 'draft'");
  const values = hand.one<object>([{ name: hand.name('Survey') }, { message: 'Please', description: null }]);
  if (draft) await hand.send('PATCH', `${surveys}/${draft.id}`, values);
};
const sendSurvey: Act = async (hand) => {
  const draft = await hand.row('surveys', "status = 'draft'");
  if (draft) await hand.send('POST', `${surveys}/${draft.id}/send`);
};
const closeSurvey: Act = async (hand) => {
  const sent = await hand.row('surveys', "status = 'active'");
  if (sent) await hand.send('POST', `${surveys}/${sent.id}/close`);
};
const deleteSurvey: Act = async (hand) => {
  const survey = await hand.row('surveys');
  if (survey) await hand.send('DELETE', `${surveys}/${survey.id}`);
};
const respond: Act = async (hand) => {
  const asked = await hand.row('survey_responses', `user_id = '${hand.people[0]}' and status = 'pending'`);
  const responses = hand.one<object>([
    { timeModel: { new_value: 'migrate' } },
    { costTotalAnnual: { new_value: hand.below(500) }, businessCriticality: { confirmed: true } },
  ]);
  if (asked) await hand.send('POST', `${surveys}/${asked.survey_id}/respond/${asked.card_id}`, { responses });
};
const applyAnswers: Act = async (hand) => {
  const given = await hand.row('survey_responses', "status = 'completed' and not applied");
  if (given) await hand.send('POST', `${surveys}/${given.survey_id}/apply`, { response_ids: [given.id] });
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
const patchFormula: Act = async (hand) => {
  const formula = await hand.row('calculations');
  const values = hand.one<object>([
    { name: hand.name('Formula') },
    { formula: hand.one(texts) },
    { execution_order: hand.below(3) },
  ]);
  if (formula) await hand.send('PATCH', `${formulas}/${formula.id}`, values);
};
const switchFormula: Act = async (hand) => {
  const formula = await hand.row('calculations');
  const act = formula?.is_active ? 'deactivate' : 'activate';
  if (formula) await hand.send('POST', `${formulas}/${formula.id}/${act}`);
};
const deleteFormula: Act = async (hand) => {
  const formula = await hand.row('calculations');
  if (formula) await hand.send('DELETE', `${formulas}/${formula.id}`);
};

/** Writes of surveys and formulas, with how often each is chosen. */
export const askedActs: [Act, number][] = [
  [addSurvey, 4],
  [patchSurvey, 1],
  [sendSurvey, 5],
  [closeSurvey, 1],
  [deleteSurvey, 1],
  [respond, 6],
  [applyAnswers, 4],
  [addFormula, 3],
  [patchFormula, 2],
  [switchFormula, 4],
  [deleteFormula, 1],
];

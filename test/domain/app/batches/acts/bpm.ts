import { chain } from '../../../../api/bpm/models.ts';
import { type Act, type Acts, type Hand, onRow, removing } from './hand.ts';

const process = (hand: Hand) => hand.row('cards', "type = 'BusinessProcess'");
const model = (hand: Hand): string =>
  chain(
    Object.fromEntries(hand.some(['a', 'b', 'c', 'd'], 3).map((id) => [id, hand.one(['Check', 'Send'])])),
  );
const targets = async (hand: Hand) => ({
  application_id: hand.one([null, (await hand.row('cards', `type = 'Application'`))?.id ?? null]),
  custom_fields: hand.one([null, { minutes: hand.below(9) }]),
});

const add: Act = (hand) =>
  hand.send('POST', '/cards', { type: 'BusinessProcess', name: hand.name('Process') });
const save: Act = async (hand) => {
  const on = await process(hand);
  if (on) await hand.send('PUT', `/bpm/processes/${on.id}/diagram`, { bpmn_xml: model(hand) });
};
const link: Act = async (hand) => {
  const drawn = await hand.row('process_diagrams');
  if (!drawn) return;
  const answer = await hand.client.get(`/api/v1/bpm/processes/${drawn.process_id}/elements`);
  const items: { id: string }[] = answer.body.items ?? [];
  if (items.length === 0) return;
  const { id } = hand.one(items);
  await hand.send('PUT', `/bpm/processes/${drawn.process_id}/elements/${id}`, await targets(hand));
};
const draft: Act = async (hand) => {
  const on = await process(hand);
  if (on) await hand.send('POST', `/bpm/processes/${on.id}/flow/drafts`, { bpmn_xml: model(hand) });
};
const flow = (hand: Hand) => hand.row('process_flow_versions');
const plan: Act = async (hand) => {
  const version = await flow(hand);
  if (!version) return;
  const url = `/bpm/processes/${version.process_id}/flow/versions/${version.id}/draft-elements`;
  await hand.send('PUT', `${url}/${hand.one(['a', 'b', 'c'])}`, await targets(hand));
};
const redraw: Act = async (hand) => {
  const version = await flow(hand);
  const url = version && `/bpm/processes/${version.process_id}/flow/versions/${version.id}`;
  if (!url) return;
  if (hand.chance(0.3)) await hand.send('DELETE', url);
  else await hand.send('PATCH', url, { bpmn_xml: model(hand) });
};
const decide: Act = async (hand) => {
  const version = await flow(hand);
  if (!version) return;
  const step = version.status === 'draft' ? 'submit' : hand.one(['approve', 'approve', 'reject']);
  await hand.send('POST', `/bpm/processes/${version.process_id}/flow/versions/${version.id}/${step}`);
};
const assess: Act = async (hand) => {
  const on = await process(hand);
  const scores = {
    overall_score: 3,
    efficiency: 1,
    effectiveness: 9,
    compliance: 2,
    automation: hand.below(6),
  };
  const body = { assessment_date: '2026-02-28', ...scores };
  if (on) await hand.send('POST', `/bpm/processes/${on.id}/assessments`, body);
};
const reassess: Act = async (hand) => {
  const there = await hand.row('process_assessments');
  const url = there && `/bpm/processes/${there.process_id}/assessments/${there.id}`;
  if (!url) return;
  if (hand.chance(0.3)) await hand.send('DELETE', url);
  else await hand.send('PUT', url, { notes: hand.name('Note') });
};

/** Writes of diagrams, links, flows and assessments of processes. */
export const bpmActs: Acts = [
  [add, 3],
  [save, 5],
  [
    removing(onRow('process_diagrams', (drawn) => ['DELETE', `/bpm/processes/${drawn.process_id}/diagram`])),
    1,
  ],
  [link, 5],
  [draft, 3],
  [plan, 3],
  [redraw, 2],
  [decide, 4],
  [assess, 1],
  [reassess, 1],
];

import { type Call, formOf, type Row, row } from '../matrix.row.ts';
import { made, type Role, type World } from '../world.ts';

/** A model with one task. */
export const xml =
  '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="https://estate.example"><process id="p"><userTask id="t1" name="Check"/></process></definitions>';

const base = '/api/v1/bpm/processes/{process_id}';
const process = (w: World) => w.card({ type: 'BusinessProcess' });

/** Saves a diagram of the process. */
export async function putDiagram(w: World, process_id: string): Promise<void> {
  const svg_thumbnail = '<svg xmlns="http://www.w3.org/2000/svg"/>';
  await made(w, `/bpm/processes/${process_id}/diagram`, { bpmn_xml: xml, svg_thumbnail }, 'put');
}

/** An element of a process that has a diagram now. */
export async function elementOf(w: World, process_id: string): Promise<string> {
  await putDiagram(w, process_id);
  const answer = await (await w.client('admin')).get(`/api/v1/bpm/processes/${process_id}/elements`);
  return answer.body.items[0].id;
}

const on =
  (more: (w: World, process_id: string, role: Role) => Call | Promise<Call> = () => ({})): Row['call'] =>
  async (w, role) => {
    const process_id = await process(w);
    const call = await more(w, process_id, role);
    return { ...call, path: { process_id, ...call.path } };
  };
const drawn = on(async (w, id) => {
  await putDiagram(w, id);
  return {};
});
const form = formOf({ filename: 'p.bpmn', content: xml });

/** A flow version of the process: a draft, or what became of it. */
export async function flowOf(
  w: World,
  process_id: string,
  status: 'draft' | 'pending' | 'published' = 'draft',
): Promise<string> {
  const { id } = await made(w, `/bpm/processes/${process_id}/flow/drafts`, { bpmn_xml: xml });
  if (status !== 'draft') await made(w, `/bpm/processes/${process_id}/flow/versions/${id}/submit`);
  if (status === 'published') await made(w, `/bpm/processes/${process_id}/flow/versions/${id}/approve`);
  return id;
}
const version = (status?: 'draft' | 'pending' | 'published', more: Call = {}) =>
  on(async (w, id) => ({ ...more, path: { version_id: await flowOf(w, id, status), ...more.path } }));
const scores = { overall_score: 3, efficiency: 3, effectiveness: 3, compliance: 3, automation: 9 };
const assessment = { assessment_date: '2026-03-31', ...scores };
const assessed = (more: Call = {}) =>
  on(async (w, id) => ({
    ...more,
    path: { assessment_id: (await made(w, `/bpm/processes/${id}/assessments`, assessment)).id },
  }));

/** Whoever reads the inventory sees processes; members draw and assess them; process administrators approve. */
export const bpmRows: Row[] = [
  // operation                                      A B M V I P 0
  row(`GET ${base}/diagram`, '+ + + + - - 0', drawn),
  row(
    `PUT ${base}/diagram`,
    '+ + + - - - 0',
    on(() => ({ body: { bpmn_xml: xml } })),
  ),
  row(`DELETE ${base}/diagram`, '+ + + - - - 0', drawn),
  row(`GET ${base}/diagram/versions`, '+ + + + - - 0', drawn),
  row(`GET ${base}/diagram/export/bpmn`, '+ + + + - - 0', drawn),
  row(`GET ${base}/diagram/export/svg`, '+ + + + - - 0', drawn),
  row(
    `POST ${base}/diagram/import`,
    '+ + + - - - 0',
    on(() => form),
  ),
  row(`GET ${base}/elements`, '+ + + + - - 0', drawn),
  row(
    `PUT ${base}/elements/{element_id}`,
    '+ + + - - - 0',
    on(async (w, id) => ({
      path: { element_id: await elementOf(w, id) },
      body: { application_id: await w.card(), custom_fields: { minutes: 5 } },
    })),
  ),

  row('GET /bpm/templates', '+ + + + + + 0'),
  row('GET /bpm/templates/{template_key}', '+ + + + + + 0', () => ({
    path: { template_key: 'order-to-cash' },
  })),
  row(`GET ${base}/assessments`, '+ + + - - - 0', assessed()),
  row(
    `POST ${base}/assessments`,
    '+ + + - - - 0',
    on(() => ({ body: assessment })),
  ),
  row(`PUT ${base}/assessments/{assessment_id}`, '+ + + - - - 0', assessed({ body: { notes: 'Seen.' } })),
  row(`DELETE ${base}/assessments/{assessment_id}`, '+ + + - - - 0', assessed()),

  row(`GET ${base}/flow/published`, '+ + + + - - 0', version('published')),
  row(`GET ${base}/flow/drafts`, '+ + + + - - 0', version()),
  row(
    `POST ${base}/flow/drafts`,
    '+ + + - - - 0',
    on(() => ({ body: { bpmn_xml: xml } })),
  ),
  row(`GET ${base}/flow/archived`, '+ + + + - - 0', on()),
  row(`GET ${base}/flow/permissions`, '+ + + + - - 0', on()),
  row(
    `GET ${base}/flow/compare`,
    '+ + + + - - 0',
    on(async (w, id) => ({ query: `base_id=${await flowOf(w, id)}&other_id=${await flowOf(w, id)}` })),
  ),
  row(`GET ${base}/flow/versions/{version_id}`, '+ + + + - - 0', version()),
  row(
    `PATCH ${base}/flow/versions/{version_id}`,
    '+ + + - - - 0',
    version('draft', { body: { bpmn_xml: xml } }),
  ),
  row(`DELETE ${base}/flow/versions/{version_id}`, '+ + + - - - 0', version()),
  row(`POST ${base}/flow/versions/{version_id}/submit`, '+ + + - - - 0', version()),
  row(`POST ${base}/flow/versions/{version_id}/approve`, '+ + - - - - 0', version('pending')),
  row(`POST ${base}/flow/versions/{version_id}/reject`, '+ + - - - - 0', version('pending'), {
    reason: 'A step is missing.',
  }),
  row(`GET ${base}/flow/versions/{version_id}/draft-elements`, '+ + + + - - 0', version()),
  row(
    `PUT ${base}/flow/versions/{version_id}/draft-elements/{bpmn_element_id}`,
    '+ + + - - - 0',
    version('draft', { path: { bpmn_element_id: 't1' }, body: { custom_fields: { minutes: 5 } } }),
  ),

  ...[
    'dashboard',
    'capability-process-matrix',
    'process-application-matrix',
    'process-dependencies',
    'capability-heatmap',
    'element-application-map',
    'process-map',
    'value-stream-matrix',
  ].map((name) => row(`GET /reports/bpm/${name}`, '+ + + + - - 0')),
];

import { randomUUID } from 'node:crypto';
import { onNew, type Row } from './matrix.row.ts';
import type { Role, World } from './world.ts';

/** An operation on something that belongs to a user, asked for by somebody else. */
export interface ForeignRow {
  /** As in the table of operations and roles. */
  operation: string;
  /**
   * What somebody else of the same role gets, and what another administrator: `+` allowed, `-` refused (403), `?` as if
   * it did not exist (404).
   */
  outcomes: string;
  /** Makes the object as somebody of the role; that of the table of operations and roles unless given. */
  call?: Row['call'];
}

const foreign = (operation: string, outcomes: string, call?: Row['call']): ForeignRow => ({
  operation,
  outcomes,
  ...(call ? { call } : {}),
});

/** Makes something as somebody of the role. @returns its id. */
async function made(w: World, role: Role, url: string, body: object): Promise<string> {
  const answer = await (await w.client(role)).post(`/api/v1${url}`, body);
  if (answer.status !== 201) throw new Error(`${url} answered ${answer.status}: ${answer.text}`);
  return answer.body.id;
}

const comment =
  (body?: object): Row['call'] =>
  async (w, role) => ({
    path: { id: await made(w, role, `/cards/${await w.card()}/comments`, { content: 'Mine.' }) },
    ...(body ? { body } : {}),
  });
const todo =
  (body?: object): Row['call'] =>
  async (w, role) => ({
    path: { id: await made(w, role, `/cards/${await w.card()}/todos`, { description: 'Mine' }) },
    ...(body ? { body } : {}),
  });
const privateDiagram =
  (body?: object): Row['call'] =>
  async (w, role) => {
    const card_id = await w.card();
    const content = { name: randomUUID(), visibility: 'private', card_ids: [card_id] };
    const diagram_id = await made(w, role, '/diagrams', content);
    return { path: { diagram_id, card_id }, ...(body ? { body } : {}) };
  };
const sharedReport =
  (body?: object): Row['call'] =>
  async (w, role) => {
    const report = { name: randomUUID(), report_type: 'portfolio', config: {}, visibility: 'public' };
    return { path: { report_id: await made(w, role, '/saved-reports', report) }, ...(body ? { body } : {}) };
  };
const job =
  (status: string): Row['call'] =>
  async (w, role) => ({ path: { id: await w.job(status, (await w.client(role)).userId) } });
const account =
  (body?: object): Row['call'] =>
  async (w) => ({ path: { id: await w.user() }, ...(body ? { body } : {}) });

const schedules = '/api/v1/extraction-schedules/{id}';
const accounts = '/api/v1/accounts/{id}';
const diagrams = '/api/v1/diagrams/{diagram_id}';

/** Somebody else's objects. */
export const foreignRows: ForeignRow[] = [
  // views and reports are their owners' alone, until those share them
  foreign('PATCH /api/v1/bookmarks/{bm_id}', '? ?'),
  foreign('DELETE /api/v1/bookmarks/{bm_id}', '? ?'),
  foreign('GET /api/v1/bookmarks/{bm_id}/odata', '? ?'),
  foreign('GET /api/v1/saved-reports/{report_id}', '? ?'),
  foreign('PATCH /api/v1/saved-reports/{report_id}', '? ?'),
  foreign('DELETE /api/v1/saved-reports/{report_id}', '? ?'),
  foreign('GET /api/v1/saved-reports/{report_id}', '+ +', sharedReport()),
  foreign('PATCH /api/v1/saved-reports/{report_id}', '- -', sharedReport({ name: 'Theirs' })),
  foreign('DELETE /api/v1/saved-reports/{report_id}', '- -', sharedReport()),
  foreign(`GET ${diagrams}`, '? ?', privateDiagram()),
  foreign(`PATCH ${diagrams}`, '? ?', privateDiagram({ name: 'Theirs' })),
  foreign(`DELETE ${diagrams}`, '? ?', privateDiagram()),
  foreign(`POST ${diagrams}/cards`, '? ?', async (w, role) => ({
    ...(await privateDiagram()(w, role)),
    body: { card_id: await w.card() },
  })),
  foreign(`DELETE ${diagrams}/cards/{card_id}`, '? ?', privateDiagram()),
  foreign(`PUT ${diagrams}/groups`, '? ?', privateDiagram({ group_ids: [] })),
  foreign(`POST ${diagrams}/favorite`, '? ?', privateDiagram()),
  foreign(`DELETE ${diagrams}/favorite`, '? ?', privateDiagram()),

  foreign('PATCH /api/v1/comments/{id}', '- +', comment({ content: 'Theirs.' })),
  foreign('DELETE /api/v1/comments/{id}', '- +', comment()),
  foreign('PATCH /api/v1/ppm/task-comments/{comment_id}', '- -'),
  foreign('DELETE /api/v1/ppm/task-comments/{comment_id}', '- -'),
  foreign('PATCH /api/v1/todos/{id}', '- +', todo({ status: 'done' })),
  foreign('DELETE /api/v1/todos/{id}', '- +', todo()),
  foreign('POST /api/v1/todos/{id}/promote', '- +', todo()),
  foreign('DELETE /api/v1/adr/{adr_id}', '- +', async (w, role) => ({
    path: { adr_id: await made(w, role, '/adr', { title: randomUUID() }) },
  })),
  foreign('GET /api/v1/surveys/{survey_id}/respond/{card_id}', '? ?'),
  foreign('POST /api/v1/surveys/{survey_id}/respond/{card_id}', '? ?'),
  foreign('PATCH /api/v1/notifications/{id}/read', '? ?'),
  foreign('GET /api/v1/channels/{id}', '? ?'),
  foreign('PATCH /api/v1/channels/{id}', '? ?'),
  foreign('DELETE /api/v1/channels/{id}', '? ?'),
  foreign('POST /api/v1/channels/{id}/test', '? ?'),

  foreign('GET /api/v1/jobs/{id}', '? +', job('queued')),
  foreign('POST /api/v1/jobs/{id}/cancel', '? +', job('queued')),
  foreign('POST /api/v1/jobs/{id}/retry', '? +', job('failed')),
  foreign(
    'GET /api/v1/jobs/{id}/result',
    '? +',
    onNew('id', async (w, role) => await w.finishedJob((await w.client(role)).userId)),
  ),
  foreign(
    'GET /api/v1/imports/{id}/rows',
    '? +',
    onNew('id', async (w, role) => await w.finishedJob((await w.client(role)).userId, false, 'import')),
  ),
  foreign(
    'GET /api/v1/imports/{id}/report',
    '? +',
    onNew('id', async (w, role) => await w.finishedJob((await w.client(role)).userId, false, 'import')),
  ),
  foreign(
    'POST /api/v1/imports/{id}/ticket',
    '? +',
    onNew('id', async (w, role) => await w.finishedJob((await w.client(role)).userId, false, 'import')),
  ),
  foreign(
    'POST /api/v1/jobs/{id}/ticket',
    '? +',
    onNew('id', async (w, role) => await w.finishedJob((await w.client(role)).userId)),
  ),
  foreign('GET /api/v1/exports/{id}/manifest', '? +'),
  foreign('GET /api/v1/mutation-batches/{id}', '- +'),
  foreign('GET /api/v1/mutation-batches/{id}/events', '- +'),
  foreign('POST /api/v1/mutation-batches/{id}/commit', '? ?'),
  foreign(`GET ${schedules}`, '? +'),
  foreign(`PATCH ${schedules}`, '? +'),
  foreign(`DELETE ${schedules}`, '? +'),
  foreign(`POST ${schedules}/run`, '? +'),
  foreign(`GET ${schedules}/runs`, '? +'),
  foreign(`GET ${schedules}/runs/{run_id}`, '? +'),
  foreign(`GET ${schedules}/runs/{run_id}/file`, '? +'),
  foreign(`GET ${schedules}/runs/{run_id}/manifest`, '? +'),

  foreign('GET /api/v1/users/{id}', '+ +'),
  foreign('PATCH /api/v1/users/{id}', '- +', account({ display_name: 'Theirs' })),
  foreign('DELETE /api/v1/users/{id}', '- +', account()),
  foreign(`GET ${accounts}/personal-data`, '- +', account()),
  foreign(`DELETE ${accounts}/two-factor`, '- +'),
  foreign(`POST ${accounts}/erase`, '- +'),
  foreign(`GET ${accounts}/tokens`, '- +', account()),
  foreign(`POST ${accounts}/tokens`, '- +', account({ name: 'Theirs' })),
  foreign(`DELETE ${accounts}/tokens/{token_id}`, '- +'),
  foreign('DELETE /api/v1/tokens/{id}', '? ?'),
  foreign('DELETE /api/v1/auth/sessions/{id}', '? ?'),
];

/**
 * Paths of objects that belong to nobody: to a card, whose roles are tried in own-card.test.ts, or to the workspace, where
 * a permission alone decides.
 */
export const sharedPaths = [
  /^\/api\/v1\/(adr|soaw|risks|mitigation-tasks|surveys)\//,
  /^\/api\/v1\/(ai-analysis|compliance|eol|migration|metamodel|calculations)\//,
  /^\/api\/v1\/(bpm|cards|card-merges|data-flows|documents|file-attachments|relations|stakeholders)\//,
  /^\/api\/v1\/(diagram-groups|tag-groups|roles|job-schedules|web-portals|admin\/workspace)\//,
  /^\/api\/v1\/ppm\/(?!task-comments)/,
  /^\/(odata\/v4|portal)\//,
  // provisioning and invitations are for those who manage users
  /^\/scim\/v2\//,
  /^\/api\/v1\/users\/invitations\//,
  // whoever changes these becomes the owner, as webhooks.test.ts and itsm-owner.test.ts try
  /^\/api\/v1\/(webhooks|itsm-sync)\//,
];

/** Operations whose path names what is shared, and that act on the caller's own mark on it. */
export const ownMarks = ['POST /api/v1/favorites/{card_id}', 'DELETE /api/v1/favorites/{card_id}'];

/** What is tried with rights of its own: undoing what another has written. */
export const elsewhere = ['POST /api/v1/mutation-batches/{id}/rollback'];

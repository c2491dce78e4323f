import { randomUUID } from 'node:crypto';
import { password, person } from '../support/accounts.ts';
import { storeSession } from '../support/browser.ts';
import { workbook, XLSX } from '../support/workbook.ts';
import { groups } from './groups.ts';
import { csv, numberOf, onCard, onNew, type Row, row } from './matrix.row.ts';
import { openStream } from './stream.ts';

/*
 * The columns: administrator, process administrator, member, viewer, integrator (a role of the workspace's own with
 * inventory.view, relations.view, relations.manage and admin.settings), participant (no application permission, a
 * stakeholder of a card that is not the one acted on), and nobody logged in.
 */
/** The rows of this file are those of access, metamodel reading, cards, relations, jobs and events. */
const firstRows: Row[] = [
  // operation                                                      A B M V I P 0
  row('POST /auth/login', '+ + + + + + +', async (w) => {
    const { email } = await person(w.t);
    return { body: { email, password }, apart: true };
  }),
  row('POST /auth/refresh', '+ + + + + + 0'),
  row('POST /auth/logout', '+ + + + + + +', () => ({ usesToken: true })),
  row('POST /auth/logout-everywhere', '+ + + + + + 0', () => ({ usesToken: true })),
  row('GET /auth/sessions', '+ + + + + + 0'),
  row('DELETE /auth/sessions/{id}', '+ + + + + + 0', async (w, role) => {
    const client = await w.client(role);
    const who = client.userId ? { id: client.userId, email: client.email } : await person(w.t);
    const at = Math.floor(Date.now() / 1000);
    return { path: { id: (await storeSession(w.t, who, { loginAt: at, iat: at })).id } };
  }),
  row('GET /auth/me', '+ + + + + + 0'),

  row('GET /metamodel/types', '+ + + + + + 0'),
  row('GET /metamodel/types/{key}', '+ + + + + + 0', () => ({ path: { key: 'Application' } })),
  row('GET /metamodel/relation-types', '+ + + + + + 0'),
  row('GET /metamodel/relation-types/{key}', '+ + + + + + 0', () => ({
    path: { key: 'relAppToITC' },
  })),
  row('GET /metamodel/types/{type_key}/stakeholder-roles', '+ + + + + + 0', () => ({
    path: { type_key: 'Application' },
  })),
  row('GET /metamodel/types/{type_key}/stakeholder-roles/{role_key}', '+ + + + + + 0', () => ({
    path: { type_key: 'Application', role_key: 'responsible' },
  })),

  row('GET /cards', '+ + + + + - 0'),
  row('POST /cards', '+ + + - - - 0', () => ({ body: { type: 'Application', name: randomUUID() } })),
  row('GET /cards/my-created', '+ + + + + - 0'),
  // the integrator does not hold stakeholders.view
  row('GET /cards/my-stakeholder', '+ + + + - - 0'),
  row('GET /cards/counts', '+ + + + + - 0'),
  row('GET /cards/facets', '+ + + + + - 0', () => ({ query: 'facets=type,tags' })),
  row('GET /cards/{id}', '+ + + + + - 0', onCard),
  row('GET /card-numbers/{number}', '+ + + + + - 0', async (w) => ({
    path: { number: await numberOf(w, await w.card()) },
  })),
  row(
    'PATCH /cards/{id}',
    '+ + + - - - 0',
    onNew('id', (w) => w.card()),
    { alias: 'X' },
  ),
  row('DELETE /cards/{id}', '+ - - - - - 0', onCard),
  row('GET /cards/{id}/hierarchy', '+ + + + + - 0', onCard),
  row('GET /cards/{id}/overview', '+ + + + + - 0', onCard),
  row('GET /cards/{id}/sources', '+ + + + + - 0', onCard),
  row('GET /cards/{id}/history', '+ + + + + - 0', onCard),
  row('GET /cards/{id}/my-permissions', '+ + + + + - 0', onCard),
  row('GET /cards/{id}/relation-summary', '+ + + + + - 0', onCard),
  row('GET /cards/{id}/impact', '+ + + + + - 0', onCard),
  row('GET /cards/{id}/paths', '+ + + + + - 0', async (w) => ({
    ...(await onCard(w)),
    query: `to=${await w.card()}`,
  })),
  row('GET /cards/{id}/archive-impact', '+ + + + + - 0', onCard),
  row('GET /cards/{id}/restore-impact', '+ + + + + - 0', onCard),
  row('POST /cards/{id}/archive', '+ + + - - - 0', onCard),
  row('POST /cards/{id}/restore', '+ + + - - - 0', async (w) => {
    const id = await w.card();
    await (await w.client('admin')).post(`/api/v1/cards/${id}/archive`);
    return { path: { id } };
  }),
  row('POST /cards/{id}/approval-status', '+ + + - - - 0', async (w) => ({
    path: { id: await w.card() },
    query: 'action=reject',
  })),

  row('GET /relations', '+ + + + + - 0'),
  row('GET /relations/{id}', '+ + + + + - 0', async (w) => ({ path: { id: await w.relation() } })),
  row('POST /relations', '+ + + - + - 0', async (w) => ({
    body: {
      type: 'relAppToITC',
      source_id: await w.card(),
      target_id: await w.card({ type: 'ITComponent' }),
    },
  })),
  row(
    'PATCH /relations/{id}',
    '+ + + - + - 0',
    onNew('id', (w) => w.relation()),
    { description: 'Changed.' },
  ),
  row('DELETE /relations/{id}', '+ + + - + - 0', async (w) => ({ path: { id: await w.relation() } })),
  row('POST /relations/bulk', '+ + + - + - 0', async (w) => ({
    body: {
      operations: [
        {
          row_index: 0,
          action: 'upsert',
          type: 'relAppToITC',
          source: { id: await w.card() },
          target: { id: await w.card({ type: 'ITComponent' }) },
        },
      ],
    },
    refused: ({ results }) => results.every(({ code }) => code !== null),
  })),

  row('POST /imports (cards)', '+ + + - - - 0', () => ({
    query: 'kind=cards',
    ...csv('type,name\nApplication,A\n'),
  })),
  row('POST /imports (relations)', '+ + + - + - 0', () => ({
    query: 'kind=relations',
    ...csv('type,source_external_id,target_external_id\nrelAppToITC,A,B\n'),
  })),
  row('POST /imports/sheets', '+ + + - - - 0', async () => ({
    raw: { mediaType: XLSX, text: await workbook({ Cards: [['type', 'name']] }) },
  })),
  row('POST /exports', '+ + + + - - 0', () => ({ body: { format: 'csv', kind: 'cards' } })),
  row('GET /cards/export/csv', '+ + + + - - 0'),
  row('GET /cards/export/json', '+ + + + - - 0', () => ({ query: 'types=Application' })),

  // jobs of somebody else: only administrators see that there are any
  row('GET /jobs', '+ + + + + + 0'),
  row('GET /jobs/{id}', '+ ? ? ? ? ? 0', async (w) => ({ path: { id: await w.job('queued') } })),
  row(
    'POST /jobs/{id}/cancel',
    '+ ? ? ? ? ? 0',
    onNew('id', (w) => w.job('queued')),
  ),
  row(
    'POST /jobs/{id}/retry',
    '+ ? ? ? ? ? 0',
    onNew('id', (w) => w.job('failed')),
  ),
  row(
    'GET /jobs/{id}/result',
    '+ ? ? ? ? ? 0',
    onNew('id', (w) => w.finishedJob()),
  ),
  row(
    'GET /imports/{id}/rows',
    '+ ? ? ? ? ? 0',
    onNew('id', (w) => w.finishedJob(undefined, false, 'import')),
  ),
  row(
    'GET /imports/{id}/report',
    '+ ? ? ? ? ? 0',
    onNew('id', (w) => w.finishedJob(undefined, false, 'import')),
  ),
  row(
    'POST /imports/{id}/ticket',
    '+ ? ? ? ? ? 0',
    onNew('id', (w) => w.finishedJob(undefined, false, 'import')),
  ),
  row(
    'POST /jobs/{id}/ticket',
    '+ ? ? ? ? ? 0',
    onNew('id', (w) => w.finishedJob()),
  ),
  row('GET /job-schedules', '+ - - - + - 0'),
  row('GET /job-schedules/{key}', '+ - - - + - 0', () => ({ path: { key: 'kpi_snapshot' } })),
  row('PATCH /job-schedules/{key}', '+ - - - + - 0', () => ({
    path: { key: 'kpi_snapshot' },
    body: { time_zone: 'Europe/Paris' },
  })),

  row('GET /users', '+ + + + + + 0'),
  row('GET /users/{id}', '+ + + + + + 0', async (w) => ({ path: { id: await w.user() } })),
  row(
    'PATCH /users/{id}',
    '+ - - - - - 0',
    onNew('id', (w) => w.user()),
    { display_name: 'Renamed' },
  ),
  row('GET /roles', '+ + + + + + 0'),
  row('GET /roles/permissions-schema', '+ + + + + + 0'),
  row('GET /roles/{key}', '+ + + + + + 0', () => ({ path: { key: 'member' } })),

  row('GET /events', '+ - - - - - 0'),
  row('GET /changes', '+ + + + + - 0'),
  row('GET /changes/summary', '+ + + + + - 0', () => ({ query: 'after=0' })),
  row('GET /events/activity', '+ + + + + - 0'),
  row('POST /events/ticket', '+ + + + + - 0'),
  row('GET /events/stream', '+ + + + + - 0', () => ({ send: openStream })),

  row('GET /api/health', '+ + + + + + +'),
  row('GET /api/health/live', '+ + + + + + +'),
  row('GET /api/health/ready', '+ + + + + + +'),
  row('GET /metrics', '+ - - - + - 0'),
  row('GET /api/openapi.json', '+ + + + + + +'),
  row('GET /api/docs', '+ + + + + + +'),
];

/** The rows of every operation: those above, and those of each group under matrix/. */
export const table: Row[] = [...firstRows, ...groups.flatMap(({ rows }) => rows)];

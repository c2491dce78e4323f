import { randomUUID } from 'node:crypto';
import { password, person } from '../support/accounts.ts';
import { groups } from './groups.ts';
import { csv, onCard, type Row, row } from './matrix.row.ts';
import { openStream } from './stream.ts';

/*
 * The columns: administrator, process administrator, member, viewer, integrator (a role of the workspace's own with
 * inventory.view, relations.view, relations.manage and admin.settings), participant (no application permission, a
 * stakeholder of a card that is not the one acted on), and nobody logged in.
 */
/** The rows of this file are those of access, metamodel reading, cards, relations, jobs and events. */
const firstRows: Row[] = [
  // operation                                                      A B M V I P 0
  row('POST /api/v1/auth/login', '+ + + + + + +', async (w) => {
    const { email } = await person(w.t);
    return { body: { email, password }, apart: true };
  }),
  row('POST /api/v1/auth/refresh', '+ + + + + + 0'),
  row('POST /api/v1/auth/logout', '+ + + + + + +', () => ({ usesToken: true })),
  row('GET /api/v1/auth/me', '+ + + + + + 0'),

  row('GET /api/v1/metamodel/types', '+ + + + + + 0'),
  row('GET /api/v1/metamodel/types/{key}', '+ + + + + + 0', () => ({ path: { key: 'Application' } })),
  row('GET /api/v1/metamodel/relation-types', '+ + + + + + 0'),
  row('GET /api/v1/metamodel/relation-types/{key}', '+ + + + + + 0', () => ({
    path: { key: 'relAppToITC' },
  })),
  row('GET /api/v1/metamodel/types/{type_key}/stakeholder-roles', '+ + + + + + 0', () => ({
    path: { type_key: 'Application' },
  })),
  row('GET /api/v1/metamodel/types/{type_key}/stakeholder-roles/{role_key}', '+ + + + + + 0', () => ({
    path: { type_key: 'Application', role_key: 'responsible' },
  })),

  row('GET /api/v1/cards', '+ + + + + - 0'),
  row('POST /api/v1/cards', '+ + + - - - 0', () => ({ body: { type: 'Application', name: randomUUID() } })),
  row('GET /api/v1/cards/my-created', '+ + + + + - 0'),
  // the integrator does not hold stakeholders.view
  row('GET /api/v1/cards/my-stakeholder', '+ + + + - - 0'),
  row('GET /api/v1/cards/counts', '+ + + + + - 0'),
  row('GET /api/v1/cards/{id}', '+ + + + + - 0', onCard),
  row('PATCH /api/v1/cards/{id}', '+ + + - - - 0', async (w) => ({
    path: { id: await w.card() },
    body: { alias: 'X' },
  })),
  row('DELETE /api/v1/cards/{id}', '+ - - - - - 0', onCard),
  row('GET /api/v1/cards/{id}/hierarchy', '+ + + + + - 0', onCard),
  row('GET /api/v1/cards/{id}/history', '+ + + + + - 0', onCard),
  row('GET /api/v1/cards/{id}/my-permissions', '+ + + + + - 0', onCard),
  row('GET /api/v1/cards/{id}/relation-summary', '+ + + + + - 0', onCard),
  row('GET /api/v1/cards/{id}/archive-impact', '+ + + + + - 0', onCard),
  row('GET /api/v1/cards/{id}/restore-impact', '+ + + + + - 0', onCard),
  row('POST /api/v1/cards/{id}/archive', '+ + + - - - 0', onCard),
  row('POST /api/v1/cards/{id}/restore', '+ + + - - - 0', async (w) => {
    const id = await w.card();
    await (await w.client('admin')).post(`/api/v1/cards/${id}/archive`);
    return { path: { id } };
  }),
  row('POST /api/v1/cards/{id}/approval-status', '+ + + - - - 0', async (w) => ({
    path: { id: await w.card() },
    query: 'action=reject',
  })),

  row('GET /api/v1/relations', '+ + + + + - 0'),
  row('GET /api/v1/relations/{id}', '+ + + + + - 0', async (w) => ({ path: { id: await w.relation() } })),
  row('POST /api/v1/relations', '+ + + - + - 0', async (w) => ({
    body: {
      type: 'relAppToITC',
      source_id: await w.card(),
      target_id: await w.card({ type: 'ITComponent' }),
    },
  })),
  row('PATCH /api/v1/relations/{id}', '+ + + - + - 0', async (w) => ({
    path: { id: await w.relation() },
    body: { description: 'Changed.' },
  })),
  row('DELETE /api/v1/relations/{id}', '+ + + - + - 0', async (w) => ({ path: { id: await w.relation() } })),
  row('POST /api/v1/relations/bulk', '+ + + - + - 0', async (w) => ({
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

  row('POST /api/v1/imports (cards)', '+ + + - - - 0', () => ({
    query: 'kind=cards',
    ...csv('type,name\nApplication,A\n'),
  })),
  row('POST /api/v1/imports (relations)', '+ + + - + - 0', () => ({
    query: 'kind=relations',
    ...csv('type,source_external_id,target_external_id\nrelAppToITC,A,B\n'),
  })),
  row('POST /api/v1/exports', '+ + + + - - 0', () => ({ body: { format: 'csv', kind: 'cards' } })),
  row('GET /api/v1/cards/export/csv', '+ + + + - - 0'),
  row('GET /api/v1/cards/export/json', '+ + + + - - 0', () => ({ query: 'types=Application' })),

  // jobs of somebody else: only administrators see that there are any
  row('GET /api/v1/jobs', '+ + + + + + 0'),
  row('GET /api/v1/jobs/{id}', '+ ? ? ? ? ? 0', async (w) => ({ path: { id: await w.job('queued') } })),
  row('POST /api/v1/jobs/{id}/cancel', '+ ? ? ? ? ? 0', async (w) => ({
    path: { id: await w.job('queued') },
  })),
  row('POST /api/v1/jobs/{id}/retry', '+ ? ? ? ? ? 0', async (w) => ({
    path: { id: await w.job('failed') },
  })),
  row('GET /api/v1/jobs/{id}/result', '+ ? ? ? ? ? 0', async (w) => ({
    path: { id: await w.finishedJob() },
  })),
  row('GET /api/v1/job-schedules', '+ - - - + - 0'),
  row('GET /api/v1/job-schedules/{key}', '+ - - - + - 0', () => ({ path: { key: 'kpi_snapshot' } })),
  row('PATCH /api/v1/job-schedules/{key}', '+ - - - + - 0', () => ({
    path: { key: 'kpi_snapshot' },
    body: { time_zone: 'Europe/Paris' },
  })),

  row('GET /api/v1/users', '+ + + + + + 0'),
  row('GET /api/v1/users/{id}', '+ + + + + + 0', async (w) => ({ path: { id: await w.user() } })),
  row('PATCH /api/v1/users/{id}', '+ - - - - - 0', async (w) => ({
    path: { id: await w.user() },
    body: { display_name: 'Renamed' },
  })),
  row('GET /api/v1/roles', '+ + + + + + 0'),
  row('GET /api/v1/roles/permissions-schema', '+ + + + + + 0'),
  row('GET /api/v1/roles/{key}', '+ + + + + + 0', () => ({ path: { key: 'member' } })),

  row('GET /api/v1/events', '+ - - - - - 0'),
  row('GET /api/v1/changes', '+ + + + + - 0'),
  row('POST /api/v1/events/ticket', '+ + + + + - 0'),
  row('GET /api/v1/events/stream', '+ + + + + - 0', () => ({ send: openStream })),

  row('GET /api/health', '+ + + + + + +'),
  row('GET /api/health/live', '+ + + + + + +'),
  row('GET /api/health/ready', '+ + + + + + +'),
  row('GET /metrics', '+ - - - + - 0'),
  row('GET /api/openapi.json', '+ + + + + + +'),
  row('GET /api/docs', '+ + + + + + +'),
];

/** The rows of every operation: those above, and those of each group under matrix/. */
export const table: Row[] = [...firstRows, ...groups.flatMap(({ rows }) => rows)];

import { randomUUID } from 'node:crypto';
import { type Row, row } from '../matrix.row.ts';
import type { World } from '../world.ts';

const key = () => `T${randomUUID().replaceAll('-', '')}`;

/** Makes something as the administrator and answers its body. */
async function made(w: World, url: string, body: Record<string, unknown>) {
  const answer = await (await w.client('admin')).post(url, body);
  if (answer.status !== 201) throw new Error(`${url} answered ${answer.status}: ${answer.text}`);
  return answer.body;
}

const cardType = async (w: World) =>
  (await made(w, '/api/v1/metamodel/types', { key: key(), label: 'Made' })).key as string;
const onType = async (w: World) => ({ path: { key: await cardType(w) } });
const relationType = async (w: World) =>
  (
    await made(w, '/api/v1/metamodel/relation-types', {
      key: key(),
      label: 'made',
      source_type_key: await cardType(w),
      target_type_key: 'Application',
    })
  ).key as string;
const onRelationType = async (w: World) => ({ path: { key: await relationType(w) } });
const onRole = async (w: World, role_key = 'observer') => ({
  path: { type_key: await cardType(w), role_key },
});

const entries = [
  { path: 'principles', id: 'principle_id', body: () => ({ title: 'Made' }), patch: { title: 'Changed' } },
  {
    path: 'compliance-regulations',
    id: 'regulation_id',
    body: () => ({ key: key(), label: 'Made' }),
    patch: { is_enabled: false },
  },
  {
    path: 'resource-types',
    id: 'resource_type_id',
    body: () => ({ kind: 'link_type', key: key(), label: 'Made' }),
    patch: { is_enabled: false },
  },
];

/** Everybody reads the metamodel; only who may administer it changes it or asks how much it is used. */
export const metamodelRows: Row[] = [
  // operation                                                      A B M V I P 0
  row('POST /api/v1/metamodel/types', '+ - - - - - 0', () => ({ body: { key: key(), label: 'Made' } })),
  row('PATCH /api/v1/metamodel/types/{key}', '+ - - - - - 0', async (w) => ({
    ...(await onType(w)),
    body: { label: 'Changed' },
  })),
  row('DELETE /api/v1/metamodel/types/{key}', '+ - - - - - 0', onType),
  row('GET /api/v1/metamodel/types/{key}/field-usage', '+ - - - - - 0', () => ({
    path: { key: 'Application' },
    query: 'field_key=businessCriticality',
  })),
  row('GET /api/v1/metamodel/types/{key}/section-usage', '+ - - - - - 0', () => ({
    path: { key: 'Application' },
    query: 'field_keys=businessCriticality,functionalSuitability',
  })),
  row('GET /api/v1/metamodel/types/{key}/option-usage', '+ - - - - - 0', () => ({
    path: { key: 'Application' },
    query: 'field_key=businessCriticality&option_key=missionCritical',
  })),
  row('POST /api/v1/metamodel/relation-types', '+ - - - - - 0', async (w) => ({
    body: {
      key: key(),
      label: 'made',
      source_type_key: await cardType(w),
      target_type_key: 'Application',
    },
  })),
  row('PATCH /api/v1/metamodel/relation-types/{key}', '+ - - - - - 0', async (w) => ({
    ...(await onRelationType(w)),
    body: { label: 'changed' },
  })),
  row('DELETE /api/v1/metamodel/relation-types/{key}', '+ - - - - - 0', onRelationType),
  row('GET /api/v1/metamodel/relation-types/{key}/instance-count', '+ - - - - - 0', onRelationType),
  row('POST /api/v1/metamodel/relation-types/{key}/restore', '+ - - - - - 0', async (w) => {
    const call = await onRelationType(w);
    const url = `/api/v1/metamodel/relation-types/${call.path.key}`;
    await (await w.client('admin')).patch(url, { is_hidden: true });
    return call;
  }),
  row('POST /api/v1/metamodel/types/{type_key}/stakeholder-roles', '+ - - - - - 0', async (w) => ({
    path: { type_key: await cardType(w) },
    body: { key: 'steward', label: 'Steward' },
  })),
  row(
    'PATCH /api/v1/metamodel/types/{type_key}/stakeholder-roles/{role_key}',
    '+ - - - - - 0',
    async (w) => ({
      ...(await onRole(w)),
      body: { label: 'Watcher' },
    }),
  ),
  row('POST /api/v1/metamodel/types/{type_key}/stakeholder-roles/{role_key}/archive', '+ - - - - - 0', (w) =>
    onRole(w),
  ),
  row(
    'POST /api/v1/metamodel/types/{type_key}/stakeholder-roles/{role_key}/restore',
    '+ - - - - - 0',
    async (w) => {
      const call = await onRole(w);
      const { type_key, role_key } = call.path;
      const url = `/api/v1/metamodel/types/${type_key}/stakeholder-roles/${role_key}/archive`;
      await (await w.client('admin')).post(url);
      return call;
    },
  ),
  ...entries.flatMap(({ path, id, body, patch }) => {
    const url = `/api/v1/metamodel/${path}`;
    const onEntry = async (w: World) => ({ path: { [id]: (await made(w, url, body())).id as string } });
    return [
      row(`GET ${url}`, '+ + + + + + 0'),
      row(`POST ${url}`, '+ - - - - - 0', () => ({ body: body() })),
      row(`PATCH ${url}/{${id}}`, '+ - - - - - 0', async (w) => ({ ...(await onEntry(w)), body: patch })),
      row(`DELETE ${url}/{${id}}`, '+ - - - - - 0', onEntry),
    ];
  }),
];

import { randomUUID } from 'node:crypto';
import { onNew, type Row, row } from '../matrix.row.ts';
import { made, type World } from '../world.ts';

const key = () => `T${randomUUID().replaceAll('-', '')}`;

const cardType = async (w: World) =>
  (await made(w, '/metamodel/types', { key: key(), label: 'Made' })).key as string;
const onType = async (w: World) => ({ path: { key: await cardType(w) } });
const relationType = async (w: World) =>
  (
    await made(w, '/metamodel/relation-types', {
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

const options = [{ key: 'small', label: 'Small' }];
const part = { field_key: 'size', option_key: 'small' };
const renaming = {
  key: 'extent',
  removal: new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10),
};

/** A field with an option. */
async function onField(w: World) {
  const fields = [{ key: 'size', label: 'Size', type: 'single_select', options }];
  const body = { key: key(), label: 'Made', fields_schema: [{ section: 'Facts', fields }] };
  const type = (await made(w, '/metamodel/types', body)).key as string;
  return { path: { key: type }, body: { ...part, ...renaming } };
}

/** Everybody reads the metamodel; only who may administer it changes it or asks how much it is used. */
export const metamodelRows: Row[] = [
  // operation                                                      A B M V I P 0
  row('POST /metamodel/types', '+ - - - - - 0', () => ({ body: { key: key(), label: 'Made' } })),
  row('PATCH /metamodel/types/{key}', '+ - - - - - 0', onType, { label: 'Changed' }),
  row('DELETE /metamodel/types/{key}', '+ - - - - - 0', onType),
  row('POST /metamodel/types/{key}/fields/{field_key}/rename', '+ - - - - - 0', async (w) => ({
    path: { ...(await onField(w)).path, field_key: 'size' },
    body: renaming,
  })),
  row('POST /metamodel/types/{key}/rename', '+ - - - - - 0', onField),
  row('POST /metamodel/relation-types/{key}/rename', '+ - - - - - 0', async (w) => {
    const attributes_schema = [{ key: 'size', label: 'Size', type: 'single_select', options }];
    const ends = { source_type_key: await cardType(w), target_type_key: 'Application' };
    const body = { key: key(), label: 'made', ...ends, attributes_schema };
    const type = (await made(w, '/metamodel/relation-types', body)).key as string;
    return { path: { key: type }, body: { ...part, ...renaming } };
  }),
  row('GET /metamodel/types/{key}/usage', '+ - - - - - 0', () => ({
    path: { key: 'Application' },
    query: 'field_key=businessCriticality&option_key=missionCritical',
  })),
  row('GET /metamodel/relation-types/{key}/usage', '+ - - - - - 0', onRelationType),
  row('GET /metamodel/types/{key}/field-usage', '+ - - - - - 0', () => ({
    path: { key: 'Application' },
    query: 'field_key=businessCriticality',
  })),
  row('GET /metamodel/types/{key}/section-usage', '+ - - - - - 0', () => ({
    path: { key: 'Application' },
    query: 'field_keys=businessCriticality,functionalSuitability',
  })),
  row('GET /metamodel/types/{key}/option-usage', '+ - - - - - 0', () => ({
    path: { key: 'Application' },
    query: 'field_key=businessCriticality&option_key=missionCritical',
  })),
  row('POST /metamodel/relation-types', '+ - - - - - 0', async (w) => ({
    body: {
      key: key(),
      label: 'made',
      source_type_key: await cardType(w),
      target_type_key: 'Application',
    },
  })),
  row('PATCH /metamodel/relation-types/{key}', '+ - - - - - 0', onRelationType, { label: 'changed' }),
  row('DELETE /metamodel/relation-types/{key}', '+ - - - - - 0', onRelationType),
  row('GET /metamodel/relation-types/{key}/instance-count', '+ - - - - - 0', onRelationType),
  row('POST /metamodel/relation-types/{key}/restore', '+ - - - - - 0', async (w) => {
    const call = await onRelationType(w);
    const url = `/api/v1/metamodel/relation-types/${call.path.key}`;
    await (await w.client('admin')).patch(url, { is_hidden: true });
    return call;
  }),
  row('POST /metamodel/types/{type_key}/stakeholder-roles', '+ - - - - - 0', onNew('type_key', cardType), {
    key: 'steward',
    label: 'Steward',
  }),
  row('PATCH /metamodel/types/{type_key}/stakeholder-roles/{role_key}', '+ - - - - - 0', (w) => onRole(w), {
    label: 'Watcher',
  }),
  row('POST /metamodel/types/{type_key}/stakeholder-roles/{role_key}/archive', '+ - - - - - 0', (w) =>
    onRole(w),
  ),
  row('POST /metamodel/types/{type_key}/stakeholder-roles/{role_key}/restore', '+ - - - - - 0', async (w) => {
    const call = await onRole(w);
    const { type_key, role_key } = call.path;
    const url = `/api/v1/metamodel/types/${type_key}/stakeholder-roles/${role_key}/archive`;
    await (await w.client('admin')).post(url);
    return call;
  }),
  ...entries.flatMap(({ path, id, body, patch }) => {
    const url = `/metamodel/${path}`;
    const onEntry = async (w: World) => ({ path: { [id]: (await made(w, url, body())).id as string } });
    return [
      row(`GET ${url}`, '+ + + + + + 0'),
      row(`POST ${url}`, '+ - - - - - 0', () => ({ body: body() })),
      row(`PATCH ${url}/{${id}}`, '+ - - - - - 0', async (w) => ({ ...(await onEntry(w)), body: patch })),
      row(`DELETE ${url}/{${id}}`, '+ - - - - - 0', onEntry),
    ];
  }),
];

import type { TestApp, TestClient } from '../../support/harness.ts';
import { storeConnection, storeMapping } from '../../support/itsm.ts';
import { nightly } from '../extractions/extractions.fixture.ts';
import { field, makeRelationType, makeType, options } from './metamodel.fixture.ts';

/** The parts of a metamodel that {@link useEverywhere} uses. */
export interface UsedParts {
  type: string;
  other: string;
  relation: string;
}

/** A type with a select `grade`, a number `size` and a text `note`, and a relation type to another one, with a field `share`. */
export async function makeParts(admin: TestClient): Promise<UsedParts> {
  const fields = [
    field('grade', 'single_select', { options: options('gold', 'silver') }),
    field('size', 'number'),
    field('total', 'number'),
    field('note', 'text'),
  ];
  const type = await makeType(admin, fields);
  const other = await makeType(admin, [field('rank', 'number')]);
  const attributes_schema = [{ key: 'share', label: 'Share', type: 'number' }];
  return { type, other, relation: await makeRelationType(admin, type, other, { attributes_schema }) };
}

/** The kinds of the objects that {@link useEverywhere} stores, as usage lists them. */
export const everyKind = [
  'calculation',
  'dashboard',
  'extraction_schedule',
  'feed',
  'itsm_mapping',
  'portal',
  'report',
  'survey',
  'view',
];

/** Stores an object of every kind that refers to the option `gold`, the fields `grade` and `size`, and the relation type. */
export async function useEverywhere(
  t: TestApp,
  admin: TestClient,
  { type, relation }: UsedParts,
): Promise<Record<string, string>> {
  const made = async (path: string, body: object): Promise<string> =>
    (await admin.create(`/api/v1/${path}`, body)).id;
  const filter = `type = ${type} and attributes.grade = gold and attributes.size > 1 and relation.${relation} exists`;
  const filters = { types: [type], attributes: { grade: ['gold'] }, relations: { [relation]: true } };
  const view = { name: 'A view', filters, columns: ['name', 'attributes.size'] };
  const path = '/reports/portfolio';
  const tile = { path, title: 'A tile', width: 1, search: { type, x_axis: 'grade', y_axis: 'size', filter } };
  const q = {
    from: [type],
    filter,
    dimensions: [{ field: 'attributes.grade' }],
    measures: [{ fn: 'sum', field: 'attributes.size' }],
  };
  const connectionId = await storeConnection(t.services.db, {
    instance_url: 'https://itsm.example.com',
    secrets: '',
  });
  return {
    view: await made('bookmarks', view),
    feed: await made('bookmarks', {
      ...view,
      odata_enabled: true,
      filters: { types: [type], expression: filter },
    }),
    report: await made('saved-reports', {
      name: 'A report',
      report_type: 'query',
      config: { path: '/query', search: { q } },
    }),
    dashboard: await made('saved-reports', {
      name: 'A board',
      report_type: 'dashboard',
      config: { tiles: [tile] },
    }),
    extraction_schedule: await made(
      'extraction-schedules',
      nightly({ request: { format: 'csv', types: [type], filter } }),
    ),
    portal: await made('web-portals', {
      name: 'A portal',
      slug: `p-${type.toLowerCase()}`,
      card_type: type,
      filters: { filter },
      display_fields: ['attributes.size', `relations.${relation}`],
    }),
    calculation: await made('calculations', {
      name: 'A formula',
      target_type_key: type,
      target_field_key: 'total',
      formula: `IF(data.grade == "gold", data.size, len(relations.${relation}))`,
    }),
    survey: await made('surveys', {
      name: 'A survey',
      target_type_key: type,
      target_filters: { attribute_filters: [{ key: 'grade', op: 'eq', value: 'gold' }] },
      target_roles: ['responsible'],
      fields: [{ key: 'size' }, { key: `relations.${relation}` }],
    }),
    itsm_mapping: await storeMapping(t, {
      connectionId,
      cardType: type,
      more: { card_filter: filter },
      fields: [{ card_field: 'attributes.size', remote_field: 'size' }],
    }),
  };
}

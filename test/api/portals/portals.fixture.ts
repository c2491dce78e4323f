import { randomUUID } from 'node:crypto';
import type { TestApp, TestClient } from '../../support/harness.ts';

export const url = '/api/v1/web-portals';

const field = (key: string, type: string, more: object = {}) => ({
  key,
  label: key,
  type,
  weight: 1,
  ...more,
});
const options = (...keys: string[]) => ({ options: keys.map((key) => ({ key, label: key.toUpperCase() })) });

/** The sections of the type that the portals of these tests are about. */
export const sections = (price = 'cost') => [
  {
    section: 'Facts',
    fields: [
      field('grade', 'single_select', options('gold', 'silver')),
      field('channels', 'multiple_select', options('web', 'shop')),
      field('seats', 'number'),
      field('open', 'boolean'),
      field('home', 'url'),
    ],
  },
  { section: 'Inside', fields: [field('secret', 'text'), field('price', price)] },
];

/** All that a portal about products may show. */
export const all = [
  ...['subtype', 'description', 'lifecycle', 'approval_status', 'data_quality', 'tags', 'updated_at'],
  ...['grade', 'channels', 'seats', 'open', 'home', 'relations.soldBy', 'relations.haunts'],
];

export interface Landscape {
  ids: Record<'alpha' | 'beta' | 'gone' | 'acme' | 'retired' | 'ghost', string>;
  tags: Record<'red' | 'blue' | 'unused', string>;
}

/** Products that vendors sell and that ghosts, a type of their own, haunt. */
export async function createLandscape(admin: TestClient): Promise<Landscape> {
  const made = async (path: string, body: object): Promise<string> =>
    (await admin.create(`/api/v1${path}`, body)).id;
  const subtypes = [
    { key: 'tool', label: 'Tool' },
    { key: 'service', label: 'Service' },
  ];
  await made('/metamodel/types', { key: 'Product', label: 'Product', subtypes, fields_schema: sections() });
  await made('/metamodel/types', { key: 'Vendor', label: 'Vendor', fields_schema: [] });
  await made('/metamodel/types', { key: 'Ghost', label: 'Ghost', fields_schema: [] });
  const between = { source_type_key: 'Product', label: 'is sold by', reverse_label: 'sells' };
  await made('/metamodel/relation-types', { ...between, key: 'soldBy', target_type_key: 'Vendor' });
  await made('/metamodel/relation-types', {
    ...{ key: 'haunts', source_type_key: 'Ghost', target_type_key: 'Product' },
    ...{ label: 'haunts', reverse_label: 'is haunted by' },
  });
  const group = async (name: string, ...tags: string[]) => {
    const id = await made('/tag-groups', { name });
    const ids = [];
    for (const tag of tags) ids.push(await made(`/tag-groups/${id}/tags`, { name: tag }));
    return ids as [string, string];
  };
  const [red, unused] = await group('Colour', 'Red', 'Unused');
  const [blue] = await group('Mood', 'Blue');
  const tags = { red, blue, unused };

  const card = (type: string, name: string, more: object = {}) => made('/cards', { type, name, ...more });
  const alpha = await card('Product', 'Alpha Desk', {
    subtype: 'tool',
    alias: 'Hushed',
    external_id: 'EXT-SEVEN',
    description: 'Pays the wages.',
    lifecycle: { active: '2024-01-31' },
    attributes: {
      ...{ grade: 'gold', channels: ['web', 'shop'], seats: 5, open: true, home: 'https://alpha.example/' },
      ...{ secret: 'classified', price: 918273 },
    },
  });
  const beta = await card('Product', 'Beta Desk', { attributes: { grade: 'silver', seats: 7, price: 1 } });
  const gone = await card('Product', 'Gone Desk', { attributes: { grade: 'gold' } });
  const acme = await card('Vendor', 'Acme');
  const retired = await card('Vendor', 'Retired');
  const ghost = await card('Ghost', 'Casper');
  for (const [type, source_id, target_id] of [
    ['soldBy', alpha, acme],
    ['soldBy', alpha, retired],
    ['soldBy', gone, acme],
    ['haunts', ghost, alpha],
  ])
    await made('/relations', { type, source_id, target_id });
  const tagged = await admin.post(`/api/v1/cards/${alpha}/tags`, [red, blue]);
  expect(tagged.status, tagged.text).toBeLessThan(300);
  for (const id of [gone, retired]) await admin.post(`/api/v1/cards/${id}/archive`);
  return { ids: { alpha, beta, gone, acme, retired, ghost }, tags };
}

/** Makes a portal about products, published unless told otherwise. @returns its slug and id. */
export async function makePortal(admin: TestClient, more: object = {}) {
  const slug = `portal-${randomUUID()}`;
  const body = { name: 'Products', slug, card_type: 'Product', is_published: true, ...more };
  const made = await admin.create(url, body);
  return { slug: made.slug, id: made.id };
}

/** Forgets who has asked how often, so that the tests of a file are not counted together. */
export const uncounted = (t: TestApp) => t.services.db('throttles').delete();

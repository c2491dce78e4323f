import fc from 'fast-check';
import { expect, it } from 'vitest';
import { checkAttributes } from '../../../domain/inventory/cards/rules/values.ts';
import { loadMetamodel } from '../../../domain/kernel/metamodel/metamodel.store.ts';
import { ok, openApp } from '../../support/harness.ts';
import { make, relate } from '../cards/write.fixture.ts';
import {
  field,
  makeRelationType,
  makeType,
  newKey,
  options,
  relationTypes,
  schema,
  types,
} from './metamodel.fixture.ts';

const { db, admin } = await openApp(['admin']);

/** What may stand anywhere: nearly right values, and hostile ones. */
const anything = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<unknown>(
    '',
    ' ',
    '__proto__',
    "'; drop table cards --",
    '\u0000',
    '\ud800',
    '<script>alert(1)</script>',
    '=1+1',
    'x'.repeat(20_000),
    -1,
    1e308,
    2 ** 31,
    {},
    [],
    [[]],
    { de: 'x' },
    { label: { de: 'x', 'x-y': 'z' } },
    null,
  ),
);

/** A body with one of its parts, however deep, put in the place of another value, left out or doubled. */
function mutated(body: unknown, choice: number, value: unknown): unknown {
  const copy = structuredClone(body) as Record<string, unknown>;
  const places: [Record<string, unknown>, string][] = [];
  const walk = (node: unknown) => {
    if (typeof node !== 'object' || node === null) return;
    for (const key of Object.keys(node)) {
      places.push([node as Record<string, unknown>, key]);
      walk((node as Record<string, unknown>)[key]);
    }
  };
  walk(copy);
  const [node, key] = places[choice % places.length]!;
  if (value === undefined) delete node[key];
  else if (Array.isArray(node) && choice % 7 === 0) node.push(structuredClone(node[Number(key)]));
  else node[key] = value;
  return copy;
}

it('whatever is sent is carried out or refused, and leaves every card and relation with what its type takes', async () => {
  const type = await makeType(admin, [
    field('size', 'number'),
    field('note', 'text'),
    field('state', 'single_select', { options: options('a', 'b') }),
  ]);
  const relationType = await makeRelationType(admin, type, 'Application', {
    attributes_schema: [{ key: 'share', label: 'Share', type: 'text' }],
  });
  const card = await make(admin, { type, attributes: { size: 1, note: '7', state: 'a' } });
  const relation = await relate(admin, relationType, card.id, (await make(admin)).id);
  await admin.patch(`/api/v1/relations/${relation.id}`, { attributes: { share: '3' } });

  const select = field('note', 'single_select', { options: options('a', 'x') });
  const bodies: [method: 'post' | 'patch', url: string, body: object][] = [
    [
      'patch',
      `${types}/${type}?force=true`,
      {
        fields_schema: schema(field('size', 'text'), select),
        subtypes: [{ key: 's', label: 'S', hidden_fields: ['size'] }],
      },
    ],
    [
      'patch',
      `${types}/${type}`,
      {
        label: 'L',
        translations: { label: { de: 'D' } },
        section_config: { Facts: { hidden: true }, __order: ['Facts'], __dataQuality: { tags: 1 } },
      },
    ],
    [
      'patch',
      `${types}/${type}?dry_run=true`,
      {
        fields_schema: schema(field('state', 'date'), field('size', 'url')),
        stakeholder_roles: [{ key: 'owner', label: 'O', translations: { de: 'B' } }],
      },
    ],
    [
      'post',
      types,
      { key: newKey(), label: 'N', fields_schema: schema(select), sort_order: 3, color: '#112233' },
    ],
    [
      'patch',
      `${relationTypes}/${relationType}?force=true`,
      {
        attributes_schema: [
          { key: 'share', label: 'S', type: 'number' },
          { key: 'state', label: 'S', type: 'single_select', options: options('a') },
        ],
        cardinality: '1:n',
      },
    ],
    [
      'post',
      relationTypes,
      {
        key: newKey(),
        label: 'n',
        source_type_key: 'Application',
        target_type_key: type,
        cardinality: '1:1',
      },
    ],
    [
      'post',
      `${types}/${type}/stakeholder-roles`,
      {
        key: 'steward',
        label: 'S',
        permissions: { 'card.view': true },
        translations: { label: { de: 'H' } },
      },
    ],
    ['post', '/api/v1/metamodel/principles', { title: 'P', rationale: 'R', sort_order: 1 }],
    [
      'post',
      '/api/v1/metamodel/resource-types',
      { kind: 'link_type', key: 'k', label: 'K', translations: { de: 'K' } },
    ],
  ];
  const seen = new Set<number>();
  await fc.assert(
    fc.asyncProperty(
      fc.nat(bodies.length - 1),
      fc.nat(500),
      fc.option(anything, { nil: undefined, freq: 8 }),
      async (which, choice, value) => {
        const [method, url, body] = bodies[which]!;
        const answer = await admin[method](url, mutated(body, choice, value));
        seen.add(answer.status);
        expect([200, 201, 400, 409, 422], answer.text).toContain(answer.status);
        const metamodel = await loadMetamodel(db);
        for (const { attributes, subtype } of await db('cards').where({ type })) {
          expect(checkAttributes(metamodel.cardTypes.get(type)!.fields, attributes)).toEqual([]);
          expect(subtype === null || metamodel.cardTypes.get(type)!.subtypeKeys.has(subtype)).toBe(true);
        }
        for (const { attributes } of await db('relations').where({ type: relationType })) {
          expect(checkAttributes(metamodel.relationTypes.get(relationType)!.fields, attributes)).toEqual([]);
        }
      },
    ),
    { numRuns: 150, endOnFailure: true },
  );
  expect(seen).toContain(422);
  expect(seen).toContain(200);
  // and the metamodel can still be read in every language
  await ok(admin.get(`${types}?page_size=200`, { 'accept-language': 'de' }));
});

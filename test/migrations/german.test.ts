import { cardTypeSeeds, relationTypeSeeds } from '../../domain/inventory/metamodel/metamodel.seeds.data.ts';
import { withGerman } from '../../migrations/seeds/german.ts';
import { openApp, pluck } from '../support/harness.ts';

interface Labelled {
  label?: string;
  section?: string;
  translations?: Record<string, unknown>;
}

const members = ['label', 'reverse_label', 'description', 'category'] as const;

/** The delivered texts at any depth that have no German. */
function untranslated(part: unknown): string[] {
  if (Array.isArray(part)) return part.flatMap(untranslated);
  if (typeof part !== 'object' || part === null) return [];
  const { translations = {}, section } = part as Labelled;
  const row = part as Record<string, unknown>;
  const missing = members.filter((member) => {
    const byLanguage = translations[member] as Record<string, string> | undefined;
    return typeof row[member] === 'string' && !(byLanguage?.de || (member === 'label' && translations.de));
  });
  const below = Object.entries(row).flatMap(([key, value]) =>
    key === 'translations' ? [] : untranslated(value),
  );
  return [
    ...missing.map((member) => String(row[member])),
    ...(section !== undefined && !translations.de ? [section] : []),
    ...below,
  ];
}

const { admin } = await openApp(['admin']);
const read = async (path: string, headers: Record<string, string> = {}) =>
  (await admin.get(`/api/v1/metamodel/${path}?page_size=200&include_hidden=true`, headers)).body.items;
const german = { 'accept-language': 'de' };

it('translates every delivered text to German', async () => {
  const types = await read('types');
  const relationTypes = await read('relation-types');
  expect([types.length, relationTypes.length]).toEqual([cardTypeSeeds.length, relationTypeSeeds.length]);
  expect(untranslated([types, relationTypes])).toEqual([]);
  for (const list of ['resource-types', 'compliance-regulations']) {
    expect(
      untranslated((await admin.get(`/api/v1/metamodel/${list}?page_size=200`)).body.items),
      list,
    ).toEqual([]);
  }
});

it('has another German label for each option of a field, each field and each type', async () => {
  const types = await read('types', german);
  const groups: string[][] = [pluck(types, 'label')];
  for (const { fields_schema, subtypes, stakeholder_roles } of types) {
    groups.push(pluck(subtypes, 'label'), pluck(stakeholder_roles, 'label'));
    const fields = fields_schema.flatMap((section: { fields: object[] }) => section.fields);
    groups.push(pluck(fields, 'label'), ...fields.map(({ options = [] }) => pluck(options, 'label')));
  }
  for (const { attributes_schema } of await read('relation-types', german)) {
    groups.push(pluck(attributes_schema, 'label'));
    groups.push(
      ...attributes_schema.map(({ options = [] }: { options?: object[] }) => pluck(options, 'label')),
    );
  }
  for (const labels of groups) expect(labels).toEqual([...new Set(labels)]);
  expect(groups[0]).toContain('Geschäftsfähigkeit');
});

it('keeps English without Accept-Language', async () => {
  expect(pluck(await read('types'), 'label')).toEqual(cardTypeSeeds.map(({ label }) => label));
});

it('changes neither own labels nor existing German ones', () => {
  const stored = {
    key: 'Application',
    label: 'App',
    description: 'Software that supports the business.',
    translations: { description: { fr: 'Un logiciel.' } },
    fields_schema: [
      {
        section: 'Ours',
        fields: [
          { key: 'timeModel', label: 'TIME Model', translations: { label: { de: 'Strategie' } } },
          { key: 'ours', label: 'Cost' },
          { key: 'productName', label: 'Product Name' },
        ],
      },
    ],
  };
  const [application] = cardTypeSeeds.filter(({ key }) => key === 'Application');
  const filled = withGerman(stored, application!, true);
  expect(filled).toEqual({
    ...stored,
    translations: {
      description: { fr: 'Un logiciel.', de: 'Software, die das Geschäft unterstützt.' },
    },
    fields_schema: [
      {
        section: 'Ours',
        fields: [
          ...stored.fields_schema[0]!.fields.slice(0, 2),
          { key: 'productName', label: 'Product Name', translations: { de: 'Produktname' } },
        ],
      },
    ],
  });
  expect(withGerman(filled, application!, true)).toBe(filled);
});

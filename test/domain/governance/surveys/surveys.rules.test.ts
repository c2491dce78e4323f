import type { SurveyField } from '../../../../domain/governance/surveys/surveys.model.ts';
import {
  applyAnswer,
  checkAnswers,
  describeFields,
} from '../../../../domain/governance/surveys/surveys.rules.ts';
import { compileMetamodel } from '../../../../domain/kernel/metamodel/metamodel.compile.ts';
import describedFields from './surveys.rules.fields.json' with { type: 'json' };

const field = (key: string, type: string, more: object = {}) => ({
  key,
  label: key,
  type,
  weight: 1,
  ...more,
});
const metamodel = compileMetamodel({
  version: 1,
  cardTypes: [
    {
      key: 'Thing',
      number_prefix: 'THI',
      label: 'Thing',
      description: null,
      icon: '',
      color: '#000000',
      category: null,
      has_hierarchy: false,
      has_successors: false,
      has_data_flows: false,
      deprecation: null,
      allow_same_name: false,
      subtypes: [],
      fields_schema: [
        {
          section: 'First',
          fields: [
            field('size', 'number'),
            field('sorts', 'multiple_select', {
              options: [
                { key: 'a', label: 'A', color: '#000000' },
                { key: 'b', label: 'B' },
              ],
            }),
            field('score', 'number', { readonly: true }),
          ],
        },
      ] as never,
      section_config: {},
      built_in: false,
      is_hidden: false,
      sort_order: 1,
      translations: {},
    },
  ],
  relationTypes: [],
  roles: [],
  tagGroups: [],
});
const type = metamodel.cardTypes.get('Thing')!;
const asked: SurveyField[] = describeFields(
  metamodel,
  type,
  [{ key: 'size' }, { key: 'sorts', action: 'confirm' }],
  [],
);
const check = (stored: Record<string, unknown>, sent: Record<string, object>) =>
  checkAnswers(metamodel, type, asked, stored, sent);

it('fields are described by their type, and those that people do not set are refused', () => {
  expect(asked).toEqual(describedFields);
  const errors: { field: string; code: string; message: string }[] = [];
  describeFields(
    metamodel,
    type,
    [{ key: 'score' }, { key: 'none' }, { key: 'size' }, { key: 'size' }],
    errors,
  );
  expect(errors.map((error) => `${error.field} ${error.code}`)).toEqual([
    'fields.0.key readonly',
    'fields.1.key unknown_attribute',
    'fields.3.key duplicate',
  ]);
});

it('an answer keeps the value that the card holds, and empty values clear', () => {
  const { answers, errors } = check(
    { size: 1, sorts: ['a'] },
    { size: { confirmed: true }, sorts: { new_value: [] } },
  );
  expect(errors).toEqual([]);
  expect(answers).toEqual({
    size: { current_value: 1, new_value: 1, confirmed: true },
    sorts: { current_value: ['a'], new_value: null, confirmed: false },
  });
});

it('an answer to what was not asked, of a wrong kind or to another value is told', () => {
  const told = check(
    { size: 1 },
    {
      __proto__x: { confirmed: true },
      size: { new_value: '2', current_value: 3 },
      sorts: { new_value: ['a', 'c'] },
    },
  );
  expect(told.errors.map((error) => `${error.field} ${error.code}`)).toEqual([
    'responses.__proto__x unknown_field',
    'responses.size.new_value wrong_type',
    'responses.sorts.new_value unknown_option',
  ]);
  expect(told.outdated).toEqual(['size']);
});

it('an answer is applied to the value that it was given to, or to one that it equals', () => {
  const answer = { size: { current_value: 1, new_value: 2, confirmed: false } };
  const applied = (attributes: Record<string, unknown>, answers: object = answer) =>
    applyAnswer(metamodel, type, attributes, answers as never);
  expect(applied({ size: 1, sorts: ['a'] })).toEqual({ attributes: { size: 2, sorts: ['a'] } });
  expect(applied({ size: 2 })).toEqual({ attributes: { size: 2 } });
  expect(applied({ size: 3 })).toMatchObject({ code: 'changed_since', fields: ['size'] });
  expect(applied({})).toMatchObject({ code: 'changed_since' });
  expect(applied({ size: 3 }, { size: { current_value: 1, new_value: 1, confirmed: true } })).toEqual({
    attributes: { size: 3 },
  });
  const gone = { shape: { current_value: null, new_value: 'round', confirmed: false } };
  expect(applied({ size: 3 }, gone)).toMatchObject({ code: 'value_does_not_fit', fields: ['shape'] });
  const cleared = { size: { current_value: 1, new_value: null, confirmed: false } };
  expect(applied({ size: 1 }, cleared)).toEqual({ attributes: {} });
});

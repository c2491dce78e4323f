import { type Fragment, raw, sql } from '../../../../domain/inventory/filters/filters.sql.ts';
import type { CompiledField } from '../../../../domain/kernel/metamodel/metamodel.compile.ts';
import { type FieldType, lifecyclePhases } from '../../../../domain/kernel/metamodel/metamodel.types.ts';
import { phaseLabel } from '../../../kernel/charts/charts.labels.ts';
import type { EdmType, ODataProperty } from './model.types.ts';

const noOptions: ReadonlyMap<string, string> = new Map();

/** A column of the table. */
function column(
  name: string,
  type: EdmType,
  label: string,
  more: Partial<ODataProperty> = {},
): [string, ODataProperty] {
  const value = (alias: string) => raw(`${alias}.${name}`);
  const { nullable = true } = more;
  const shown = { as: type === 'Edm.Guid' ? 'id' : type === 'Edm.Double' ? 'number' : 'text' } as const;
  return [
    name,
    { name, type, collection: false, nullable, label, options: noOptions, value, shown, ...more },
  ];
}

const timestamp = (name: string, label: string) =>
  column(name, 'Edm.DateTimeOffset', label, {
    nullable: false,
    shown: { as: 'time' },
    // rounded as in responses, so that a client can filter by a value that it has read
    value: (alias) => raw(`date_trunc('milliseconds', ${alias}.${name})`),
  });

/** The date under a key of a jsonb column; NULL if the value is not a date. */
function dateIn(object: Fragment, key: string): Fragment {
  const text = sql`(${object} ->> ${key}::text)`;
  return sql`(case when ${text} ~ '^\\d{4}-\\d\\d-\\d\\d$' then ${text} end)`;
}

const TAGS = (alias: string): Fragment =>
  raw(`(select coalesce(jsonb_agg(g.name || '/' || t.name order by lower(g.name), lower(t.name), t.id), '[]')
        from card_tags ct join tags t on t.id = ct.tag_id join tag_groups g on g.id = t.tag_group_id
        where ct.card_id = ${alias}.id)`);

/** A card's tags, which are stored in separate tables. */
const tagsProperty: ODataProperty = {
  name: 'tags',
  type: 'Edm.String',
  collection: true,
  nullable: false,
  label: 'Tags, as Group/Tag',
  options: noOptions,
  value: TAGS,
  shown: { as: 'tags' },
};

/** The properties that cards of every type have. */
export const cardProperties: [string, ODataProperty][] = [
  column('id', 'Edm.Guid', 'Id', { nullable: false }),
  column('number', 'Edm.String', 'Number', {
    nullable: false,
    order: (alias) => raw(`card_number_key(${alias}.number)`),
  }),
  column('type', 'Edm.String', 'Card type', { nullable: false }),
  column('subtype', 'Edm.String', 'Subtype'),
  column('name', 'Edm.String', 'Name', {
    nullable: false,
    // names are compared without case and accents
    order: (alias) => raw(`${alias}.name_key`),
  }),
  column('alias', 'Edm.String', 'Alias'),
  column('description', 'Edm.String', 'Description'),
  column('external_id', 'Edm.String', 'External id'),
  column('parent_id', 'Edm.Guid', 'Parent'),
  column('approval_status', 'Edm.String', 'Approval status', { nullable: false }),
  column('data_quality', 'Edm.Double', 'Data quality in percent', { nullable: false }),
  ...lifecyclePhases.map((phase): [string, ODataProperty] => {
    const name = `lifecycle_${phase}`;
    const label = `Lifecycle: ${phaseLabel(phase)}`;
    const value = (alias: string) => dateIn(raw(`${alias}.lifecycle`), phase);
    // returned as stored, since writes validate it
    const shown = { as: 'inside', column: 'lifecycle', key: phase, form: 'date' } as const;
    const of = { collection: false, nullable: true, label, options: noOptions, inside: true };
    return [name, { name, type: 'Edm.Date', ...of, value, shown }];
  }),
  ['tags', tagsProperty],
  timestamp('created_at', 'Created'),
  timestamp('updated_at', 'Last changed'),
  column('created_by', 'Edm.Guid', 'Created by'),
  column('updated_by', 'Edm.Guid', 'Last changed by'),
];

/** The properties that relations of every type have. */
export const relationProperties: [string, ODataProperty][] = [
  column('id', 'Edm.Guid', 'Id', { nullable: false }),
  column('type', 'Edm.String', 'Relation type', { nullable: false }),
  column('source_id', 'Edm.Guid', 'Source', { nullable: false }),
  column('target_id', 'Edm.Guid', 'Target', { nullable: false }),
  column('description', 'Edm.String', 'Description'),
  timestamp('created_at', 'Created'),
  timestamp('updated_at', 'Last changed'),
];

const day = (name: string, label: string) =>
  column(name, 'Edm.Date', label, {
    nullable: false,
    shown: { as: 'value' },
    value: (alias) => raw(`${alias}.${name}::text`),
  });

/** The type of a card, which never changes. */
const typeOfCard = (name: string, id: string, label: string) =>
  column(name, 'Edm.String', label, {
    nullable: false,
    shown: { as: 'value' },
    value: (alias) => raw(`(select k.type from cards k where k.id = ${alias}.${id})`),
  });

/** The properties of data flows. */
export const flowProperties: [string, ODataProperty][] = [
  column('id', 'Edm.Guid', 'Id', { nullable: false }),
  column('source_id', 'Edm.Guid', 'Source', { nullable: false }),
  typeOfCard('source_type', 'source_id', 'Card type of the source'),
  column('target_id', 'Edm.Guid', 'Target', { nullable: false }),
  typeOfCard('target_type', 'target_id', 'Card type of the target'),
  column('direction', 'Edm.String', 'Direction', {
    nullable: false,
    options: new Map([
      ['forward', 'From the source to the target'],
      ['bidirectional', 'Both ways'],
    ]),
  }),
  column('frequency', 'Edm.String', 'Frequency'),
  column('description', 'Edm.String', 'Description'),
  column('external_id', 'Edm.String', 'External id'),
  timestamp('created_at', 'Created'),
  timestamp('updated_at', 'Last changed'),
];

/** The properties of costs. */
export const costProperties: [string, ODataProperty][] = [
  column('id', 'Edm.Guid', 'Id', { nullable: false }),
  column('card_id', 'Edm.Guid', 'Card'),
  column('relation_id', 'Edm.Guid', 'Relation'),
  column('kind', 'Edm.String', 'Kind', { nullable: false }),
  day('period_start', 'First day'),
  day('period_end', 'Last day'),
  column('amount', 'Edm.Decimal', 'Amount', { nullable: false, shown: { as: 'number' } }),
  column('currency', 'Edm.String', 'Currency', { nullable: false }),
  column('description', 'Edm.String', 'Description'),
  column('external_id', 'Edm.String', 'External id'),
  timestamp('created_at', 'Created'),
  timestamp('updated_at', 'Last changed'),
];

const edmTypes: Record<FieldType, EdmType> = {
  text: 'Edm.String',
  multiline_text: 'Edm.String',
  url: 'Edm.String',
  single_select: 'Edm.String',
  multiple_select: 'Edm.String',
  number: 'Edm.Double',
  cost: 'Edm.Decimal',
  boolean: 'Edm.Boolean',
  date: 'Edm.Date',
};

/** The property of an attribute. */
export function attributeProperty(name: string, field: CompiledField): ODataProperty {
  const type = edmTypes[field.type];
  const collection = field.type === 'multiple_select';
  const options = collection || field.type === 'single_select' ? field.optionLabels : noOptions;
  const common = { name, type, collection, nullable: !collection, label: field.label, options, inside: true };
  const { key } = field;
  const member = (alias: string) => sql`(${raw(`${alias}.attributes`)} -> ${key}::text)`;
  const memberText = (alias: string) => sql`(${raw(`${alias}.attributes`)} ->> ${key}::text)`;
  const shown = { as: 'inside', column: 'attributes', key, form: 'value' } as const;
  if (collection) {
    const value = (alias: string) =>
      sql`(case when jsonb_typeof(${member(alias)}) = 'array' then ${member(alias)} else '[]'::jsonb end)`;
    return { ...common, value, shown: { ...shown, form: 'list' } };
  }
  switch (type) {
    case 'Edm.Double':
    case 'Edm.Decimal':
      return {
        ...common,
        shown,
        value: (alias) =>
          sql`(case when jsonb_typeof(${member(alias)}) = 'number' then ${memberText(alias)}::numeric end)`,
      };
    case 'Edm.Boolean':
      return {
        ...common,
        shown,
        value: (alias) =>
          sql`(case when jsonb_typeof(${member(alias)}) = 'boolean' then ${memberText(alias)}::boolean end)`,
      };
    case 'Edm.Date':
      return {
        ...common,
        shown: { ...shown, form: 'date' },
        value: (alias) => dateIn(raw(`${alias}.attributes`), key),
      };
    default:
      return { ...common, shown, value: memberText };
  }
}

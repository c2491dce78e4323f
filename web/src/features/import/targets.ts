import { phases } from '../../kit/lifecycle.ts';
import { type MessageKey, useTexts } from '../../kit/messages.tsx';
import { type Field, useMetamodel } from '../../kit/metamodel.tsx';
import type { Kind } from './import.search.ts';

/** A column that an import reads. */
export interface Target {
  /** As imports name it, such as `attributes.timeModel`. */
  column: string;
  label: string;
  /** Of an attribute. */
  field?: Field;
}

/** The columns of cards, with the texts that name them. */
const ofCards: Record<string, MessageKey> = {
  name: 'field.name',
  external_id: 'field.externalId',
  number: 'field.number',
  id: 'import.column.id',
  type: 'field.type',
  subtype: 'field.subtype',
  alias: 'field.alias',
  description: 'field.description',
  parent_path: 'import.column.parentPath',
  parent_external_id: 'import.column.parentExternalId',
  parent_number: 'import.column.parentNumber',
  status: 'field.status',
  tags: 'field.tags',
  stakeholders: 'field.people',
};

/** Names of the columns of the other kinds, as exports write them. */
const ofOthers: Record<Exclude<Kind, 'cards'>, string[]> = {
  relations: [
    'type',
    'source_external_id',
    'target_external_id',
    'source_number',
    'target_number',
    'source_id',
    'target_id',
    'description',
    'id',
  ],
  costs: [
    'external_id',
    'card_number',
    'card_external_id',
    'card_type',
    'card_id',
    'relation_id',
    'kind',
    'period_start',
    'period_end',
    'amount',
    'currency',
    'description',
    'id',
  ],
  data_flows: [
    'external_id',
    'source_external_id',
    'target_external_id',
    'source_number',
    'target_number',
    'source_type',
    'target_type',
    'interface_external_id',
    'interface_number',
    'direction',
    'frequency',
    'description',
    'id',
  ],
};

/** The columns that an import of a kind reads; of cards with the fields of a type, or of all. */
export function useTargets(kind: Kind, type: string | undefined): Target[] {
  const t = useTexts();
  const { types, relationTypes, sections, label } = useMetamodel();
  const attributes = (fields: readonly Field[]): Target[] => [
    ...new Map(
      fields
        .filter(({ readonly }) => !readonly)
        .map((field): [string, Target] => {
          const column = `attributes.${field.key}`;
          return [column, { column, label: label(field), field }];
        }),
    ).values(),
  ];
  if (kind === 'cards') {
    const keys = type ? [type] : types.filter((one) => !one.is_hidden).map(({ key }) => key);
    return [
      ...Object.entries(ofCards).map(([column, text]) => ({ column, label: t(text) })),
      ...phases.map((phase) => ({
        column: `lifecycle.${phase}`,
        label: t('filter.phaseDate', { phase: t(`phase.${phase}` as MessageKey) }),
      })),
      ...attributes(keys.flatMap((key) => sections(key).flatMap(({ fields }) => fields))),
    ];
  }
  return [
    ...ofOthers[kind].map((column) => ({ column, label: words(column) })),
    ...(kind === 'relations'
      ? attributes(relationTypes.flatMap((one) => one.attributes_schema as unknown as Field[]))
      : []),
  ];
}

const words = (column: string) => column.charAt(0).toUpperCase() + column.slice(1).replaceAll('_', ' ');

const plain = (text: string) =>
  text
    .normalize('NFD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');

/** The column that a name of a file means: by its name for imports, its key, or its label in any language. */
export function matching(name: string, targets: readonly Target[]): string | undefined {
  const own = plain(name);
  const names = ({ column, label, field }: Target) => [
    column,
    label,
    ...(field ? [field.key, field.label, ...textsOf(field.translations)] : []),
  ];
  return targets.find((target) => names(target).some((one) => plain(one) === own))?.column;
}

/** All texts of translations. */
const textsOf = (translations: object | undefined): string[] =>
  Object.values(translations ?? {}).flatMap((one: unknown) =>
    typeof one === 'string' ? [one] : one && typeof one === 'object' ? textsOf(one) : [],
  );

import { phases } from '../../kit/lifecycle.ts';
import { type MessageKey, useAllTexts, useTexts } from '../../kit/messages.tsx';
import { type Field, useMetamodel } from '../../kit/metamodel.tsx';
import type { Kind } from './import.search.ts';

/** A column that an import reads. */
export interface Target {
  /** As imports name it, such as `attributes.timeModel`. */
  column: string;
  label: string;
  /** What a header may call it, in any language. */
  names: readonly string[];
  /** Of an attribute. */
  field?: Field;
}

/** The columns of the kinds, as imports name them, with the texts that name them for people. */
const columnsOf: Record<Kind, Record<string, MessageKey>> = {
  cards: {
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
  },
  relations: {
    type: 'import.column.relationType',
    source_external_id: 'import.column.sourceExternalId',
    target_external_id: 'import.column.targetExternalId',
    source_number: 'import.column.sourceNumber',
    target_number: 'import.column.targetNumber',
    source_id: 'import.column.sourceId',
    target_id: 'import.column.targetId',
    description: 'field.description',
    id: 'import.column.id',
  },
  costs: {
    external_id: 'field.externalId',
    card_number: 'import.column.cardNumber',
    card_external_id: 'import.column.cardExternalId',
    card_name: 'import.column.cardName',
    card_type: 'import.column.cardType',
    card_id: 'import.column.cardId',
    relation_id: 'import.column.relationId',
    kind: 'import.column.kind',
    period_start: 'import.column.periodStart',
    period_end: 'import.column.periodEnd',
    amount: 'import.column.amount',
    currency: 'import.column.currency',
    description: 'field.description',
    id: 'import.column.id',
  },
  data_flows: {
    external_id: 'field.externalId',
    source_external_id: 'import.column.sourceExternalId',
    target_external_id: 'import.column.targetExternalId',
    source_number: 'import.column.sourceNumber',
    target_number: 'import.column.targetNumber',
    source_type: 'import.column.sourceType',
    target_type: 'import.column.targetType',
    interface_external_id: 'import.column.interfaceExternalId',
    interface_number: 'import.column.interfaceNumber',
    direction: 'import.column.direction',
    frequency: 'import.column.frequency',
    description: 'field.description',
    id: 'import.column.id',
  },
};

/** What else headers call a column, in texts with | between them. */
const alsoOf: Partial<Record<Kind, Partial<Record<string, MessageKey>>>> = {
  cards: {
    name: 'import.names.name',
    type: 'import.names.type',
    parent_path: 'import.names.parentPath',
    tags: 'import.names.tags',
    stakeholders: 'import.names.stakeholders',
  },
  costs: {
    card_name: 'import.names.cardName',
    card_type: 'import.names.cardType',
    card_number: 'import.names.cardNumber',
    kind: 'import.names.kind',
    period_start: 'import.names.periodStart',
    period_end: 'import.names.periodEnd',
    amount: 'import.names.amount',
    currency: 'import.names.currency',
  },
};

/** The columns that an import of a kind reads; of cards with the fields of a type, or of all. */
export function useTargets(kind: Kind, type: string | undefined): Target[] {
  const t = useTexts();
  const all = useAllTexts();
  const { types, relationTypes, sections, label } = useMetamodel();
  const attributes = (fields: readonly Field[]): Target[] => [
    ...new Map(
      fields
        .filter(({ readonly }) => !readonly)
        .map((field): [string, Target] => {
          const column = `attributes.${field.key}`;
          const names = [column, field.key, field.label, ...textsOf(field.translations)];
          return [column, { column, label: label(field), names, field }];
        }),
    ).values(),
  ];
  const own = Object.entries(columnsOf[kind]).map(([column, text]) => {
    const also = alsoOf[kind]?.[column];
    const others = also ? all(also).flatMap((names) => names.split(' | ')) : [];
    return { column, label: t(text), names: [column, ...all(text), ...others] };
  });
  if (kind === 'cards') {
    const keys = type ? [type] : types.filter((one) => !one.is_hidden).map(({ key }) => key);
    return [
      ...own,
      ...phases.map((phase) => {
        const column = `lifecycle.${phase}`;
        const names = all(`phase.${phase}` as MessageKey);
        const dates = names.flatMap((name) => all('filter.phaseDate', { phase: name }));
        return {
          column,
          label: t('filter.phaseDate', { phase: t(`phase.${phase}` as MessageKey) }),
          names: [column, phase, ...names, ...dates],
        };
      }),
      ...attributes(keys.flatMap((key) => sections(key).flatMap(({ fields }) => fields))),
    ];
  }
  return [
    ...own,
    ...(kind === 'relations'
      ? attributes(relationTypes.flatMap((one) => one.attributes_schema as unknown as Field[]))
      : []),
  ];
}

const plain = (text: string) =>
  text
    .normalize('NFD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');

/** What people write for the state of a card; other values of a column `Status` are those of a field with this label. */
const state = /^(active|archived|aktiv|archiviert)?$/i;

/** The columns that a name of a file means: by its name for imports, its key, or its label; the likeliest first. */
export function matching(name: string, targets: readonly Target[], values: readonly string[]): string[] {
  const own = plain(name);
  const found = targets
    .filter(({ names }) => names.some((one) => plain(one) === own))
    .map(({ column }) => column);
  if (found[0] !== 'status' || values.every((value) => state.test(value.trim()))) return found;
  return [...found.slice(1), 'status'];
}

/** The type that a sheet is named after. */
export function useTypeOfSheet(sheets: readonly string[] | undefined): (string | undefined)[] {
  const { types } = useMetamodel();
  const named = types
    .filter(({ is_hidden }) => !is_hidden)
    .map(({ key, label, translations }) => ({
      key,
      names: [key, label, ...textsOf(translations)].map(plain),
    }));
  return (sheets ?? []).map((sheet) => {
    const found = named.filter(({ names }) => names.includes(plain(sheet)));
    return found.length === 1 ? found[0]!.key : undefined;
  });
}

/** All texts of translations. */
const textsOf = (translations: object | undefined): string[] =>
  Object.values(translations ?? {}).flatMap((one: unknown) =>
    typeof one === 'string' ? [one] : one && typeof one === 'object' ? textsOf(one) : [],
  );

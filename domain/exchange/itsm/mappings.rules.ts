import type { FieldError } from '../../../platform/errors.ts';
import { isUuid } from '../../../platform/uuid.ts';
import { computeValue } from '../../inventory/calculations/calculations.inputs.ts';
import {
  checkLifecycle,
  checkLine,
  checkText,
  checkValue,
  MAX_ALIAS,
  MAX_DESCRIPTION,
  MAX_EXTERNAL_ID,
  MAX_NAME,
} from '../../inventory/cards/rules/values.ts';
import {
  type FormulaLine,
  type FormulaNode,
  parseFormula,
  readsOf,
} from '../../kernel/formulas/formula.parse.ts';
import { FormulaError } from '../../kernel/formulas/formula.values.ts';
import type { CardType, Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import { type FieldType, lifecyclePhases } from '../../kernel/metamodel/metamodel.types.ts';
import type { DriftEntry } from './mappings.input.ts';
import type { FieldMapping, Mapping, TransformType, Value } from './mappings.types.ts';

type CheckedMapping = Pick<
  Mapping,
  'id' | 'card_type_key' | 'sync_direction' | 'card_defaults' | 'fields' | 'relations'
>;

/** The card types of the mappings of one connection, by the mapping's id. */
type MappedTypes = ReadonlyMap<string, string>;

/**
 * Errors of a mapping against the current metamodel: card type, fields and their values, references and relations. The paths
 * of errors are those of the API.
 */
export function metamodelErrors(
  metamodel: Metamodel,
  mapping: CheckedMapping,
  mappedTypes: MappedTypes,
): FieldError[] {
  const type = metamodel.cardTypes.get(mapping.card_type_key);
  if (!type || type.is_hidden) return fieldError('card_type_key', 'unknown_type', 'is not a card type');
  const types = new Map([...mappedTypes, [mapping.id, type.key]]);
  return [
    ...prefixed('field_mappings', mapping.fields, (row) => fieldErrors(metamodel, type, mapping, types, row)),
    ...Object.entries(mapping.card_defaults).flatMap(([path, value]) => defaultErrors(type, path, value)),
    ...prefixed('relation_mappings', mapping.relations, (row) => relationErrors(metamodel, type, types, row)),
  ];
}

const fieldError = (field: string, code: string, message: string): FieldError[] => [{ field, code, message }];

/** The errors of the rows of a list, with the paths of their members. */
const prefixed = <R>(list: string, rows: readonly R[], errorsOf: (row: R) => FieldError[]): FieldError[] =>
  rows.flatMap((row, index) =>
    errorsOf(row).map((one) => ({ ...one, field: `${list}.${index}.${one.field}` })),
  );

function fieldErrors(
  metamodel: Metamodel,
  type: CardType,
  { id, sync_direction, relations }: CheckedMapping,
  types: MappedTypes,
  row: FieldMapping,
): FieldError[] {
  const local = findMappableField(metamodel, type, row.card_field);
  if (!local) return fieldError('card_field', 'unknown_field', `is not a field of ${type.key}`);
  const related = parseRelationPath(row.card_field);
  if (related && relations.some(({ relation_type_key: key }) => key === related.relationType))
    return fieldError('card_field', 'bad_mapping', 'is already mapped by relation_mappings');
  if (local.readonly !== null && sync_direction !== 'push')
    return fieldError('card_field', 'readonly', `${local.readonly}, so it can only be pushed`);
  const errors = transformErrors(row, local, sync_direction);
  if (row.transform_type !== 'reference' || errors.length > 0) return errors;
  const target = types.get(row.transform_config.mapping_id ?? id);
  return mappingErrors('transform_config.mapping_id', target, local.refersTo ?? type.key);
}

function mappingErrors(field: string, target: string | undefined, expected: string): FieldError[] {
  if (target === undefined) return fieldError(field, 'bad_mapping', 'is not a mapping of this connection');
  return target === expected
    ? []
    : fieldError(field, 'bad_mapping', `is a mapping of ${target}, not of ${expected}`);
}

function defaultErrors(type: CardType, path: string, value: unknown): FieldError[] {
  const field = `card_defaults.${path}`;
  const local = findCardField(type, path);
  if (!local || local.kind === 'card')
    return fieldError(field, 'unknown_field', `is not a field of ${type.key} that can have a default`);
  if (local.readonly !== null) return fieldError(field, 'readonly', local.readonly);
  if (local.path === 'name' || local.path === 'external_id')
    return fieldError(field, 'unknown_field', 'cannot have a default, since it differs from card to card');
  return valueErrors(local, value, field);
}

function relationErrors(
  metamodel: Metamodel,
  type: CardType,
  types: MappedTypes,
  row: Mapping['relations'][number],
): FieldError[] {
  const relation = metamodel.relationTypes.get(row.relation_type_key);
  if (!relation || !metamodel.visibleRelationTypes.includes(relation.key))
    return fieldError('relation_type_key', 'unknown_type', 'is not a relation type');
  if (relation.source_type_key !== type.key) {
    const message = `has the source type ${relation.source_type_key}, not ${type.key}: add it to a mapping of ${relation.source_type_key}`;
    return fieldError('relation_type_key', 'wrong_type', message);
  }
  const target = row.target_mapping_id === null ? type.key : types.get(row.target_mapping_id);
  return mappingErrors('target_mapping_id', target, relation.target_type_key);
}

/** Whether a mapping reads or writes costs, which need a permission of their own. */
export function usesCosts(
  metamodel: Metamodel,
  mapping: Pick<CheckedMapping, 'card_type_key' | 'fields' | 'card_defaults'>,
): boolean {
  const { card_type_key, fields, card_defaults } = mapping;
  const type = metamodel.cardTypes.get(card_type_key);
  const paths = [...fields.map(({ card_field }) => card_field), ...Object.keys(card_defaults)];
  return type !== undefined && paths.some((path) => findCardField(type, path)?.cost);
}

/** The members of a mapping that determine whether it can run. */
export type BrokenReasonInput = Omit<CheckedMapping, 'fields' | 'relations'> & {
  fields: CheckedMapping['fields'] | null;
  relations: CheckedMapping['relations'] | null;
  drift: DriftEntry[] | null;
  /** Card types of the connection's mappings, by id. */
  mapped_types: Record<string, string>;
};

/** Columns that are neither read nor written until the mapping is validated again. */
export function stoppedColumns(drift: readonly DriftEntry[] | null): Set<string> {
  return new Set((drift ?? []).filter(({ stops }) => stops).map(({ column }) => column));
}

/**
 * Why a mapping cannot run: no fields are mapped, or the metamodel or the remote's table has changed. Null when it can run.
 */
export function findBrokenReason(metamodel: Metamodel, mapping: BrokenReasonInput): string | null {
  const fields = mapping.fields ?? [];
  if (!fields.some(({ card_field }) => card_field === 'name')) {
    if (fields.length === 0) return 'No fields are mapped yet.';
    if (mapping.sync_direction !== 'push') return 'No column is mapped to the name.';
  }
  const given = { ...mapping, fields, relations: mapping.relations ?? [] };
  const [error] = metamodelErrors(metamodel, given, new Map(Object.entries(mapping.mapped_types)));
  if (error) return `${error.field} ${error.message}.`;
  return findDriftReason(mapping.drift, fields);
}

function findDriftReason(
  drift: readonly DriftEntry[] | null,
  fields: CheckedMapping['fields'],
): string | null {
  const table = drift?.find(({ change }) => change === 'table');
  if (table) return table.message;
  const stopped = stoppedColumns(drift);
  const needed = fields.find(
    ({ remote_field, card_field, is_identity }) =>
      stopped.has(remote_field) && (is_identity || card_field === 'name'),
  );
  if (!needed) return null;
  return `The column '${needed.remote_field}' identifies records, and has changed at the remote.`;
}

const PATH = /^(reverse_)?relations\.(.+)$/;

/** The relation type that a path denotes, and whether the card is its target. */
export function parseRelationPath(path: string) {
  const [, reversed, relationType] = PATH.exec(path) ?? [];
  return relationType === undefined ? undefined : { relationType, reversed: reversed !== undefined };
}

/** A field of the type's cards that can be mapped, or the card at the other end of their relations. */
export function findMappableField(metamodel: Metamodel, type: CardType, path: string): CardField | undefined {
  const related = parseRelationPath(path);
  if (!related) return findCardField(type, path);
  const relation = metamodel.relationTypes.get(related.relationType);
  if (!relation || !metamodel.visibleRelationTypes.includes(relation.key)) return undefined;
  const [here, there] = related.reversed
    ? [relation.target_type_key, relation.source_type_key]
    : [relation.source_type_key, relation.target_type_key];
  if (here !== type.key) return undefined;
  return {
    path,
    kind: 'card',
    refersTo: there,
    cost: false,
    readonly: null,
    validate: (value) => (isUuid(String(value)) ? undefined : 'must be the id of a card'),
  };
}

/** The value type of a card's field, as far as conversion needs it. */
export type CardFieldKind = 'text' | 'number' | 'boolean' | 'date' | 'option' | 'options' | 'card';

export interface CardField {
  path: string;
  kind: CardFieldKind;
  /** Of the kind `card`: the type of the referenced card. */
  refersTo?: string;
  cost: boolean;
  /** Why synchronisation cannot set it; null when it can. */
  readonly: string | null;
  /** Validates a value that is not null. Returns the error message. */
  validate(value: unknown): string | undefined;
}

const kinds: Record<FieldType, CardFieldKind> = {
  text: 'text',
  multiline_text: 'text',
  url: 'text',
  number: 'number',
  cost: 'number',
  boolean: 'boolean',
  date: 'date',
  single_select: 'option',
  multiple_select: 'options',
};

type Check = (field: string, value: string) => FieldError | undefined;

const line =
  (max: number): Check =>
  (field, value) =>
    checkLine(field, value, max);

const texts: Record<string, Check> = {
  name: line(MAX_NAME),
  alias: line(MAX_ALIAS),
  external_id: line(MAX_EXTERNAL_ID),
  description: (field, value) => checkText(field, value, MAX_DESCRIPTION),
};

/** The field of a type's cards at a path; undefined if there is none. */
export function findCardField(type: CardType, path: string): CardField | undefined {
  const plain = { path, cost: false, readonly: null };
  const check = Object.hasOwn(texts, path) ? texts[path] : undefined;
  if (check) {
    return {
      ...plain,
      kind: 'text',
      validate: (value) => (typeof value === 'string' ? check(path, value)?.message : 'must be a string'),
    };
  }
  if (path === 'subtype') {
    return {
      ...plain,
      kind: 'option',
      validate: (value) =>
        type.subtypeKeys.has(value as string) ? undefined : 'is not a subtype of this type',
    };
  }
  if (path === 'parent_id' && type.has_hierarchy) {
    return {
      ...plain,
      kind: 'card',
      refersTo: type.key,
      validate: (value) => (isUuid(String(value)) ? undefined : 'must be the id of a card'),
    };
  }
  const [, group, key] = /^(lifecycle|attributes)\.(.+)$/.exec(path) ?? [];
  if (group === 'lifecycle' && (lifecyclePhases as readonly string[]).includes(key!)) {
    return { ...plain, kind: 'date', validate: (value) => checkLifecycle({ [key!]: value })[0]?.message };
  }
  const field = group === 'attributes' ? type.fields.get(key!) : undefined;
  if (!field) return undefined;
  return {
    path,
    kind: kinds[field.type],
    cost: field.type === 'cost',
    readonly: field.readonly
      ? field.calculated
        ? 'is computed by a formula'
        : 'can only be set by the service'
      : null,
    validate: (value) => checkValue(field, path, value)?.message,
  };
}

const transformsByKind: Record<CardField['kind'], readonly TransformType[]> = {
  text: ['direct', 'value_map', 'expression'],
  number: ['direct', 'value_map', 'expression'],
  boolean: ['boolean', 'value_map', 'expression'],
  date: ['date_format', 'direct', 'value_map', 'expression'],
  option: ['value_map', 'direct', 'expression'],
  options: ['value_map', 'expression'],
  card: ['reference'],
};

function transformErrors(
  row: FieldMapping,
  local: CardField,
  direction: Mapping['sync_direction'],
): FieldError[] {
  const allowed = transformsByKind[local.kind];
  if (!allowed.includes(row.transform_type)) {
    const message = `does not fit the card's field; ${allowed.join(' or ')} does`;
    return fieldError('transform_type', 'transform_misfit', message);
  }
  switch (row.transform_type) {
    case 'direct': {
      const as = local.kind === 'number' ? 'number' : undefined;
      if (row.transform_config.as === as) return [];
      return fieldError('transform_config.as', 'transform_misfit', "does not fit the card's field");
    }
    case 'value_map':
      return row.transform_config.pairs.flatMap(({ local: value }, index) =>
        valueErrors(local, value, `transform_config.pairs.${index}.local`),
      );
    case 'expression': {
      const { to_local, to_remote } = row.transform_config;
      const message = 'is required, since the mapping writes to the remote';
      return [
        ...formulaErrors(to_local, 'transform_config.to_local'),
        ...(to_remote === null ? [] : formulaErrors(to_remote, 'transform_config.to_remote')),
        ...(direction !== 'pull' && to_remote === null
          ? fieldError('transform_config.to_remote', 'required', message)
          : []),
      ];
    }
    default:
      return [];
  }
}

function valueErrors(local: CardField, value: unknown, field: string): FieldError[] {
  const message = value === null ? undefined : local.validate(value);
  return message === undefined ? [] : fieldError(field, 'bad_value', message);
}

const valueVariable: FormulaLine = {
  name: 'value',
  expression: { type: 'Literal', value: null } as FormulaNode,
};

/** Checks that a formula of a transform only uses `value`. */
function formulaErrors(formula: string, field: string): FieldError[] {
  try {
    const reads = readsOf([valueVariable, ...parseFormula(formula)]);
    const usesOthers =
      reads.data.size + reads.relations.size + reads.counts.size > 0 || reads.children || reads.childrenCount;
    if (usesOthers) throw new FormulaError("The formula can only use 'value'.");
    return [];
  } catch (error) {
    if (!(error instanceof FormulaError)) throw error;
    return fieldError(field, 'bad_formula', error.message);
  }
}

/** Maximum number of cached formulas; a mapping has fewer. */
const MAX_CACHED_FORMULAS = 200;

/**
 * Evaluates the formulas of transforms over `value`, in the language of calculated fields and within its limits: formulas
 * have no loops, read only the value, and return one value or a short list.
 */
export function createEvaluate(): (formula: string, value: Value) => Value {
  const cache = new Map<string, FormulaLine[]>();
  return (formula, value) => {
    let lines = cache.get(formula);
    if (!lines) {
      lines = parseFormula(formula);
      if (cache.size >= MAX_CACHED_FORMULAS) cache.clear();
      cache.set(formula, lines);
    }
    const computed = computeValue(lines, { value });
    if (computed.error !== undefined) throw new FormulaError(computed.error);
    return computed.value;
  };
}

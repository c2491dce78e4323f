import type { FieldError } from '../../../platform/errors.ts';
import type { CardType, Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import { localField } from './mappings.paths.ts';
import { mappedField, relatedPath } from './mappings.related.ts';
import { transformFaults } from './mappings.transforms.ts';
import type { FieldRow, MappingRow } from './mappings.types.ts';

/** A mapping as far as the metamodel has a say in it. */
export type CheckedMapping = Pick<
  MappingRow,
  'id' | 'card_type_key' | 'sync_direction' | 'card_defaults' | 'fields' | 'relations'
>;

/** The card types of the mappings of one connection, by the mapping's id. */
export type MappedTypes = ReadonlyMap<string, string>;

/**
 * What does not fit the metamodel in force: the card type, its fields and their values, references and relations. The
 * fields are named as in the API.
 */
export function metamodelFaults(
  metamodel: Metamodel,
  mapping: CheckedMapping,
  mappedTypes: MappedTypes,
): FieldError[] {
  const type = metamodel.cardTypes.get(mapping.card_type_key);
  if (!type || type.is_hidden) {
    return [{ field: 'card_type_key', code: 'unknown_type', message: 'is no card type' }];
  }
  const types = new Map([...mappedTypes, [mapping.id, type.key]]);
  return [
    ...mapping.fields.flatMap((row, index) =>
      fieldFaults(metamodel, type, mapping, types, row).map((fault) => ({
        ...fault,
        field: `field_mappings.${index}.${fault.field}`,
      })),
    ),
    ...Object.entries(mapping.card_defaults).flatMap(([path, value]) => defaultFault(type, path, value)),
    ...mapping.relations.flatMap((row, index) =>
      relationFaults(metamodel, type, types, row).map((fault) => ({
        ...fault,
        field: `relation_mappings.${index}.${fault.field}`,
      })),
    ),
  ];
}

function fieldFaults(
  metamodel: Metamodel,
  type: CardType,
  { id, sync_direction, relations }: CheckedMapping,
  types: MappedTypes,
  row: FieldRow,
): FieldError[] {
  const local = mappedField(metamodel, type, row.card_field);
  if (!local) {
    return [{ field: 'card_field', code: 'unknown_field', message: `is no field of ${type.key}` }];
  }
  const related = relatedPath(row.card_field);
  if (related && relations.some(({ relation_type_key: key }) => key === related.relationType)) {
    const message = 'has its relations mapped by relation_mappings already';
    return [{ field: 'card_field', code: 'bad_mapping', message }];
  }
  if (local.readonly !== null && sync_direction !== 'push') {
    const message = `${local.readonly}: it can only be pushed`;
    return [{ field: 'card_field', code: 'readonly', message }];
  }
  const faults = transformFaults(row, local, sync_direction).map(({ at, code, message }) => ({
    field: at === '' ? 'transform_type' : `transform_config.${at}`,
    code,
    message,
  }));
  if (row.transform_type === 'reference' && faults.length === 0) {
    const target = types.get(row.transform_config.mapping_id ?? id);
    const message = mappingFault(target, local.refersTo ?? type.key);
    if (message) faults.push({ field: 'transform_config.mapping_id', code: 'bad_mapping', message });
  }
  return faults;
}

function mappingFault(target: string | undefined, wanted: string): string | undefined {
  if (target === undefined) return 'is no mapping of this connection';
  return target === wanted ? undefined : `is a mapping of ${target}, not of ${wanted}`;
}

function defaultFault(type: CardType, path: string, value: unknown): FieldError[] {
  const field = `card_defaults.${path}`;
  const local = localField(type, path);
  if (!local || local.kind === 'card') {
    return [{ field, code: 'unknown_field', message: `is no field of ${type.key} with a default` }];
  }
  if (local.readonly !== null) return [{ field, code: 'readonly', message: local.readonly }];
  if (local.path === 'name' || local.path === 'external_id') {
    return [{ field, code: 'unknown_field', message: 'differs from card to card' }];
  }
  const message = value === null ? undefined : local.fault(value);
  return message === undefined ? [] : [{ field, code: 'bad_value', message }];
}

function relationFaults(
  metamodel: Metamodel,
  type: CardType,
  types: MappedTypes,
  row: MappingRow['relations'][number],
): FieldError[] {
  const relation = metamodel.relationTypes.get(row.relation_type_key);
  if (!relation || !metamodel.visibleRelationTypes.includes(relation.key)) {
    return [{ field: 'relation_type_key', code: 'unknown_type', message: 'is no relation type' }];
  }
  if (relation.source_type_key !== type.key) {
    const message = `leads from ${relation.source_type_key}, not from ${type.key}: map it there`;
    return [{ field: 'relation_type_key', code: 'wrong_type', message }];
  }
  const target = row.target_mapping_id === null ? type.key : types.get(row.target_mapping_id);
  const message = mappingFault(target, relation.target_type_key);
  return message ? [{ field: 'target_mapping_id', code: 'bad_mapping', message }] : [];
}

/** Whether a mapping tells costs, which not everybody may see. */
export function mapsCosts(
  metamodel: Metamodel,
  {
    card_type_key,
    fields,
    card_defaults,
  }: Pick<CheckedMapping, 'card_type_key' | 'fields' | 'card_defaults'>,
): boolean {
  const type = metamodel.cardTypes.get(card_type_key);
  const paths = [...fields.map(({ card_field }) => card_field), ...Object.keys(card_defaults)];
  return type !== undefined && paths.some((path) => localField(type, path)?.cost);
}

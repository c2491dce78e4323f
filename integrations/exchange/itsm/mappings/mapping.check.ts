import {
  type ConnectionKind,
  type ConnectionKindRules,
  connectionKinds,
} from '../../../../domain/exchange/itsm/connections.input.ts';
import { metamodelFaults } from '../../../../domain/exchange/itsm/mappings.rules.ts';
import type { FieldMapping, SyncDirection } from '../../../../domain/exchange/itsm/mappings.types.ts';
import { prepareFilter } from '../../../../domain/inventory/filters/filters.prepare.ts';
import type { Ctx } from '../../../../domain/kernel/context.ts';
import type { Metamodel } from '../../../../domain/kernel/metamodel/metamodel.compile.ts';
import { EstateError, type FieldError, invalidField, invalidFields } from '../../../../platform/errors.ts';
import { canonical, isEqual } from '../engine/fields.ts';
import type { MappingSettings } from './mapping.settings.ts';

/**
 * Refuses a mapping that is inconsistent or does not fit the metamodel in force.
 * @param mappedTypes the card types of the connection's mappings, by id.
 * @throws EstateError `validation_failed` with each field, `forbidden` for a filter over fields that the caller may not see.
 */
export async function checkSettings(
  ctx: Ctx,
  metamodel: Metamodel,
  settings: MappingSettings & { id: string },
  mappedTypes: Record<string, string>,
): Promise<void> {
  const errors = [
    ...metamodelFaults(metamodel, settings, new Map(Object.entries(mappedTypes))),
    ...fieldErrors(settings),
    ...duplicateRelationErrors(settings),
    ...mappedDefaultErrors(settings),
  ];
  if (settings.follows_changes && settings.sync_direction === 'pull') {
    errors.push({
      field: 'follows_changes',
      code: 'not_offered',
      message: 'is only for mappings that write to the remote',
    });
  }
  errors.push(...(await filterErrors(ctx, settings.card_filter)));
  const seen = new Set<string>();
  const once = errors.filter(({ field }) => !seen.has(field) && seen.add(field));
  if (once.length > 0) throw invalidFields(once);
}

/** Refuses a direction that writes to a read-only remote. @throws EstateError `validation_failed`. */
export function requireDirection(kind: ConnectionKind, { sync_direction: direction }: MappingSettings): void {
  const rules: ConnectionKindRules = connectionKinds[kind];
  if (!rules.readOnly || direction === 'pull') return;
  throw invalidField('sync_direction', 'not_offered', `must be pull: a connection to ${kind} is read only`);
}

const badMapping = (field: string, message: string): FieldError => ({ field, code: 'bad_mapping', message });

/** Errors of the mapped fields, independent of the metamodel and the remote's schema. */
export function fieldErrors({ fields, sync_direction: direction }: MappingSettings): FieldError[] {
  const errors = fields.flatMap((field, at) => {
    const where = `field_mappings.${at}`;
    const earlier = fields.slice(0, at);
    const isDuplicate = (member: 'card_field' | 'remote_field') =>
      earlier.some((other) => other[member] === field[member]);
    return [
      ...(isDuplicate('card_field') ? [badMapping(`${where}.card_field`, 'The path is mapped twice.')] : []),
      ...(isDuplicate('remote_field')
        ? [badMapping(`${where}.remote_field`, 'The column is mapped twice.')]
        : []),
      ...transformErrors(field, direction).map((text) => badMapping(`${where}.transform_config`, text)),
    ];
  });
  const hasName = fields.some(({ card_field }) => card_field === 'name');
  if (direction !== 'push' && fields.length > 0 && !hasName)
    errors.push(badMapping('field_mappings', 'Cards cannot be created without a field for their name.'));
  return errors;
}

function transformErrors(field: FieldMapping, direction: SyncDirection): string[] {
  switch (field.transform_type) {
    case 'value_map': {
      const remotes = field.transform_config.pairs.map(({ remote }) => canonical(remote));
      const hasDuplicate = remotes.some((value, at) =>
        remotes.slice(0, at).some((other) => isEqual(other, value)),
      );
      return hasDuplicate ? ['The value map contains a remote value twice.'] : [];
    }
    case 'boolean': {
      const { yes, no } = field.transform_config;
      const overlap = yes.some((value) => no.some((other) => isEqual(canonical(value), canonical(other))));
      return [
        ...(overlap ? ['A value is mapped to both yes and no.'] : []),
        ...(yes.length === 0 || no.length === 0 ? ['Yes and no each need at least one value.'] : []),
      ];
    }
    case 'expression':
      return direction !== 'pull' && field.transform_config.to_remote === null
        ? ['A mapping that writes to the remote needs the formula to_remote.']
        : [];
    default:
      return [];
  }
}

function duplicateRelationErrors({ relations }: MappingSettings): FieldError[] {
  return relations.flatMap((row, at) => {
    const earlier = relations.slice(0, at);
    const same = earlier.some(
      (other) =>
        other.relation_type_key === row.relation_type_key &&
        other.target_mapping_id === row.target_mapping_id,
    );
    if (!same) return [];
    return [
      badMapping(`relation_mappings.${at}.relation_type_key`, 'is mapped twice to the same target mapping'),
    ];
  });
}

function mappedDefaultErrors({ fields, record_defaults }: MappingSettings): FieldError[] {
  const mapped = new Set(fields.map(({ remote_field }) => remote_field));
  return Object.keys(record_defaults)
    .filter((column) => mapped.has(column))
    .map((column) => badMapping(`record_defaults.${column}`, 'is already mapped to a field of the card'));
}

async function filterErrors(ctx: Ctx, filter: string | null): Promise<FieldError[]> {
  if (filter === null) return [];
  try {
    await prepareFilter(ctx, filter);
    return [];
  } catch (error) {
    if (!(error instanceof EstateError) || !error.errors) throw error;
    return error.errors.map((one) => ({ ...one, field: 'card_filter' }));
  }
}

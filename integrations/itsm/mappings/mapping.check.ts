import {
  type ConnectionKind,
  type ConnectionKindRules,
  connectionKinds,
} from '../../../domain/exchange/itsm/connections.input.ts';
import { metamodelFaults } from '../../../domain/exchange/itsm/mappings.rules.ts';
import { prepareFilter } from '../../../domain/inventory/filters/filters.prepare.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import type { Metamodel } from '../../../domain/kernel/metamodel/metamodel.compile.ts';
import { EstateError, type FieldError, invalidField, invalidFields } from '../../../platform/errors.ts';
import { checkMapping } from '../engine/mapping.check.ts';
import { engineMapping } from './mapping.load.ts';
import type { MappingSettings } from './mapping.settings.ts';

/**
 * Refuses a mapping that is inconsistent or does not fit the metamodel in force.
 * @param mappedTypes the card types of the connection's mappings, by id.
 * @throws EstateError `validation_failed` with each field, `forbidden` for a filter over what the caller does not see.
 */
export async function checkSettings(
  ctx: Ctx,
  metamodel: Metamodel,
  settings: MappingSettings & { id: string },
  mappedTypes: Record<string, string>,
): Promise<void> {
  const errors = [
    ...metamodelFaults(metamodel, settings, new Map(Object.entries(mappedTypes))),
    ...engineErrors(settings),
    ...relationsTwice(settings),
    ...defaultsMapped(settings),
  ];
  if (settings.follows_changes && settings.sync_direction === 'pull') {
    errors.push({
      field: 'follows_changes',
      code: 'not_offered',
      message: 'is for mappings that write at the remote',
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

const names: Record<string, string> = {
  fields: 'field_mappings',
  path: 'card_field',
  remote: 'remote_field',
  transform: 'transform_config',
};

/** Errors that the engine finds, with the API's names of fields. */
function engineErrors(settings: MappingSettings & { id: string }): FieldError[] {
  const { mapping } = engineMapping({
    ...settings,
    connection_id: '',
    schedule_key: null,
    dictionary: null,
    drift: null,
    created_by: null,
  });
  return checkMapping(mapping)
    .filter(({ field }) => !(field === 'fields' && settings.fields.length === 0))
    .map(({ field, message }) => ({
      field: field
        .split('.')
        .map((part) => names[part] ?? part)
        .join('.'),
      code: 'bad_mapping',
      message,
    }));
}

function relationsTwice({ relations }: MappingSettings): FieldError[] {
  return relations.flatMap((row, at) => {
    const earlier = relations.slice(0, at);
    const same = earlier.some(
      (other) =>
        other.relation_type_key === row.relation_type_key &&
        other.target_mapping_id === row.target_mapping_id,
    );
    if (!same) return [];
    const message = 'is mapped twice to the same cards';
    return [{ field: `relation_mappings.${at}.relation_type_key`, code: 'bad_mapping', message }];
  });
}

function defaultsMapped({ fields, record_defaults }: MappingSettings): FieldError[] {
  const mapped = new Set(fields.map(({ remote_field }) => remote_field));
  return Object.keys(record_defaults)
    .filter((column) => mapped.has(column))
    .map((column) => ({
      field: `record_defaults.${column}`,
      code: 'bad_mapping',
      message: 'is mapped to a field of the card already',
    }));
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

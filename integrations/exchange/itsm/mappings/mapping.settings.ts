import {
  type ConnectionKind,
  type ConnectionKindRules,
  connectionKinds,
} from '../../../../domain/exchange/itsm/connections.input.ts';
import type {
  FieldMappingInput,
  MappingCreate,
  MappingPatch,
  RelationMappingInput,
  TransformConfig,
} from '../../../../domain/exchange/itsm/mappings.input.ts';
import { findCardField, metamodelErrors } from '../../../../domain/exchange/itsm/mappings.rules.ts';
import type {
  FieldMapping,
  Mapping,
  RelationMapping,
  TransformConfigs,
  TransformType,
} from '../../../../domain/exchange/itsm/mappings.types.ts';
import { prepareFilter } from '../../../../domain/inventory/filters/filters.prepare.ts';
import type { Ctx } from '../../../../domain/kernel/context.ts';
import type { Metamodel } from '../../../../domain/kernel/metamodel/metamodel.compile.ts';
import { EstateError, type FieldError, invalidField, invalidFields } from '../../../../platform/errors.ts';
import { canonical, isEqual } from '../engine/fields.ts';

/** The members of a mapping that users set, except the schedule. */
export type MappingSettings = Omit<
  Mapping,
  'id' | 'connection_id' | 'schedule_key' | 'dictionary' | 'drift' | 'created_by'
>;

const defaults: MappingSettings = {
  card_type_key: '',
  remote_table: '',
  sync_direction: 'pull',
  sync_mode: 'conservative',
  filter_query: null,
  card_filter: null,
  card_defaults: {},
  record_defaults: {},
  max_deletions: 500,
  max_deletion_ratio: 0.5,
  quarantine_minutes: 1440,
  complete_reads: 3,
  auto_apply: false,
  auto_apply_max_changes: null,
  auto_apply_max_ratio: null,
  complete_every_hours: 24,
  follows_changes: false,
  is_active: true,
  fields: [],
  relations: [],
};

/**
 * The settings after an input.
 * @throws EstateError `validation_failed` for unknown or missing members of a transform.
 */
export function applyInput(
  metamodel: Metamodel,
  input: Omit<MappingCreate, 'connection_id'> | MappingPatch,
  before: MappingSettings = defaults,
): MappingSettings {
  const { auto_apply, skip_staging, field_mappings, relation_mappings, schedule: _, ...plain } = input;
  const sent = Object.fromEntries(Object.entries(plain).filter(([, value]) => value !== undefined));
  const settings: MappingSettings = { ...before, ...sent };
  if (auto_apply !== undefined && skip_staging !== undefined && auto_apply !== skip_staging) {
    throw invalidField('skip_staging', 'contradiction', 'is an alias of auto_apply, but has another value');
  }
  settings.auto_apply = auto_apply ?? skip_staging ?? before.auto_apply;
  settings.filter_query = settings.filter_query?.trim() || null;
  settings.card_filter = settings.card_filter?.trim() || null;
  if (relation_mappings) settings.relations = relation_mappings.map(relationRow);
  if (field_mappings) {
    const errors: FieldError[] = [];
    settings.fields = field_mappings.map((row, index) => {
      const noteError = (member: string, code: string, message: string) =>
        errors.push({ field: `field_mappings.${index}.transform_config.${member}`, code, message });
      return fieldRow(metamodel, settings.card_type_key, row, noteError);
    });
    if (errors.length > 0) throw invalidFields(errors);
  }
  return settings;
}

const relationRow = (row: RelationMappingInput): RelationMapping => ({
  relation_type_key: row.relation_type_key,
  remote_type: row.remote_type.trim(),
  target_mapping_id: row.target_mapping_id?.toLowerCase() ?? null,
  reversed: row.reversed ?? false,
});

type NoteError = (member: string, code: string, message: string) => void;

function fieldRow(
  metamodel: Metamodel,
  typeKey: string,
  row: FieldMappingInput,
  noteError: NoteError,
): FieldMapping {
  const path = row.card_field.trim();
  const type = metamodel.cardTypes.get(typeKey);
  const kind = type && findCardField(type, path)?.kind;
  const transform = row.transform_type ?? 'direct';
  const config = row.transform_config ?? {};
  for (const member of Object.keys(config)) {
    if (!members[transform].includes(member as keyof TransformConfig)) {
      noteError(member, 'unknown_field', `is not used by ${transform}`);
    }
  }
  return {
    card_field: path,
    remote_field: row.remote_field.trim(),
    direction: row.direction ?? 'remote_leads',
    transform_type: transform,
    transform_config: transformConfig(transform, config, kind, noteError),
    is_identity: row.is_identity ?? false,
  } as FieldMapping;
}

const members: Record<TransformType, (keyof TransformConfig)[]> = {
  direct: ['as'],
  value_map: ['pairs'],
  date_format: ['remote'],
  boolean: ['yes', 'no'],
  reference: ['mapping_id'],
  expression: ['to_local', 'to_remote'],
};

function transformConfig(
  transform: TransformType,
  config: TransformConfig,
  kind: string | undefined,
  noteError: NoteError,
): TransformConfigs[TransformType] {
  switch (transform) {
    case 'direct':
      return config.as || kind === 'number' ? { as: 'number' } : {};
    case 'value_map':
      if (!config.pairs) noteError('pairs', 'required', 'is needed for value_map');
      return { pairs: config.pairs ?? [] };
    case 'date_format':
      return { remote: config.remote ?? 'date' };
    case 'boolean':
      return { yes: config.yes ?? ['true', '1'], no: config.no ?? ['false', '0'] };
    case 'reference':
      return { mapping_id: config.mapping_id?.toLowerCase() ?? null };
    case 'expression':
      if (!config.to_local) noteError('to_local', 'required', 'is needed for expression');
      return { to_local: config.to_local ?? '', to_remote: config.to_remote ?? null };
  }
}

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
    ...metamodelErrors(metamodel, settings, new Map(Object.entries(mappedTypes))),
    ...fieldErrors(settings),
    ...duplicateRelationErrors(settings),
    ...mappedDefaultErrors(settings),
  ];
  if (settings.follows_changes && settings.sync_direction === 'pull') {
    const message = 'is only for mappings that write to the remote';
    errors.push({ field: 'follows_changes', code: 'not_offered', message });
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
      ...transformErrors(field).map((text) => badMapping(`${where}.transform_config`, text)),
    ];
  });
  const hasName = fields.some(({ card_field }) => card_field === 'name');
  if (direction !== 'push' && fields.length > 0 && !hasName)
    errors.push(badMapping('field_mappings', 'Cards cannot be created without a field for their name.'));
  return errors;
}

function transformErrors(field: FieldMapping): string[] {
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
    default:
      return [];
  }
}

function duplicateRelationErrors({ relations }: MappingSettings): FieldError[] {
  return relations.flatMap((row, at) => {
    const same = relations
      .slice(0, at)
      .some(
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

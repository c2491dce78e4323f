import type {
  FieldMappingInput,
  MappingCreate,
  MappingPatch,
  RelationMappingInput,
  TransformConfig,
} from '../../../../domain/exchange/itsm/mappings.input.ts';
import { findCardField } from '../../../../domain/exchange/itsm/mappings.rules.ts';
import type {
  FieldMapping,
  Mapping,
  RelationMapping,
  TransformConfigs,
  TransformType,
} from '../../../../domain/exchange/itsm/mappings.types.ts';
import type { Metamodel } from '../../../../domain/kernel/metamodel/metamodel.compile.ts';
import { type FieldError, invalidField, invalidFields } from '../../../../platform/errors.ts';

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
        errors.push({
          field: `field_mappings.${index}.transform_config.${member}`,
          code,
          message,
        });
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

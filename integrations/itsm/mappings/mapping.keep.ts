import type {
  FieldMappingInput,
  MappingCreate,
  MappingPatch,
  RelationMappingInput,
  TransformConfig,
} from '../../../domain/exchange/itsm/mappings.input.ts';
import { localField } from '../../../domain/exchange/itsm/mappings.paths.ts';
import type {
  FieldRow,
  MappingRow,
  RelationRow,
  TransformConfigs,
  TransformType,
} from '../../../domain/exchange/itsm/mappings.types.ts';
import type { Metamodel } from '../../../domain/kernel/metamodel/metamodel.compile.ts';
import { type FieldError, invalidField, invalidFields } from '../../../platform/errors.ts';

/** What a user sets of a mapping, but for its schedule. */
export type KeptMapping = Omit<
  MappingRow,
  'id' | 'connection_id' | 'schedule_key' | 'dictionary' | 'drift' | 'created_by'
>;

const fresh: KeptMapping = {
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
 * A mapping as it is with the input.
 * @throws EstateError `validation_failed` for members of a transform that it does not have, or lacks.
 */
export function keepMapping(
  metamodel: Metamodel,
  input: Omit<MappingCreate, 'connection_id'> | MappingPatch,
  before: KeptMapping = fresh,
): KeptMapping {
  const { auto_apply, skip_staging, field_mappings, relation_mappings, schedule: _, ...plain } = input;
  const sent = Object.fromEntries(Object.entries(plain).filter(([, value]) => value !== undefined));
  const kept: KeptMapping = { ...before, ...sent };
  if (auto_apply !== undefined && skip_staging !== undefined && auto_apply !== skip_staging) {
    throw invalidField('skip_staging', 'contradiction', 'is another name of auto_apply, and says otherwise');
  }
  kept.auto_apply = auto_apply ?? skip_staging ?? before.auto_apply;
  kept.filter_query = kept.filter_query?.trim() || null;
  kept.card_filter = kept.card_filter?.trim() || null;
  if (relation_mappings) kept.relations = relation_mappings.map(keepRelation);
  if (field_mappings) {
    const faults: FieldError[] = [];
    kept.fields = field_mappings.map((row, index) => {
      const fault = (member: string, code: string, message: string) =>
        faults.push({
          field: `field_mappings.${index}.transform_config.${member}`,
          code,
          message,
        });
      return keepField(metamodel, kept.card_type_key, row, fault);
    });
    if (faults.length > 0) throw invalidFields(faults);
  }
  return kept;
}

const keepRelation = (row: RelationMappingInput): RelationRow => ({
  relation_type_key: row.relation_type_key,
  remote_type: row.remote_type.trim(),
  target_mapping_id: row.target_mapping_id?.toLowerCase() ?? null,
  reversed: row.reversed ?? false,
});

type NoteFault = (member: string, code: string, message: string) => void;

function keepField(
  metamodel: Metamodel,
  typeKey: string,
  row: FieldMappingInput,
  fault: NoteFault,
): FieldRow {
  const path = row.card_field.trim();
  const type = metamodel.cardTypes.get(typeKey);
  const kind = type && localField(type, path)?.kind;
  const transform = row.transform_type ?? 'direct';
  const config = row.transform_config ?? {};
  for (const member of Object.keys(config)) {
    if (!members[transform].includes(member as keyof TransformConfig)) {
      fault(member, 'unknown_field', `is not used by ${transform}`);
    }
  }
  return {
    card_field: path,
    remote_field: row.remote_field.trim(),
    direction: row.direction ?? 'remote_leads',
    transform_type: transform,
    transform_config: keepConfig(transform, config, kind, fault),
    is_identity: row.is_identity ?? false,
  } as FieldRow;
}

const members: Record<TransformType, (keyof TransformConfig)[]> = {
  direct: ['as'],
  value_map: ['pairs'],
  date_format: ['remote'],
  boolean: ['yes', 'no'],
  reference: ['mapping_id'],
  expression: ['to_local', 'to_remote'],
};

function keepConfig(
  transform: TransformType,
  config: TransformConfig,
  kind: string | undefined,
  fault: NoteFault,
): TransformConfigs[TransformType] {
  switch (transform) {
    case 'direct':
      return config.as || kind === 'number' ? { as: 'number' } : {};
    case 'value_map':
      if (!config.pairs) fault('pairs', 'required', 'is needed for value_map');
      return { pairs: config.pairs ?? [] };
    case 'date_format':
      return { remote: config.remote ?? 'date' };
    case 'boolean':
      return { yes: config.yes ?? ['true', '1'], no: config.no ?? ['false', '0'] };
    case 'reference':
      return { mapping_id: config.mapping_id?.toLowerCase() ?? null };
    case 'expression':
      if (!config.to_local) fault('to_local', 'required', 'is needed for expression');
      return { to_local: config.to_local ?? '', to_remote: config.to_remote ?? null };
  }
}

import type { StaticOf } from '../../kernel/shapes.ts';
import type { DriftEntry, mappingColumns, RelationMappingInput } from './mappings.input.ts';

/** A value of a field on either side, as JSON. */
export type Value = null | string | number | boolean | Value[] | { [key: string]: Value };

/** The configuration of a transform, by its type. */
export interface TransformConfigs {
  direct: { as?: 'number' };
  value_map: { pairs: { remote: Value; local: Value }[] };
  date_format: { remote: 'date' | 'datetime' };
  boolean: { yes: Value[]; no: Value[] };
  /** The mapping of the referenced cards; null: the field's own mapping. */
  reference: { mapping_id: string | null };
  expression: { to_local: string; to_remote: string | null };
}

export type TransformType = keyof TransformConfigs;

/**
 * Which side wins when a field was changed on both sides to different values. A field changed on one side only is copied to
 * the other side under every rule, as far as the mapping's direction allows it.
 */
export type FieldRule = 'remote_leads' | 'local_leads' | 'newest_wins' | 'manual';

/** The sides that synchronisation writes to: the inventory, the remote, or both. */
export type SyncDirection = 'pull' | 'push' | 'bidirectional';

/** A mapped field. */
export type FieldMapping = {
  [T in TransformType]: {
    card_field: string;
    remote_field: string;
    direction: FieldRule;
    transform_type: T;
    transform_config: TransformConfigs[T];
    is_identity: boolean;
  };
}[TransformType];

/** A mapped relation type. */
export type RelationMapping = Required<RelationMappingInput>;

/** A column of the mapped table as of the last validation. */
export interface DictionaryColumn {
  name: string;
  kind: string;
  reference: string | null;
  max_length: number | null;
  mandatory: boolean;
  choices: string[];
}

/** A stored mapping with its fields and relations in order. */
export interface Mapping
  extends Omit<Required<StaticOf<typeof mappingColumns>>, 'card_defaults' | 'record_defaults'> {
  id: string;
  card_defaults: Record<string, Value>;
  record_defaults: Record<string, Value>;
  schedule_key: string | null;
  dictionary: DictionaryColumn[] | null;
  drift: DriftEntry[] | null;
  created_by: string | null;
  fields: FieldMapping[];
  relations: RelationMapping[];
}

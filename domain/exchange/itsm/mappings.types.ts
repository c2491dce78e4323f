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
export interface RelationMapping {
  relation_type_key: string;
  remote_type: string;
  /** The mapping of the cards at the other end; null: the relation's own mapping. */
  target_mapping_id: string | null;
  /** The remote stores the relation from the target's side. */
  reversed: boolean;
}

/** A column of the mapped table as of the last validation. */
export interface DictionaryColumn {
  name: string;
  kind: string;
  reference: string | null;
  max_length: number | null;
  mandatory: boolean;
  choices: string[];
}

/** A change of the remote's dictionary since the last validation. */
export interface DriftEntry {
  column: string;
  change: 'vanished' | 'kind' | 'reference' | 'max_length' | 'mandatory' | 'choices' | 'table';
  /** The mapped field is neither read nor written until the mapping is validated again. */
  stops: boolean;
  message: string;
}

/** A stored mapping with its fields and relations in order. */
export interface Mapping {
  id: string;
  connection_id: string;
  card_type_key: string;
  remote_table: string;
  sync_direction: SyncDirection;
  sync_mode: 'additive' | 'conservative' | 'strict';
  filter_query: string | null;
  card_filter: string | null;
  card_defaults: Record<string, Value>;
  record_defaults: Record<string, Value>;
  max_deletions: number;
  max_deletion_ratio: number;
  quarantine_minutes: number;
  complete_reads: number;
  auto_apply: boolean;
  auto_apply_max_changes: number | null;
  auto_apply_max_ratio: number | null;
  complete_every_hours: number;
  follows_changes: boolean;
  schedule_key: string | null;
  is_active: boolean;
  dictionary: DictionaryColumn[] | null;
  drift: DriftEntry[] | null;
  created_by: string | null;
  fields: FieldMapping[];
  relations: RelationMapping[];
}

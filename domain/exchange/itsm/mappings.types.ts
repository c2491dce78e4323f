/** A value of a field on either side, as JSON. */
export type SyncValue = null | string | number | boolean | SyncValue[] | { [key: string]: SyncValue };

/** What a transform needs to be told, by its kind. */
export interface TransformConfigs {
  direct: { as?: 'number' };
  value_map: { pairs: { remote: SyncValue; local: SyncValue }[] };
  date_format: { remote: 'date' | 'datetime' };
  boolean: { yes: SyncValue[]; no: SyncValue[] };
  /** The mapping of the cards that are referred to; null: the field's own. */
  reference: { mapping_id: string | null };
  expression: { to_local: string; to_remote: string | null };
}

export type TransformType = keyof TransformConfigs;

/** A field as it is stored. */
export type FieldRow = {
  [T in TransformType]: {
    card_field: string;
    remote_field: string;
    direction: 'remote_leads' | 'local_leads' | 'newest_wins' | 'manual';
    transform_type: T;
    transform_config: TransformConfigs[T];
    is_identity: boolean;
  };
}[TransformType];

/** A kind of relations as it is stored. */
export interface RelationRow {
  relation_type_key: string;
  remote_type: string;
  target_mapping_id: string | null;
  reversed: boolean;
}

/** A column of the mapped table as it was when the mapping was last checked. */
export interface DictionaryColumn {
  name: string;
  kind: string;
  reference: string | null;
  max_length: number | null;
  mandatory: boolean;
  choices: string[];
}

/** Something in the remote's dictionary that is no longer as it was when the mapping was checked. */
export interface DriftEntry {
  column: string;
  change: 'vanished' | 'kind' | 'reference' | 'max_length' | 'mandatory' | 'choices' | 'table';
  /** The mapped field is neither read nor written until the mapping is checked again. */
  stops: boolean;
  message: string;
}

/** A mapping as it is stored, with its fields and relations in their order. */
export interface MappingRow {
  id: string;
  connection_id: string;
  card_type_key: string;
  remote_table: string;
  sync_direction: 'pull' | 'push' | 'bidirectional';
  sync_mode: 'additive' | 'conservative' | 'strict';
  filter_query: string | null;
  card_filter: string | null;
  card_defaults: Record<string, SyncValue>;
  record_defaults: Record<string, SyncValue>;
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
  fields: FieldRow[];
  relations: RelationRow[];
}

import type { FieldMapping, Mapping } from '../../../../domain/exchange/itsm/mappings.types.ts';

/** A mapping of applications in both directions that removes everything and has no fields. */
export const plainMapping = (over: Partial<Mapping> = {}): Mapping => ({
  id: 'm',
  connection_id: '',
  card_type_key: 'Application',
  remote_table: 'cmdb_ci_appl',
  sync_direction: 'bidirectional',
  sync_mode: 'strict',
  filter_query: null,
  card_filter: null,
  card_defaults: {},
  record_defaults: {},
  max_deletions: 100,
  max_deletion_ratio: 1,
  quarantine_minutes: 0,
  complete_reads: 0,
  auto_apply: false,
  auto_apply_max_changes: null,
  auto_apply_max_ratio: null,
  complete_every_hours: 0,
  follows_changes: false,
  schedule_key: null,
  is_active: true,
  dictionary: null,
  drift: null,
  created_by: null,
  fields: [],
  relations: [],
  ...over,
});

/** A field that is mapped as it is, with the rule `manual`. */
export const mappedField = (card_field: string, remote_field: string, over: Partial<FieldMapping> = {}) =>
  ({
    card_field,
    remote_field,
    direction: 'manual',
    transform_type: 'direct',
    transform_config: {},
    is_identity: false,
    ...over,
  }) as FieldMapping;

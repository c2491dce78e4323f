/** A column as the dictionary describes it. */
export interface FieldSchema {
  name: string;
  label: string;
  /** Internal type, such as string, integer, boolean, glide_date_time, glide_date, reference, choice. */
  type: string;
  /** The table that a reference leads to. */
  reference?: string;
  maxLength?: number;
  mandatory?: boolean;
  /** Value and label of each choice. */
  choices?: Record<string, string>;
}

export interface TableSchema {
  name: string;
  label: string;
  parent?: string;
  /** The column that stands for a row where it is referred to. */
  display?: string;
  fields: FieldSchema[];
  /** Columns by which identification rules find a row of the class. */
  identifiers?: string[];
  /** Deletes leave no row in sys_audit_delete (dictionary attribute no_audit_delete). */
  unaudited?: boolean;
}

const text = (name: string, label: string, maxLength = 255): FieldSchema => ({
  name,
  label,
  type: 'string',
  maxLength,
});
const reference = (name: string, label: string, table: string): FieldSchema => ({
  name,
  label,
  type: 'reference',
  reference: table,
  maxLength: 32,
});
const of = (type: string, name: string, label: string): FieldSchema => ({ name, label, type, maxLength: 40 });
const choice = (name: string, label: string, choices: Record<string, string>): FieldSchema => ({
  name,
  label,
  type: 'integer',
  maxLength: 40,
  choices,
});

/** Columns that every table has. */
export const systemFields: FieldSchema[] = [
  { name: 'sys_id', label: 'Sys ID', type: 'GUID', maxLength: 32 },
  of('glide_date_time', 'sys_created_on', 'Created'),
  text('sys_created_by', 'Created by', 40),
  of('glide_date_time', 'sys_updated_on', 'Updated'),
  text('sys_updated_by', 'Updated by', 40),
  of('integer', 'sys_mod_count', 'Updates'),
];

const installStatus = {
  1: 'Installed',
  2: 'On Order',
  3: 'In Maintenance',
  6: 'In Stock',
  7: 'Retired',
  100: 'Absent',
};
const operationalStatus = { 1: 'Operational', 2: 'Non-Operational', 3: 'Repair in Progress', 6: 'Retired' };
const criticality = {
  '1 - most critical': '1 - most critical',
  '2 - somewhat critical': '2 - somewhat critical',
  '3 - less critical': '3 - less critical',
  '4 - not critical': '4 - not critical',
};

const configurationItem: FieldSchema[] = [
  text('name', 'Name'),
  { ...of('sys_class_name', 'sys_class_name', 'Class'), maxLength: 80 },
  text('asset_tag', 'Asset tag', 40),
  text('serial_number', 'Serial number'),
  text('short_description', 'Description', 1000),
  text('correlation_id', 'Correlation ID'),
  text('discovery_source', 'Discovery source', 40),
  text('environment', 'Environment', 40),
  text('version', 'Version', 40),
  choice('install_status', 'Status', installStatus),
  choice('operational_status', 'Operational status', operationalStatus),
  of('glide_date_time', 'last_discovered', 'Most recent discovery'),
  of('glide_date', 'install_date', 'Installed'),
  of('decimal', 'cost', 'Cost'),
  reference('company', 'Company', 'core_company'),
  reference('manufacturer', 'Manufacturer', 'core_company'),
  reference('owned_by', 'Owned by', 'sys_user'),
];

/** The tables of an instance out of the box, as far as they are emulated. */
export function baseSchema(): TableSchema[] {
  return [
    {
      name: 'sys_db_object',
      label: 'Table',
      display: 'label',
      fields: [
        text('name', 'Name', 80),
        text('label', 'Label', 80),
        reference('super_class', 'Extends table', 'sys_db_object'),
      ],
    },
    {
      name: 'sys_dictionary',
      label: 'Dictionary Entry',
      display: 'column_label',
      fields: [
        text('name', 'Table', 80),
        text('element', 'Column name', 80),
        text('column_label', 'Column label', 80),
        text('internal_type', 'Type', 40),
        text('reference', 'Reference', 80),
        of('integer', 'max_length', 'Max length'),
        of('integer', 'choice', 'Choice'),
        of('boolean', 'mandatory', 'Mandatory'),
        of('boolean', 'active', 'Active'),
      ],
    },
    {
      name: 'sys_choice',
      label: 'Choice',
      display: 'label',
      fields: [
        text('name', 'Table', 80),
        text('element', 'Element', 80),
        text('value', 'Value'),
        text('label', 'Label'),
        of('boolean', 'inactive', 'Inactive'),
      ],
    },
    {
      name: 'sys_user',
      label: 'User',
      display: 'name',
      fields: [
        text('user_name', 'User ID', 40),
        text('name', 'Name', 151),
        text('email', 'Email', 100),
        of('boolean', 'active', 'Active'),
      ],
    },
    { name: 'sys_user_role', label: 'Role', display: 'name', fields: [text('name', 'Name', 100)] },
    {
      name: 'sys_user_has_role',
      label: 'User Role',
      fields: [reference('user', 'User', 'sys_user'), reference('role', 'Role', 'sys_user_role')],
    },
    {
      name: 'sys_audit',
      label: 'Audit',
      unaudited: true,
      fields: [
        text('tablename', 'Table name', 80),
        text('documentkey', 'Document key', 32),
        text('fieldname', 'Field name', 80),
        text('oldvalue', 'Old value', 4000),
        text('newvalue', 'New value', 4000),
        of('integer', 'record_checkpoint', 'Update count'),
        text('user', 'User', 40),
      ],
    },
    {
      name: 'sys_audit_delete',
      label: 'Audit Deleted Record',
      display: 'display_value',
      unaudited: true,
      fields: [
        text('tablename', 'Table name', 80),
        text('documentkey', 'Document key', 32),
        text('display_value', 'Display value'),
        text('payload', 'Payload', 8000),
      ],
    },
    {
      name: 'sys_object_source',
      label: 'Source',
      display: 'name',
      fields: [
        text('name', 'Name', 100),
        text('id', 'ID', 512),
        text('target_table', 'Target table', 80),
        text('target_sys_id', 'Target Sys ID', 32),
        of('glide_date_time', 'last_scan', 'Last scan'),
      ],
    },
    { name: 'core_company', label: 'Company', display: 'name', fields: [text('name', 'Name', 80)] },
    {
      name: 'cmdb',
      label: 'Base Configuration Item',
      display: 'name',
      fields: configurationItem,
      identifiers: ['name'],
    },
    { name: 'cmdb_ci', label: 'Configuration Item', parent: 'cmdb', display: 'name', fields: [] },
    {
      name: 'cmdb_ci_hardware',
      label: 'Hardware',
      parent: 'cmdb_ci',
      display: 'name',
      fields: [],
      identifiers: ['serial_number', 'name'],
    },
    {
      name: 'cmdb_ci_computer',
      label: 'Computer',
      parent: 'cmdb_ci_hardware',
      display: 'name',
      fields: [
        text('os', 'Operating System', 40),
        text('os_version', 'OS Version', 100),
        of('integer', 'ram', 'RAM (MB)'),
        of('integer', 'cpu_count', 'CPU count'),
      ],
    },
    {
      name: 'cmdb_ci_server',
      label: 'Server',
      parent: 'cmdb_ci_computer',
      display: 'name',
      fields: [
        of('boolean', 'virtual', 'Is Virtual'),
        text('host_name', 'Host name'),
        text('classification', 'Classification', 40),
      ],
    },
    {
      name: 'cmdb_ci_linux_server',
      label: 'Linux Server',
      parent: 'cmdb_ci_server',
      display: 'name',
      fields: [text('kernel_release', 'Kernel Release')],
    },
    {
      name: 'cmdb_ci_win_server',
      label: 'Windows Server',
      parent: 'cmdb_ci_server',
      display: 'name',
      fields: [],
    },
    {
      name: 'cmdb_ci_appl',
      label: 'Application',
      parent: 'cmdb_ci',
      display: 'name',
      fields: [
        text('running_process_command', 'Running process command', 1000),
        text('tcp_port', 'TCP port(s)', 100),
      ],
    },
    {
      name: 'cmdb_ci_business_app',
      label: 'Business Application',
      parent: 'cmdb_ci',
      display: 'name',
      fields: [
        { ...text('business_criticality', 'Business criticality', 40), choices: criticality },
        text('application_type', 'Application type', 40),
        of('integer', 'user_base', 'User base'),
        reference('parent_app', 'Parent application', 'cmdb_ci_business_app'),
      ],
    },
    {
      name: 'cmdb_ci_service',
      label: 'Service',
      parent: 'cmdb_ci',
      display: 'name',
      fields: [{ ...text('busines_criticality', 'Business criticality', 40), choices: criticality }],
    },
    {
      name: 'cmdb_rel_type',
      label: 'CI Relationship Type',
      display: 'name',
      fields: [
        text('name', 'Name', 80),
        text('parent_descriptor', 'Parent descriptor', 40),
        text('child_descriptor', 'Child descriptor', 40),
      ],
    },
    {
      name: 'cmdb_rel_ci',
      label: 'CI Relationship',
      fields: [
        reference('parent', 'Parent', 'cmdb_ci'),
        reference('child', 'Child', 'cmdb_ci'),
        reference('type', 'Type', 'cmdb_rel_type'),
        of('integer', 'connection_strength', 'Connection strength'),
      ],
    },
  ];
}

/** A column of an object type; references are stored as numbers and shown nested. */
interface Column {
  type: 'string' | 'integer' | 'decimal' | 'boolean' | 'choice' | 'reference' | 'tags' | 'json';
  required?: boolean;
  target?: string;
  choices?: Record<string, string>;
  maxLength?: number;
}

export interface ObjectType {
  /** Such as `dcim.device`. */
  name: string;
  columns: Record<string, Column>;
}

const text = (maxLength: number, required = false): Column => ({ type: 'string', maxLength, required });
const reference = (target: string, required = false): Column => ({ type: 'reference', target, required });
const status: Column = {
  type: 'choice',
  choices: { active: 'Active', planned: 'Planned', decommissioning: 'Decommissioning' },
};
const named = { name: text(100, true), slug: text(100, true), description: text(200) };

/** A part of the object types, by endpoint. */
export const schema: Record<string, ObjectType> = {
  'dcim/devices': {
    name: 'dcim.device',
    columns: {
      name: text(64),
      role: reference('dcim/device-roles', true),
      site: reference('dcim/sites', true),
      tenant: reference('tenancy/tenants'),
      cluster: reference('virtualization/clusters'),
      status,
      serial: text(50),
      description: text(200),
      tags: { type: 'tags' },
    },
  },
  'dcim/device-roles': { name: 'dcim.devicerole', columns: named },
  'dcim/sites': {
    name: 'dcim.site',
    columns: { ...named, status, tenant: reference('tenancy/tenants') },
  },
  'dcim/interfaces': {
    name: 'dcim.interface',
    columns: { name: text(64, true), device: reference('dcim/devices', true) },
  },
  'dcim/cables': {
    name: 'dcim.cable',
    columns: { a_terminations: { type: 'json' }, b_terminations: { type: 'json' }, label: text(100) },
  },
  'tenancy/tenants': { name: 'tenancy.tenant', columns: named },
  'virtualization/clusters': {
    name: 'virtualization.cluster',
    columns: { name: text(100, true), tenant: reference('tenancy/tenants') },
  },
  'virtualization/virtual-machines': {
    name: 'virtualization.virtualmachine',
    columns: {
      name: text(64, true),
      cluster: reference('virtualization/clusters'),
      device: reference('dcim/devices'),
      vcpus: { type: 'decimal' },
      memory: { type: 'integer' },
    },
  },
  'plugins/widgets/cogs': { name: 'widgets.cog', columns: { name: text(64, true) } },
};

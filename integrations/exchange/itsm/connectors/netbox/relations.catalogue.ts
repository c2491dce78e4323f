/** A reference column from one table to another, with labels for both directions. */
export interface ReferenceKind {
  table: string;
  column: string;
  target: string;
  forward: string;
  reverse: string;
}

const kind = (
  table: string,
  column: string,
  target: string,
  forward: string,
  reverse: string,
): ReferenceKind => ({ table, column, target, forward, reverse });

/** References that are listed; any other can be used as `table:column`. */
export const referenceKinds: readonly ReferenceKind[] = [
  kind('circuits/circuits', 'provider', 'circuits/providers', 'is provided by', 'provides'),
  kind('circuits/circuits', 'tenant', 'tenancy/tenants', 'belongs to', 'owns'),
  kind('dcim/devices', 'cluster', 'virtualization/clusters', 'is part of', 'consists of'),
  kind('dcim/devices', 'device_type', 'dcim/device-types', 'is a', 'is the type of'),
  kind('dcim/devices', 'location', 'dcim/locations', 'is located in', 'contains'),
  kind('dcim/devices', 'platform', 'dcim/platforms', 'runs', 'runs on'),
  kind('dcim/devices', 'rack', 'dcim/racks', 'is mounted in', 'contains'),
  kind('dcim/devices', 'role', 'dcim/device-roles', 'has the role', 'is the role of'),
  kind('dcim/devices', 'site', 'dcim/sites', 'is located at', 'is the site of'),
  kind('dcim/devices', 'tenant', 'tenancy/tenants', 'belongs to', 'owns'),
  kind('dcim/devices', 'virtual_chassis', 'dcim/virtual-chassis', 'is a member of', 'has the member'),
  kind('dcim/locations', 'parent', 'dcim/locations', 'is located in', 'contains'),
  kind('dcim/locations', 'site', 'dcim/sites', 'is located at', 'has the location'),
  kind('dcim/racks', 'location', 'dcim/locations', 'is located in', 'contains'),
  kind('dcim/racks', 'site', 'dcim/sites', 'is located at', 'is the site of'),
  kind('dcim/sites', 'group', 'dcim/site-groups', 'belongs to', 'comprises'),
  kind('dcim/sites', 'region', 'dcim/regions', 'is located in', 'contains'),
  kind('dcim/sites', 'tenant', 'tenancy/tenants', 'belongs to', 'owns'),
  kind('tenancy/tenants', 'group', 'tenancy/tenant-groups', 'belongs to', 'comprises'),
  kind('virtualization/clusters', 'group', 'virtualization/cluster-groups', 'belongs to', 'comprises'),
  kind('virtualization/clusters', 'tenant', 'tenancy/tenants', 'belongs to', 'owns'),
  kind('virtualization/clusters', 'type', 'virtualization/cluster-types', 'is a', 'is the type of'),
  kind('virtualization/virtual-machines', 'cluster', 'virtualization/clusters', 'runs in', 'runs'),
  kind('virtualization/virtual-machines', 'device', 'dcim/devices', 'runs on', 'runs'),
  kind('virtualization/virtual-machines', 'platform', 'dcim/platforms', 'runs', 'runs on'),
  kind('virtualization/virtual-machines', 'role', 'dcim/device-roles', 'has the role', 'is the role of'),
  kind('virtualization/virtual-machines', 'site', 'dcim/sites', 'is located at', 'is the site of'),
  kind('virtualization/virtual-machines', 'tenant', 'tenancy/tenants', 'belongs to', 'owns'),
];

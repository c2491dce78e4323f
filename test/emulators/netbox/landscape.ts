import type { NetBox } from './instance.ts';
import type { Row } from './store.ts';

/** Sites, a role, a tenant, and so many devices. */
export function populate({ store }: NetBox, devices: number): { sites: Row[]; role: Row; tenant: Row } {
  store.customFields.push({
    id: 2,
    name: 'owner',
    label: 'Owner',
    type: 'text',
    object_types: ['dcim.device'],
  });
  const tenant = store.insert('tenancy/tenants', { name: 'Contoso', slug: 'contoso' });
  const role = store.insert('dcim/device-roles', { name: 'Server', slug: 'server' });
  const sites = ['Frankfurt', 'Paris'].map((name) =>
    store.insert('dcim/sites', { name, slug: name.toLowerCase(), tenant: tenant.id }),
  );
  for (let at = 0; at < devices; at += 1) {
    store.insert('dcim/devices', {
      name: `host ${at}`,
      role: role.id,
      site: sites[at % 2]!.id,
      serial: `S${at}`,
      status: at % 5 === 0 ? 'planned' : 'active',
      tags: at % 2 === 0 ? [{ slug: 'web' }, { slug: 'prod' }] : [],
      custom_fields: { owner: at % 3 === 0 ? 'ops' : null },
    });
  }
  return { sites, role, tenant };
}

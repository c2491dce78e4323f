import { connectNetBox } from '../connectors/netbox/netbox.ts';
import type { RemoteKind } from './connections.kind.types.ts';

export const netBoxKind: RemoteKind = {
  open: ({ settings, secrets }, { tls, outboundAllow, limits, log, signal, patience }) =>
    connectNetBox({
      config: { url: settings.instance_url, token: secrets.token!, tls, ...patience },
      outboundAllow,
      limits,
      log,
      ...(signal ? { signal } : {}),
    }),
  tested: [
    { table: 'dcim/devices', rights: ['read', 'create', 'update', 'delete'], needed: ['read'] },
    { table: 'virtualization/virtual-machines', rights: ['read', 'create', 'update'], needed: [] },
    { table: 'dcim/sites', rights: ['read'], needed: [] },
    { table: 'core/object-changes', rights: ['read'], needed: [] },
    { table: 'extras/custom-fields', rights: ['read'], needed: [] },
  ],
};

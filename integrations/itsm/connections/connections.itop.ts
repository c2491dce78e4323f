import { connectItop } from '../connectors/itop/itop.ts';
import type { RemoteKind } from './connections.kind.types.ts';

export const itopKind: RemoteKind = {
  open: ({ settings, secrets }, { tls, outboundAllow, limits, log, signal, clock, patience }) =>
    connectItop({
      config: {
        url: settings.instance_url,
        auth:
          settings.auth_type === 'token'
            ? { kind: 'token', token: secrets.token! }
            : { kind: 'basic', username: settings.username!, password: secrets.password! },
        timeZone: settings.time_zone!,
        ...(settings.new_records?.through === 'reconciliation'
          ? { reconciliation: settings.new_records.keys }
          : {}),
        tls,
        ...patience,
      },
      outboundAllow,
      limits,
      log,
      ...(signal ? { signal } : {}),
      ...(clock ? { clock } : {}),
    }),
  tested: [
    { table: 'FunctionalCI', rights: ['read', 'update', 'delete'], needed: ['read'] },
    { table: 'Server', rights: ['create'], needed: [] },
    {
      table: 'lnkApplicationSolutionToFunctionalCI',
      rights: ['read', 'create', 'delete'],
      needed: [],
    },
    { table: 'CMDBChangeOp', rights: ['read'], needed: [] },
    { table: 'CMDBChangeOpDelete', rights: ['read'], needed: [] },
  ],
};

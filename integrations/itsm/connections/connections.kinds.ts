import type { ConnectionKind } from '../../../domain/exchange/itsm/connections.kinds.ts';
import { httpKind } from './connections.http.ts';
import { itopKind } from './connections.itop.ts';
import type { RemoteKind } from './connections.kind.types.ts';
import { netBoxKind } from './connections.netbox.ts';
import { serviceNowKind } from './connections.servicenow.ts';

/** Every kind that can be set up, and how it is called. */
export const remoteKinds: Record<ConnectionKind, RemoteKind> = {
  servicenow: serviceNowKind,
  itop: itopKind,
  netbox: netBoxKind,
  http: httpKind,
};

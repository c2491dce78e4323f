import type { NewRecordsWay } from './connections.new-records.ts';

/** Ways in which an account proves who it is. */
export const authTypes = ['basic', 'oauth2', 'token', 'none'] as const;
export type AuthType = (typeof authTypes)[number];

/** How a connection of a kind is set up. */
export interface ConnectionKindRules {
  /** Whether the address is that of a host alone, or may go on with a path. */
  address: 'host' | 'path';
  /** The first is taken unless another is asked for. */
  authTypes: readonly [AuthType, ...AuthType[]];
  /** Whether the remote tells times by its own clocks, so that their zone has to be known. */
  timeZone?: true;
  /** Nothing is ever written there: mappings can only pull. */
  readOnly?: true;
  /** What its tables are has to be told, list by list. */
  sources?: true;
  /** By which ways new records may go in besides that of their table. */
  newRecords?: readonly NewRecordsWay[];
  /** A column of one's own choice keeps who made a record. */
  correlationColumn?: true;
}

/** What may answer at the address of a connection; `integrations/itsm/connections` knows how each is called. */
export const connectionKinds = {
  servicenow: {
    address: 'host',
    authTypes: ['basic', 'oauth2'],
    newRecords: ['import_set', 'identification'],
    correlationColumn: true,
  },
  itop: { address: 'path', authTypes: ['basic', 'token'], timeZone: true, newRecords: ['reconciliation'] },
  netbox: { address: 'path', authTypes: ['token'] },
  http: { address: 'path', authTypes: ['none', 'basic', 'token'], readOnly: true, sources: true },
} as const satisfies Record<string, ConnectionKindRules>;

export type ConnectionKind = keyof typeof connectionKinds;

import type { RefreshTokens } from '../../../domain/exchange/itsm/connections.refresh.ts';
import type { KeptConnection } from '../../../domain/exchange/itsm/connections.types.ts';
import type { OutboundOptions, OutboundTls } from '../../../platform/outbound.ts';
import type { Clock } from '../clock.ts';
import type { Connector, Right } from '../connectors/connector.ts';
import type { LimiterStore } from '../limiter/limiter.store.ts';
import type { Limiter } from '../limiter/limiter.ts';

/** How patient calls are. */
interface Patience {
  /** For one answer. */
  timeoutMs: number;
  /** How often one call is sent altogether. */
  attempts: number;
  /** The longest wait for the remote's limits that one call puts up with. */
  longestWaitMs: number;
}

/** What a connector is made from. */
export interface OpenParts {
  tls: OutboundTls;
  /** Entries of OUTBOUND_ALLOW. */
  outboundAllow: readonly string[];
  /** Where the limits of the account are kept, for all who use it. */
  limits: LimiterStore;
  /** Where details of failed connections go. */
  log: NonNullable<OutboundOptions['log']>;
  /** Where the refresh token is kept that comes in place of a used one. */
  refreshTokens: RefreshTokens;
  /** Ends waiting and calls under way. */
  signal?: AbortSignal;
  /** The machine's unless given. */
  clock?: Clock;
  /** Where it is not as usual for runs. */
  patience?: Partial<Patience>;
}

/** An open connection. */
export type OpenedRemote = Connector & {
  /** Absent where nothing is limited. */
  limiter?: Limiter;
};

/** How remotes of a kind are called. */
export interface RemoteKind {
  /** What the connection needs to log in was checked when it was stored. */
  open(connection: KeptConnection, parts: OpenParts): OpenedRemote;
  /** What a connection is tested for. */
  tested: readonly Tested[] | ((connection: KeptConnection) => readonly Tested[]);
}

/** Rights on a table; only what is needed decides whether a test passes. */
export interface Tested {
  table: string;
  rights: Right[];
  needed: readonly Right[];
}

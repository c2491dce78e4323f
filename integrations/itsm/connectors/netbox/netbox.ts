import { createOutbound } from '../../../../platform/outbound.ts';
import { type Clock, systemClock } from '../../clock.ts';
import type { LimiterStore } from '../../limiter/limiter.store.ts';
import { createLimiter, type Limiter } from '../../limiter/limiter.ts';
import { done } from '../../remote.failures.ts';
import type { Connector } from '../connector.ts';
import { createSurely } from '../surely.ts';
import { createTransport } from '../transport.ts';
import { readAnswer } from './answers.ts';
import { createApi } from './api.ts';
import { createChangeLog } from './changes.ts';
import { type NetBoxConfig, usualConfig } from './config.ts';
import { createDescription } from './description.ts';
import { createObjectTypes } from './object-types.ts';
import { createReading } from './reading.ts';
import { createRelations } from './relations.ts';
import { testRights } from './rights.ts';
import { createWriting } from './writing.ts';

export interface NetBoxParts {
  config: Pick<NetBoxConfig, 'url' | 'token'> & Partial<NetBoxConfig>;
  /** Entries of OUTBOUND_ALLOW. */
  outboundAllow: readonly string[];
  /** Where the limits of the account are kept, for all who use it. */
  limits: LimiterStore;
  clock?: Clock;
  random?: () => number;
  /** Ends waiting and calls under way. */
  signal?: AbortSignal;
}

/** A token of the first version is 40 digits; later ones say what they are. */
const headerOf = (token: string): string => (token.startsWith('nbt_') ? `Bearer ${token}` : `Token ${token}`);

/** A connection to one NetBox by one token. */
export function connectNetBox({
  config: given,
  outboundAllow,
  limits,
  clock = systemClock,
  random = Math.random,
  signal,
}: NetBoxParts): Connector & { limiter: Limiter } {
  const config: NetBoxConfig = { ...usualConfig, ...given };
  const base = config.url.replace(/\/+$/, '');
  const outbound = createOutbound(outboundAllow, undefined, config.tls);
  // limits are those of a proxy in front, which knows no accounts
  const limiter = createLimiter(`${new URL(base).host} netbox`, { store: limits, clock });
  const ending = signal ? { signal } : {};
  const header = headerOf(config.token);
  const session = { authorization: async () => done(header) };
  const transport = createTransport({
    config,
    base,
    read: readAnswer,
    outbound,
    session,
    limiter,
    clock,
    random,
    ...ending,
  });
  const api = createApi(transport);
  const types = createObjectTypes(api);
  const changes = createChangeLog(api, types);
  const reading = createReading(api, changes);
  const description = createDescription(api, types);
  const surely = createSurely({ transport, clock, settleMs: config.settleMs, ...ending });
  const writing = createWriting(api, reading, description, surely, config);

  return {
    limiter,
    describeTables: description.describeTables,
    describeFields: description.describeFields,
    unknownInFilter: description.unknownInFilter,
    // permissions are on objects, never on single columns
    withheldFields: async () => done([]),
    newestChange: reading.newestChange,
    readPage: reading.readPage,
    readSince: reading.readSince,
    readByIds: reading.readByIds,
    deletionsSince: changes.deletionsSince,
    ...createRelations(reading, changes, types, writing),
    ...writing,
    testRights: (needs) => testRights(api, needs),
    clockAheadMs: transport.clockAheadMs,
    calls: transport.calls,
    close: () => outbound.close(),
  };
}

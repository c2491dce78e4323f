import {
  createOutbound,
  type Outbound,
  type OutboundOptions,
  type OutboundTls,
} from '../../../platform/outbound.ts';
import { type Clock, systemClock } from '../clock.ts';
import type { LimiterStore } from '../limiter/limiter.store.ts';
import { createLimiter, type Limiter } from '../limiter/limiter.ts';

/** What a connection is made with, whatever its kind. */
export interface ConnectorParts<Config> {
  config: Config;
  /** Entries of OUTBOUND_ALLOW. */
  outboundAllow: readonly string[];
  /** Where the limits of the account are kept, for all who use it. */
  limits: LimiterStore;
  log?: OutboundOptions['log'];
  clock?: Clock;
  random?: () => number;
  /** Ends waiting and calls under way. */
  signal?: AbortSignal;
}

/** What every connector calls with. */
export interface Calling {
  outbound: Outbound;
  limiter: Limiter;
  clock: Clock;
  random: () => number;
  /** Handed on to whatever can be ended. */
  ending: { signal?: AbortSignal };
}

/** Opens the way out, at the pace of an account. @param account whose limits count. */
export function openCalling(
  { outboundAllow, limits, log, clock = systemClock, random = Math.random, signal }: ConnectorParts<unknown>,
  account: string,
  tls: OutboundTls = {},
): Calling {
  return {
    outbound: createOutbound(outboundAllow, { tls, ...(log ? { log } : {}) }),
    limiter: createLimiter(account, { store: limits, clock }),
    clock,
    random,
    ending: signal ? { signal } : {},
  };
}

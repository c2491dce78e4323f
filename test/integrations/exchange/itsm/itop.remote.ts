import { connectItop, type ItopParts } from '../../../../integrations/exchange/itsm/connectors/itop/itop.ts';
import type { ItopEmulator } from '../../../emulators/itop/server.ts';
import { memoryLimiterStore } from '../../../support/memory-limiter.ts';

/** A connection to an emulated instance on its clock, as its usual account. */
export function connectTo(
  instance: ItopEmulator,
  config: Partial<ItopParts['config']> = {},
  more: Partial<ItopParts> = {},
) {
  return connectItop({
    config: {
      url: instance.base,
      auth: { kind: 'basic', username: 'estate', password: 'secret' },
      timeZone: instance.store.timeZone,
      ...config,
    },
    outboundAllow: ['127.0.0.1:*'],
    limits: memoryLimiterStore(),
    clock: instance.clock,
    random: () => 0.5,
    ...more,
  });
}

export type Connected = ReturnType<typeof connectTo>;

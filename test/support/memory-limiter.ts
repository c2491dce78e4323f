import type { LimiterState, LimiterStore } from '../../integrations/exchange/itsm/limiter/limiter.ts';

/** Keeps states in this process: all that share it share one rate. */
export function memoryLimiterStore(): LimiterStore {
  const states = new Map<string, LimiterState>();
  return {
    read: async (account) => states.get(account),
    async update(account, step) {
      const { state, result } = step(states.get(account));
      states.set(account, state);
      return result;
    },
  };
}

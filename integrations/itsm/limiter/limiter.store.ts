import type { LimiterState } from './limiter.state.ts';

/** Where the state of each remote account is kept. */
export interface LimiterStore {
  /** The state as it is, without waiting for anybody. */
  look(account: string): Promise<LimiterState | undefined>;
  /** Reads and replaces a state in one step that nobody else comes between; `undefined` where there is none yet. */
  change<T>(
    account: string,
    step: (state: LimiterState | undefined) => { state: LimiterState; result: T },
  ): Promise<T>;
}

import type { OutboundTls } from '../../../../platform/outbound.ts';
import type { TransportConfig } from '../transport.ts';

/** How an account proves who it is. */
export type ItopAuth =
  | { kind: 'basic'; username: string; password: string }
  /** An application token or a personal one. */
  | { kind: 'token'; token: string };

export interface ItopConfig extends TransportConfig {
  /** Where iTop is, with its path, such as `https://itop.example.com/web`. */
  url: string;
  auth: ItopAuth;
  tls?: OutboundTls;
  /** The IANA zone that iTop tells times in: `timezone` of its configuration. */
  timeZone: string;
  /** How long a write that timed out may still be under way over there. */
  settleMs: number;
  /** How far back the history is asked when the objects of a page were last changed. */
  recentMs: number;
  /**
   * By class, its reconciliation keys: the attributes whose values together tell one object from all others. An object that
   * bears the same values is taken for the one to be made; objects of other classes are always made.
   */
  reconciliation?: Readonly<Record<string, readonly string[]>>;
}

export const usualConfig: Omit<ItopConfig, 'url' | 'auth' | 'timeZone'> = {
  timeoutMs: 60_000,
  attempts: 6,
  pauseMs: 500,
  longestWaitMs: 300_000,
  settleMs: 30_000,
  recentMs: 30 * 24 * 3_600_000,
};

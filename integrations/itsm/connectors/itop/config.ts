import type { OutboundTls } from '../../../../platform/outbound.ts';
import { type TransportConfig, usualTransport } from '../transport.ts';

/** How an account authenticates. */
export type ItopAuth =
  | { kind: 'basic'; username: string; password: string }
  /** An application token or a personal one. */
  | { kind: 'token'; token: string };

export interface ItopConfig extends TransportConfig {
  /** The address of iTop with its path, such as `https://itop.example.com/web`. */
  url: string;
  auth: ItopAuth;
  tls?: OutboundTls;
  /** The IANA zone of iTop's times: `timezone` of its configuration. */
  timeZone: string;
  /** How long the remote may still be executing a write that timed out. */
  settleMs: number;
  /** How far back the history is read for the last changes of the objects of a page. */
  recentMs: number;
  /**
   * The reconciliation keys of each class: the attributes whose values together identify an object. An object with the same
   * values is taken for the one to be created; objects of other classes are always created.
   */
  reconciliation?: Readonly<Record<string, readonly string[]>>;
}

export const usualConfig: Omit<ItopConfig, 'url' | 'auth' | 'timeZone'> = {
  ...usualTransport,
  settleMs: 30_000,
  recentMs: 30 * 24 * 3_600_000,
};

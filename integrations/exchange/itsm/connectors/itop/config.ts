import { defaultTransport, type TransportConfig } from '../transport.ts';

/** How an account authenticates. */
export type ItopAuth =
  | { kind: 'basic'; username: string; password: string }
  /** An application token or a personal one. */
  | { kind: 'token'; token: string };

export interface ItopConfig extends TransportConfig {
  /** The address of iTop with its path, such as `https://itop.example.com/web`. */
  url: string;
  auth: ItopAuth;
  /** The IANA zone of iTop's times: `timezone` of its configuration. */
  timeZone: string;
  /** How far back the history is read for the last change of objects. */
  recentMs: number;
  /**
   * The reconciliation keys of each class: the attributes whose values together identify an object. An object with the same
   * values is used instead of creating one; objects of other classes are always created.
   */
  reconciliation?: Readonly<Record<string, readonly string[]>>;
}

export const defaultConfig: Omit<ItopConfig, 'url' | 'auth' | 'timeZone'> = {
  ...defaultTransport,
  recentMs: 30 * 24 * 3_600_000,
};

import type { HttpSource } from '../../../../../domain/exchange/itsm/connections.input.ts';
import { defaultTransport, type TransportConfig } from '../transport.ts';

export type HttpAuth =
  | { kind: 'none' }
  | { kind: 'basic'; username: string; password: string }
  | { kind: 'token'; token: string };

export interface HttpConfig extends TransportConfig {
  /** The address below which all sources are. */
  url: string;
  auth: HttpAuth;
  sources: readonly HttpSource[];
  /** Maximum size of a response; a file is read into memory. */
  maxBytes: number;
}

export const defaultConfig: Omit<HttpConfig, 'url' | 'auth' | 'sources'> = {
  ...defaultTransport,
  timeoutMs: 120_000,
  maxBytes: 32 * 1024 * 1024,
};

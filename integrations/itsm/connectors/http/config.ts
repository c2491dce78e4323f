import type { HttpSource } from '../../../../domain/exchange/itsm/connections.input.ts';
import type { OutboundTls } from '../../../../platform/outbound.ts';
import { type TransportConfig, usualTransport } from '../transport.ts';

export type HttpAuth =
  | { kind: 'none' }
  | { kind: 'basic'; username: string; password: string }
  | { kind: 'token'; token: string };

export interface HttpConfig extends TransportConfig {
  /** The address below which all sources are. */
  url: string;
  auth: HttpAuth;
  sources: readonly HttpSource[];
  tls?: OutboundTls;
  /** Of one response; a file is held in memory while it is read. */
  maxBytes: number;
}

export const usualConfig: Omit<HttpConfig, 'url' | 'auth' | 'sources'> = {
  ...usualTransport,
  timeoutMs: 120_000,
  maxBytes: 32 * 1024 * 1024,
};

import type { HttpSource } from '../../../../domain/exchange/itsm/connections.sources.ts';
import type { OutboundTls } from '../../../../platform/outbound.ts';
import type { TransportConfig } from '../transport.ts';

export type HttpAuth =
  | { kind: 'none' }
  | { kind: 'basic'; username: string; password: string }
  | { kind: 'token'; token: string };

export interface HttpConfig extends TransportConfig {
  /** Below it lie all the sources. */
  url: string;
  auth: HttpAuth;
  sources: readonly HttpSource[];
  tls?: OutboundTls;
  /** Of one answer; a file is held in memory while it is read. */
  maxBytes: number;
}

export const usualConfig: Omit<HttpConfig, 'url' | 'auth' | 'sources'> = {
  timeoutMs: 120_000,
  attempts: 6,
  pauseMs: 500,
  longestWaitMs: 300_000,
  maxBytes: 32 * 1024 * 1024,
};

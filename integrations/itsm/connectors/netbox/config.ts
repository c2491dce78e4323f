import type { OutboundTls } from '../../../../platform/outbound.ts';
import type { TransportConfig } from '../transport.ts';

export interface NetBoxConfig extends TransportConfig {
  /** `https://netbox.example.com`, with the path under which NetBox is served where there is one. */
  url: string;
  /** Of either version: 40 hexadecimal digits, or `nbt_…`. */
  token: string;
  tls?: OutboundTls;
  /** The custom field that keeps who made an object. */
  correlationField: string;
  /** How long a write that timed out may still be under way over there. */
  settleMs: number;
}

export const usualConfig: Omit<NetBoxConfig, 'url' | 'token'> = {
  correlationField: 'estate_correlation',
  timeoutMs: 60_000,
  attempts: 6,
  pauseMs: 500,
  longestWaitMs: 300_000,
  settleMs: 30_000,
};

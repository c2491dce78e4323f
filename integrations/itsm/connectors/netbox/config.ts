import type { OutboundTls } from '../../../../platform/outbound.ts';
import { type TransportConfig, usualTransport } from '../transport.ts';

export interface NetBoxConfig extends TransportConfig {
  /** `https://netbox.example.com`, with the path under which NetBox is served if there is one. */
  url: string;
  /** Of either version: 40 hexadecimal digits, or `nbt_…`. */
  token: string;
  tls?: OutboundTls;
  /** The custom field that stores the correlation id. */
  correlationField: string;
  /** How long the remote may still be executing a write that timed out. */
  settleMs: number;
}

export const usualConfig: Omit<NetBoxConfig, 'url' | 'token'> = {
  ...usualTransport,
  correlationField: 'estate_correlation',
  settleMs: 30_000,
};

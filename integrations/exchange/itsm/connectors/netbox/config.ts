import { defaultTransport, type TransportConfig } from '../transport.ts';

export interface NetBoxConfig extends TransportConfig {
  /** `https://netbox.example.com`, with the path under which NetBox is served if there is one. */
  url: string;
  /** A token of 40 hexadecimal digits, or `nbt_…`. */
  token: string;
  /** The custom field that stores the correlation id. */
  correlationField: string;
}

export const defaultConfig: Omit<NetBoxConfig, 'url' | 'token'> = {
  ...defaultTransport,
  correlationField: 'estate_correlation',
};

import type { Connector } from '../connector.ts';
import { type Dialect, readJson } from '../responses.ts';
import { testRights } from '../rights.ts';
import { type ConnectorParts, connectionOf, openTransport } from '../transport.ts';
import { createApi, defaultConfig, type NetBoxConfig } from './api.ts';
import { createChangeLog, createObjectTypes } from './changes.ts';
import { createDescription } from './description.ts';
import { createReading } from './reading.ts';
import { createRelations } from './relations.ts';
import { rightsTest } from './rights.ts';
import { createWriting } from './writing.ts';

export type NetBoxParts = ConnectorParts<Pick<NetBoxConfig, 'url' | 'token'> & Partial<NetBoxConfig>>;

/** A token of the first version has 40 digits; later ones have a prefix. */
const headerOf = (token: string): string => (token.startsWith('nbt_') ? `Bearer ${token}` : `Token ${token}`);

/** NetBox also returns 403 for an invalid token; only the message differs. */
const notAuthenticated = /token|credential|inactive|not permitted to authenticate|authentication/i;

const dialect: Dialect = {
  errorOf(document, status) {
    // an object may have a column of the same name
    if (status < 400 || typeof document !== 'object' || document === null) return undefined;
    const { detail, error } = document as { detail?: unknown; error?: unknown };
    const message = detail ?? error;
    if (typeof message === 'string') return message;
    return Object.entries(document)
      .map(([field, errors]) => `${field}: ${textOf(errors)}`)
      .join('; ');
  },
  meaningOf(status, message) {
    if (status === 403 && notAuthenticated.test(message ?? '')) return 'credentials_refused';
    return status === 412 ? 'changed_concurrently' : undefined;
  },
};

const textOf = (errors: unknown): string => {
  if (Array.isArray(errors)) return errors.map(textOf).join(' ');
  return typeof errors === 'string' ? errors : JSON.stringify(errors);
};

/** A connection to one NetBox by one token. */
export function connectNetBox(parts: NetBoxParts): Connector {
  const config: NetBoxConfig = { ...defaultConfig, ...parts.config };
  const base = config.url.replace(/\/+$/, '');
  const header = headerOf(config.token);
  const transport = openTransport(
    { ...parts, config },
    {
      base,
      // rate limits are those of a proxy, which has no accounts
      account: `${new URL(base).host} netbox`,
      read: (response, context) => readJson(response, context, dialect),
      session: { authorization: async () => header },
    },
  );
  const api = createApi(transport);
  const types = createObjectTypes(api);
  const changes = createChangeLog(api, types);
  const reading = createReading(api, changes);
  const description = createDescription(api, types);
  const writing = createWriting(transport, { api, reading, description }, config);

  return {
    ...connectionOf(transport),
    ...description,
    ...reading,
    readDeletions: changes.readDeletions,
    ...createRelations(reading, changes, types, writing),
    ...writing,
    testRights: (needs) => testRights(needs, rightsTest(api)),
  };
}

import type { Limiter } from '../../limiter/limiter.ts';
import { done } from '../../remote.failures.ts';
import type { Connector } from '../connector.ts';
import { type ConnectorParts, openCalling } from '../parts.ts';
import { createSurely } from '../surely.ts';
import { createTransport } from '../transport.ts';
import { readAnswer } from './answers.ts';
import { createApi } from './api.ts';
import { createChangeLog } from './changes.ts';
import { type NetBoxConfig, usualConfig } from './config.ts';
import { createDescription } from './description.ts';
import { createObjectTypes } from './object-types.ts';
import { createReading } from './reading.ts';
import { createRelations } from './relations.ts';
import { testRights } from './rights.ts';
import { createWriting } from './writing.ts';

export type NetBoxParts = ConnectorParts<Pick<NetBoxConfig, 'url' | 'token'> & Partial<NetBoxConfig>>;

/** A token of the first version is 40 digits; later ones say what they are. */
const headerOf = (token: string): string => (token.startsWith('nbt_') ? `Bearer ${token}` : `Token ${token}`);

/** A connection to one NetBox by one token. */
export function connectNetBox(parts: NetBoxParts): Connector & { limiter: Limiter } {
  const config: NetBoxConfig = { ...usualConfig, ...parts.config };
  const base = config.url.replace(/\/+$/, '');
  // limits are those of a proxy in front, which knows no accounts
  const { outbound, limiter, clock, random, ending } = openCalling(
    parts,
    `${new URL(base).host} netbox`,
    config.tls,
  );
  const header = headerOf(config.token);
  const session = { authorization: async () => done(header) };
  const transport = createTransport({
    config,
    base,
    read: readAnswer,
    outbound,
    session,
    limiter,
    clock,
    random,
    ...ending,
  });
  const api = createApi(transport);
  const types = createObjectTypes(api);
  const changes = createChangeLog(api, types);
  const reading = createReading(api, changes);
  const description = createDescription(api, types);
  const surely = createSurely({ transport, clock, settleMs: config.settleMs, ...ending });
  const writing = createWriting(api, reading, description, surely, config);

  return {
    limiter,
    describeTables: description.describeTables,
    describeFields: description.describeFields,
    unknownInFilter: description.unknownInFilter,
    withheldFields: reading.withheldFields,
    newestChange: reading.newestChange,
    readPage: reading.readPage,
    readSince: reading.readSince,
    readByIds: reading.readByIds,
    deletionsSince: changes.deletionsSince,
    ...createRelations(reading, changes, types, writing),
    ...writing,
    testRights: (needs) => testRights(api, needs),
    clockAheadMs: transport.clockAheadMs,
    calls: transport.calls,
    close: () => outbound.close(),
  };
}

import { sha256 } from '../../../../platform/crypto.ts';
import type { Limiter } from '../../limiter/limiter.ts';
import { done, type Result } from '../../remote.failures.ts';
import type { RemoteTombstone } from '../../remote.types.ts';
import type { Connector } from '../connector.ts';
import { type ConnectorParts, openCalling } from '../parts.ts';
import { type ItopAuth, type ItopConfig, usualConfig } from './config.ts';
import { createDescription } from './description.ts';
import { createHistory, WITHOUT_HISTORY } from './history.ts';
import { createReading } from './reading.ts';
import { readRelations } from './relations.ts';
import { testRights } from './rights.ts';
import { createItopTransport } from './transport.ts';
import { createWriting } from './writing.ts';

export type ItopParts = ConnectorParts<Pick<ItopConfig, 'url' | 'auth' | 'timeZone'> & Partial<ItopConfig>>;

/** Whose limits count: those of one account on one instance. */
function accountOf(url: string, auth: ItopAuth): string {
  const { host, pathname } = new URL(url);
  const name = auth.kind === 'basic' ? auth.username : `token ${sha256(auth.token).slice(0, 16)}`;
  return `${host}${pathname} ${name}`;
}

/** A connection to one instance as one account. */
export function connectItop(parts: ItopParts): Connector & { limiter: Limiter } {
  const config: ItopConfig = { ...usualConfig, ...parts.config };
  const base = config.url.replace(/\/+$/, '');
  const { outbound, limiter, clock, random, ending } = openCalling(
    parts,
    accountOf(base, config.auth),
    config.tls,
  );
  const transport = createItopTransport(config.auth, {
    config,
    base,
    outbound,
    limiter,
    clock,
    random,
    ...ending,
  });
  const history = createHistory(transport, config, clock);
  const description = createDescription(transport);
  const reading = createReading(transport, description, history);
  const writing = createWriting(transport, { reading, history, description }, { config, clock, ...ending });

  const tombstones = async (
    table: string,
    since: string,
    isOne: (id: string) => boolean,
  ): Promise<Result<RemoteTombstone[]>> => {
    const deleted = await history.deletedSince(since);
    // `changesUntold` says so
    if (!deleted.ok && deleted.failure.code === 'forbidden') return done([]);
    if (!deleted.ok) return deleted;
    const found = [...deleted.value].filter(([id]) => isOne(id)).map(([id, at]) => ({ table, id, at }));
    return done(found.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : a.id < b.id ? -1 : 1)));
  };

  return {
    limiter,
    // objects of organisations that the account does not see, and archived ones, are missing too
    absenceProvesNothing: true,
    describeTables: description.describeTables,
    describeFields: description.describeFields,
    describeRelationTypes: description.describeRelationTypes,
    unknownInFilter: description.unknownInFilter,
    withheldFields: description.withheldFields,
    newestChange: reading.newestChange,
    readPage: reading.readPage,
    readSince: reading.readSince,
    readByIds: reading.readByIds,
    readRelations: (request) => readRelations(reading, request),
    async changesUntold() {
      const pace = await history.pace();
      if (pace.ok || pace.failure.code !== 'forbidden') return pace.ok ? done(null) : pace;
      return done(`The account may not read the history of iTop (CMDBChangeOp). ${WITHOUT_HISTORY}`);
    },
    // which classes extend the table is not told: an id names its class, so that others do no harm
    deletionsSince: (table, since) => tombstones(table, since, (id) => !isLink(id)),
    relationDeletionsSince: (since) => tombstones('relations', since, isLink),
    ...writing,
    testRights: (needs) => testRights(transport, { reading, history }, config, needs),
    clockAheadMs: transport.clockAheadMs,
    calls: transport.calls,
    close: () => outbound.close(),
  };
}

const isLink = (id: string): boolean => id.startsWith('lnk');

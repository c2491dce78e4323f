import { sha256 } from '../../../../platform/crypto.ts';
import type { Limiter } from '../../limiter/limiter.ts';
import { type RemoteTombstone, unless } from '../../remote.ts';
import type { Connector } from '../connector.ts';
import { byTime } from '../responses.ts';
import { testRights } from '../rights.ts';
import type { ConnectorParts } from '../transport.ts';
import { type ItopAuth, type ItopConfig, usualConfig } from './config.ts';
import { createDescription } from './description.ts';
import { type ChangeTimes, createHistory, WITHOUT_HISTORY } from './history.ts';
import { createReading } from './reading.ts';
import { readRelations } from './relations.ts';
import { rightsTest } from './rights.ts';
import { openItopTransport } from './transport.ts';
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
  const transport = openItopTransport({ ...parts, config }, base, accountOf(base, config.auth));
  const history = createHistory(transport, config);
  const description = createDescription(transport);
  const reading = createReading(transport, description, history);
  const { limiter, clockAheadMs, calls, close } = transport;

  const tombstones = async (
    table: string,
    since: string,
    isOne: (id: string) => boolean,
  ): Promise<RemoteTombstone[]> => {
    // `deltaUnavailable` reports an unreadable history
    const deleted: ChangeTimes = await unless(history.deletedSince(since), ['forbidden'], new Map());
    const found = [...deleted].filter(([id]) => isOne(id)).map(([id, at]) => ({ table, id, at }));
    return found.sort(byTime);
  };

  return {
    limiter,
    // objects of organisations that the account does not see, and archived ones, are missing too
    absenceProvesNothing: true,
    ...description,
    ...reading,
    readRelations: (request) => readRelations(reading, request),
    async deltaUnavailable() {
      const why = `The account may not read the history of iTop (CMDBChangeOp). ${WITHOUT_HISTORY}`;
      return (await unless(history.lag(), ['forbidden'], null)) ? null : why;
    },
    // the classes that extend the table are unknown: an id names its class, so that others do no harm
    deletionsSince: (table, since) => tombstones(table, since, (id) => !isLink(id)),
    relationDeletionsSince: (since) => tombstones('relations', since, isLink),
    ...createWriting(transport, { reading, history, description }, config),
    testRights: (needs) => testRights(needs, rightsTest(transport, { reading, history }, config)),
    clockAheadMs,
    calls,
    close,
  };
}

const isLink = (id: string): boolean => id.startsWith('lnk');

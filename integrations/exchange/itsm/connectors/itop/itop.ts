import { type RemoteTombstone, withFallback } from '../../remote.ts';
import type { Connector } from '../connector.ts';
import { byTime } from '../responses.ts';
import { testRights } from '../rights.ts';
import { accountNameOf, type ConnectorParts, connectionOf } from '../transport.ts';
import { createDescription } from './description.ts';
import { type ChangeTimes, createHistory, MISSING_HISTORY_EFFECTS } from './history.ts';
import { createReading } from './reading.ts';
import { readRelations } from './relations.ts';
import { rightsTest } from './rights.ts';
import { defaultConfig, type ItopConfig, openItopTransport } from './transport.ts';
import { createWriting } from './writing.ts';

export type ItopParts = ConnectorParts<Pick<ItopConfig, 'url' | 'auth' | 'timeZone'> & Partial<ItopConfig>>;

/** A connection to one instance as one account. */
export function connectItop(parts: ItopParts): Connector {
  const config: ItopConfig = { ...defaultConfig, ...parts.config };
  const base = config.url.replace(/\/+$/, '');
  const { host, pathname } = new URL(base);
  const account = `${host}${pathname} ${accountNameOf(config.auth)}`;
  const transport = openItopTransport({ ...parts, config }, base, account);
  const history = createHistory(transport, config);
  const description = createDescription(transport);
  const reading = createReading(transport, description, history);

  const tombstones = async (
    table: string,
    since: string,
    isOne: (id: string) => boolean,
  ): Promise<RemoteTombstone[]> => {
    // `explainMissingDelta` reports an unreadable history
    const deleted: ChangeTimes = await withFallback(history.readDeleted(since), ['forbidden'], new Map());
    const found = [...deleted].filter(([id]) => isOne(id)).map(([id, at]) => ({ table, id, at }));
    return found.sort(byTime);
  };

  return {
    ...connectionOf(transport),
    // objects of hidden organisations and archived objects are missing too
    omitsHiddenRecords: true,
    ...description,
    ...reading,
    readRelations: (request) => readRelations(reading, request),
    async explainMissingDelta() {
      const why = `The account may not read the history of iTop (CMDBChangeOp). ${MISSING_HISTORY_EFFECTS}`;
      return (await withFallback(history.readLag(), ['forbidden'], null)) ? null : why;
    },
    // the subclasses of the table are unknown: tombstones of other classes match no pair
    readDeletions: (table, since) => tombstones(table, since, (id) => !isLink(id)),
    readRelationDeletions: (since) => tombstones('relations', since, isLink),
    ...createWriting(transport, { reading, history, description }, config),
    testRights: (needs) => testRights(needs, rightsTest(transport, { reading, history }, config)),
  };
}

const isLink = (id: string): boolean => id.startsWith('lnk');

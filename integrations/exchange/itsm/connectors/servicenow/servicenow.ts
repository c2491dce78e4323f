import { withFallback } from '../../remote.ts';
import type { Connector } from '../connector.ts';
import { type Dialect, type ResponseReader, readJson, recordIn } from '../responses.ts';
import { testRights } from '../rights.ts';
import { type ConnectorParts, connectionOf, openTransport } from '../transport.ts';
import { readDeletions } from './audit.ts';
import { createDescription } from './description.ts';
import { createReading, textOf, where } from './reading.ts';
import { rightsTest } from './rights.ts';
import { createSession, defaultConfig, type ServiceNowAuth, type ServiceNowConfig } from './session.ts';
import { createWriting } from './writing.ts';

const RELATIONS = 'cmdb_rel_ci';
/** The table of all configuration items, of any class. */
const ITEMS = 'cmdb_ci';
const CLASS = 'sys_class_name';

export type ServiceNowParts = ConnectorParts<
  Pick<ServiceNowConfig, 'url' | 'auth'> & Partial<ServiceNowConfig>
>;

const dialect: Dialect = {
  errorOf(document) {
    const error = (document as { error?: unknown } | undefined)?.error;
    if (error === undefined || error === null) return undefined;
    if (typeof error === 'string') return error;
    const { message, detail } = error as { message?: unknown; detail?: unknown };
    return (
      [message, detail].filter((part) => typeof part === 'string' && part !== '').join(': ') ||
      'no reason given'
    );
  },
  meaningOf: (status, message) =>
    status === 400 && /^Invalid table/.test(message ?? '') ? 'not_found' : undefined,
};

/** Reads the `result` of a response of the REST APIs. */
const readResponse: ResponseReader = (response, context) => {
  const read = readJson(response, context, dialect);
  if (read.kind !== 'done') return read;
  return { kind: 'done', result: (read.result as { result?: unknown } | undefined)?.result };
};

/** The account whose rate limit applies. */
function accountOf(url: string, auth: ServiceNowAuth): string {
  const name = auth.kind === 'basic' || auth.grant === 'password' ? auth.username : auth.clientId;
  return `${new URL(url).host} ${name}`;
}

/** A connection to one instance as one account. */
export function connectServiceNow(parts: ServiceNowParts): Connector {
  const config: ServiceNowConfig = { ...defaultConfig, ...parts.config };
  const base = config.url.replace(/\/+$/, '');
  const transport = openTransport(
    { ...parts, config },
    {
      base,
      account: accountOf(base, config.auth),
      read: readResponse,
      session: (tools) =>
        createSession(config.auth, {
          ...tools,
          base,
          timeoutMs: config.timeoutMs,
          store: config.refreshTokens,
        }),
    },
  );
  const reading = createReading(transport);
  const description = createDescription(reading);

  return {
    ...connectionOf(transport),
    correlationColumn: config.correlationField,
    ...description,
    ...reading,
    ...createWriting(transport, reading, config),
    async readRelations({ types, ends, since, limit, cursor }) {
      const conditions = [
        ...(types.length > 0 ? [where('type', 'IN', types.join(','))] : []),
        ...(ends
          ? [`${where('parent', 'IN', ends.join(','))}^OR${where('child', 'IN', ends.join(','))}`]
          : []),
      ];
      const request = {
        table: RELATIONS,
        fields: ['parent', 'child', 'type'],
        limit,
        cursor,
        ...(conditions.length > 0 ? { filter: conditions.join('^') } : {}),
      };
      const page = await (since === null
        ? reading.readPage(request)
        : reading.readSince({ ...request, since }));
      const relations = page.records.map((record) => ({
        id: record.id,
        type: textOf(record, 'type'),
        from: textOf(record, 'parent'),
        to: textOf(record, 'child'),
        updatedAt: record.updatedAt,
      }));
      return { relations, next: page.next, hasHiddenRows: page.hasHiddenRows };
    },
    async findReclassified(ids) {
      // without access to all items no other class is visible
      const call = reading.readByIds(ITEMS, ids, [CLASS]);
      const lookups = await withFallback(call, ['forbidden', 'not_found'], []);
      const classes = new Map<string, string>();
      for (const [id, lookup] of lookups) {
        const record = recordIn(lookup);
        const name = record ? textOf(record, CLASS) : '';
        if (name !== '') classes.set(id, name);
      }
      return classes;
    },
    readDeletions: async (table, since) =>
      readDeletions(reading, table, await description.familyOf(table), since),
    readRelationDeletions: (since) => readDeletions(reading, RELATIONS, [RELATIONS], since),
    async findExistingRelations(ids) {
      const lookups = await reading.readByIds(RELATIONS, ids, []);
      return new Set(ids.filter((id) => lookups.get(id)?.kind === 'there'));
    },
    testRights: (needs) => testRights(needs, rightsTest(transport, reading, config)),
  };
}

import type { Limiter } from '../../limiter/limiter.ts';
import { done } from '../../remote.failures.ts';
import type { Connector } from '../connector.ts';
import { type ConnectorParts, openCalling } from '../parts.ts';
import { createTransport } from '../transport.ts';
import { readAnswer } from './answers.ts';
import { type ServiceNowAuth, type ServiceNowConfig, usualConfig } from './config.ts';
import { readDeletions } from './deletions.ts';
import { createDescription } from './description.ts';
import { where } from './query.ts';
import { createReading } from './reading.ts';
import { testRights } from './rights.ts';
import { createSession } from './session.ts';
import { createWriting } from './writing.ts';

const RELATIONS = 'cmdb_rel_ci';
/** All configuration items, of whatever class. */
const ITEMS = 'cmdb_ci';
const CLASS = 'sys_class_name';
const relationFields = ['parent', 'child', 'type'];

export type ServiceNowParts = ConnectorParts<
  Pick<ServiceNowConfig, 'url' | 'auth'> & Partial<ServiceNowConfig>
>;

/** Whose limits count: those of one account on one instance. */
function accountOf(url: string, auth: ServiceNowAuth): string {
  const name = auth.kind === 'basic' || auth.grant === 'password' ? auth.username : auth.clientId;
  return `${new URL(url).host} ${name}`;
}

/** A connection to one instance as one account. */
export function connectServiceNow(parts: ServiceNowParts): Connector & { limiter: Limiter } {
  const config: ServiceNowConfig = { ...usualConfig, ...parts.config };
  const base = config.url.replace(/\/+$/, '');
  const { outbound, limiter, clock, random, ending } = openCalling(
    parts,
    accountOf(base, config.auth),
    config.tls,
  );
  const session = createSession(config.auth, base, {
    outbound,
    clock,
    timeoutMs: config.timeoutMs,
    ...(config.refreshTokens && { kept: config.refreshTokens }),
    ...ending,
  });
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
  const reading = createReading(transport);
  const description = createDescription(reading);

  return {
    limiter,
    correlationColumn: config.correlationField,
    ...description,
    ...reading,
    ...createWriting(transport, reading, { config, clock, ...ending }),
    async readRelations({ types, ends, since, limit, cursor }) {
      const conditions = [
        ...(types.length > 0 ? [where('type', 'IN', types.join(','))] : []),
        ...(ends
          ? [`${where('parent', 'IN', ends.join(','))}^OR${where('child', 'IN', ends.join(','))}`]
          : []),
      ];
      const request = {
        table: RELATIONS,
        fields: relationFields,
        limit,
        cursor,
        display: false,
        ...(conditions.length > 0 ? { filter: conditions.join('^') } : {}),
      };
      const page =
        since === null ? await reading.readPage(request) : await reading.readSince({ ...request, since });
      if (!page.ok) return page;
      const { records, next, withheld } = page.value;
      const text = (value: unknown): string => (typeof value === 'string' ? value : '');
      const relations = records.map(({ id, fields, updatedAt }) => ({
        id,
        type: text(fields.type?.value),
        from: text(fields.parent?.value),
        to: text(fields.child?.value),
        updatedAt,
      }));
      return done({ relations, next, withheld });
    },
    async reclassified(ids) {
      const looks = await reading.readByIds(ITEMS, ids, [CLASS]);
      // an account that may not read the items as a whole sees no other class
      if (!looks.ok) return ['forbidden', 'not_found'].includes(looks.failure.code) ? done(new Map()) : looks;
      const classes = new Map<string, string>();
      for (const [id, look] of looks.value) {
        const name = look.kind === 'there' ? look.record.fields[CLASS]?.value : null;
        if (typeof name === 'string' && name !== '') classes.set(id, name);
      }
      return done(classes);
    },
    async deletionsSince(table, since) {
      const family = await description.familyOf(table);
      return family.ok ? readDeletions(reading, table, family.value, since) : family;
    },
    relationDeletionsSince: (since) => readDeletions(reading, RELATIONS, [RELATIONS], since),
    async relationsThere(ids) {
      const looks = await reading.readByIds(RELATIONS, ids, []);
      if (!looks.ok) return looks;
      return done(new Set(ids.filter((id) => looks.value.get(id)?.kind === 'there')));
    },
    testRights: (needs) => testRights(transport, reading, config, needs),
    clockAheadMs: transport.clockAheadMs,
    calls: transport.calls,
    close: () => outbound.close(),
  };
}

import type { Connector } from '../../../integrations/itsm/connectors/connector.ts';
import {
  connectServiceNow,
  type ServiceNowParts,
} from '../../../integrations/itsm/connectors/servicenow/servicenow.ts';
import { failureText, type Result } from '../../../integrations/itsm/remote.failures.ts';
import type { ServiceNowEmulator } from '../../emulators/servicenow/server.ts';
import { memoryLimiterStore } from '../../support/memory-limiter.ts';

/** A connection to an emulated instance on its clock, as its usual account. */
export function connect(
  instance: ServiceNowEmulator,
  config: Partial<ServiceNowParts['config']> = {},
  more: Partial<ServiceNowParts> = {},
) {
  return connectServiceNow({
    config: {
      url: instance.base,
      auth: { kind: 'basic', username: 'estate', password: 'secret' },
      ...config,
    },
    outboundAllow: ['127.0.0.1:*'],
    limits: memoryLimiterStore(),
    clock: instance.clock,
    random: () => 0.5,
    ...more,
  });
}

export type Connected = ReturnType<typeof connect>;

/** The value of a call that has to succeed. */
export async function value<T>(result: Promise<Result<T>>): Promise<T> {
  const got = await result;
  if (!got.ok) throw new Error(failureText(got.failure));
  return got.value;
}

/** The failure of a call that has to fail. */
export async function failure(result: Promise<Result<unknown>>) {
  const got = await result;
  if (got.ok) throw new Error('it did not fail');
  return got.failure;
}

/** All records of a table, page by page. */
export async function readAll(
  remote: Connector,
  table: string,
  limit: number,
  more: { fields?: string[]; filter?: string } = {},
) {
  const records = [];
  let withheld = false;
  let cursor: string | null = null;
  let pages = 0;
  do {
    const page: Awaited<ReturnType<typeof remote.readPage>> = await remote.readPage({
      table,
      fields: more.fields ?? ['name'],
      limit,
      cursor,
      ...(more.filter ? { filter: more.filter } : {}),
    });
    if (!page.ok) throw new Error(failureText(page.failure));
    records.push(...page.value.records);
    withheld ||= page.value.withheld;
    cursor = page.value.next;
    pages += 1;
  } while (cursor !== null);
  return { records, withheld, pages };
}

import { expect } from 'vitest';
import type { Connector } from '../../../../integrations/exchange/itsm/connectors/connector.ts';
import { pagesOf } from '../../../../integrations/exchange/itsm/connectors/responses.ts';
import {
  connectServiceNow,
  type ServiceNowParts,
} from '../../../../integrations/exchange/itsm/connectors/servicenow/servicenow.ts';
import { isRemoteError, type RemoteError } from '../../../../integrations/exchange/itsm/remote.ts';
import type { ServiceNowEmulator } from '../../../emulators/servicenow/server.ts';
import { memoryLimiterStore } from '../../../support/memory-limiter.ts';

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

/** The error of a call that has to fail. */
export async function failure(call: Promise<unknown>): Promise<RemoteError> {
  const error = await call.then(
    () => new Error('it did not fail'),
    (reason) => reason,
  );
  if (isRemoteError(error)) return error;
  throw error;
}

/** Requires that a call fails with a code, and with a text in its description. */
export async function expectError(call: Promise<unknown>, code: string, text = ''): Promise<void> {
  const { code: found, what } = await failure(call);
  expect([found, what]).toEqual([code, expect.stringContaining(text)]);
}

/** The code of the error of a call; undefined if it succeeds. */
export const codeOf = (call: Promise<unknown>): Promise<string | undefined> =>
  call.then(
    () => undefined,
    (error) => error.code,
  );

/** All records of a table, page by page. */
export async function readAll(
  remote: Connector,
  table: string,
  limit: number,
  more: { fields?: string[]; filter?: string } = {},
) {
  const request = { table, fields: ['name'], limit, ...more };
  const pages = await allPages((cursor) => remote.readPage({ ...request, cursor }));
  return {
    records: pages.flatMap(({ records }) => records),
    hasHiddenRows: pages.some((page) => page.hasHiddenRows),
    pages: pages.length,
  };
}

/** All pages of a paged read. */
export async function allPages<P extends { next: string | null }>(
  read: (cursor: string | null) => Promise<P>,
): Promise<P[]> {
  const pages: P[] = [];
  for await (const page of pagesOf(read)) pages.push(page);
  return pages;
}

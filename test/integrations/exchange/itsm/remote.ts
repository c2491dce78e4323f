import type { Connector } from '../../../../integrations/exchange/itsm/connectors/connector.ts';
import { connectItop, type ItopParts } from '../../../../integrations/exchange/itsm/connectors/itop/itop.ts';
import type { NetBoxParts } from '../../../../integrations/exchange/itsm/connectors/netbox/netbox.ts';
import { connectNetBox } from '../../../../integrations/exchange/itsm/connectors/netbox/netbox.ts';
import { pagesOf } from '../../../../integrations/exchange/itsm/connectors/responses.ts';
import {
  connectServiceNow,
  type ServiceNowParts,
} from '../../../../integrations/exchange/itsm/connectors/servicenow/servicenow.ts';
import type { Clock, RemoteError } from '../../../../integrations/exchange/itsm/remote.ts';
import { isRemoteError } from '../../../../integrations/exchange/itsm/remote.ts';
import type { ItopEmulator } from '../../../emulators/itop/server.ts';
import type { NetBox } from '../../../emulators/netbox/instance.ts';
import type { ServiceNowEmulator } from '../../../emulators/servicenow/server.ts';
import { memoryLimiterStore } from '../../../support/memory-limiter.ts';

/** What the connectors to emulated remotes share. */
export const partsOn = (clock: Clock) => ({
  outboundAllow: ['127.0.0.1:*'],
  limits: memoryLimiterStore(),
  clock,
  random: () => 0.5,
});
const auth = { kind: 'basic', username: 'estate', password: 'secret' } as const;

/** A connection to an emulated instance on its clock, as its usual account. */
export const connect = (
  { base: url, clock }: ServiceNowEmulator,
  config: Partial<ServiceNowParts['config']> = {},
  more: Partial<ServiceNowParts> = {},
) => connectServiceNow({ config: { url, auth, ...config }, ...partsOn(clock), ...more });

/** The same to an emulated iTop. */
export const connectToItop = (
  { base: url, clock, store: { timeZone } }: ItopEmulator,
  config: Partial<ItopParts['config']> = {},
) => connectItop({ config: { url, auth, timeZone, ...config }, ...partsOn(clock) });

/** The same to an emulated NetBox, by its usual token. */
export const connectToNetBox = ({ base: url, clock }: NetBox, config: Partial<NetBoxParts['config']> = {}) =>
  connectNetBox({ config: { url, token: 'nbt_estate.secret', ...config }, ...partsOn(clock) });

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

/** All records of a table or, with `since`, those that have changed, page by page. */
export async function readAll(
  remote: Connector,
  table: string,
  limit: number,
  { since, ...more }: { fields?: string[]; filter?: string; since?: string } = {},
) {
  const request = { table, fields: ['name'], limit, ...more };
  const pages = await allPages((cursor) =>
    since === undefined
      ? remote.readPage({ ...request, cursor })
      : remote.readSince({ ...request, since, cursor }),
  );
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

import type { ServerOptions } from 'node:https';
import { type Clock, systemClock } from '../../../integrations/exchange/itsm/remote.ts';
import { type Reaction, type Received, serveResponses } from '../http.ts';
import { holdBack, type VirtualClock } from '../virtual-clock.ts';
import { type CallKind, createFaults } from './faults.ts';
import type { NetBox } from './instance.ts';
import { serve } from './requests.ts';
import { Store, schema } from './store.ts';

const SLOW_MS = 120_000;
const hibernating = '<html><head><title>Maintenance</title></head><body>Back soon.</body></html>';

export type NetBoxOptions = { clock?: Clock | VirtualClock; tls?: ServerOptions };

const kinds: Record<string, CallKind> = {
  POST: 'create',
  PATCH: 'update',
  DELETE: 'delete',
  OPTIONS: 'options',
};

/** Starts an instance on loopback that knows the token `nbt_estate.secret`. */
export async function startNetBox(options: NetBoxOptions = {}): Promise<NetBox> {
  const clock = options.clock ?? systemClock;
  const { origin, close } = await serveResponses((received) => react(netbox, received), {
    tls: options.tls,
    now: () => clock.now(),
  });
  const netbox: NetBox = {
    base: origin,
    clock,
    version: '4.6',
    maxPageSize: 1_000,
    store: new Store(() => clock.now()),
    faults: createFaults(),
    hides: () => false,
    denied: new Set(),
    may: (table, action) => !netbox.denied.has(`${action} ${table}`),
    tokens: new Set(['Bearer nbt_estate.secret', `Token ${'a'.repeat(40)}`]),
    calls: [],
    close,
  };
  netbox.store.customFields.push({
    id: 1,
    name: 'estate_correlation',
    label: 'Estate',
    type: 'text',
    object_types: Object.values(schema).map(({ name }) => name),
  });
  return netbox;
}

async function react(netbox: NetBox, received: Received): Promise<Reaction> {
  const reaction = await answer(netbox, received);
  if (typeof reaction === 'string') return reaction;
  return { ...reaction, headers: { 'api-version': netbox.version, ...reaction.headers } };
}

async function answer(netbox: NetBox, { method, url, headers, body, gone }: Received): Promise<Reaction> {
  const path = url.pathname.replace(/^\/api\//, '').replace(/\/$/, '');
  const kind = kinds[method] ?? (/\/\d+$/.test(path) ? 'one' : 'list');
  netbox.calls.push({ kind, path, query: url.searchParams });
  const strikes = netbox.faults.call(kind);
  if (!netbox.tokens.has(headers.authorization ?? ''))
    return { status: 403, body: { detail: 'Invalid v2 token' } };
  if (strikes('limited_with_wait')) return { status: 429, headers: { 'retry-after': '7' }, body: {} };
  if (strikes('limited_without_wait')) return { status: 429, body: 'Too many requests' };
  if (strikes('server_error')) return { status: 500, body: { error: 'OperationalError' } };
  if (strikes('html_answer'))
    return { status: 200, headers: { 'content-type': 'text/html' }, body: hibernating };
  if (strikes('slow_page')) await holdBack(netbox.clock, SLOW_MS, gone);
  const ifMatch = headers['if-match'];
  const given = serve(netbox, { method, path, query: url.searchParams, body, ifMatch });
  if (strikes('reset_after_write')) return 'reset';
  const { results = [] } = (given.body ?? {}) as { results?: { id: number }[] };
  if (kind === 'list' && given.status === 200) {
    if (results.length > 1 && strikes('duplicate_ids')) results.splice(1, 0, results[0]!);
    if (results.length > 2 && schema[path] && strikes('rows_between_pages')) {
      netbox.store.remove(path, results[0]!.id);
      netbox.store.update(path, results[1]!.id, { description: 'changed' });
      netbox.store.insert(path, { name: `arrived ${netbox.calls.length}` });
    }
  }
  return { ...given, isCut: given.body !== undefined && strikes('truncated_json') };
}

/** Gives every object the same time of change. */
export function levelTimes({ store }: NetBox): void {
  const at = store.moment();
  for (const rows of store.tables.values()) for (const row of rows.values()) row.at = at;
}

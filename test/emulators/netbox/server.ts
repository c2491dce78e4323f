import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServerOptions } from 'node:https';
import { text } from 'node:stream/consumers';
import { type Clock, systemClock } from '../../../integrations/exchange/itsm/remote.ts';
import { serveOnLoopback } from '../../support/loopback.ts';
import type { VirtualClock } from '../virtual-clock.ts';
import { type CallKind, Faults } from './faults.ts';
import type { NetBox } from './instance.ts';
import { type Answer, serve } from './requests.ts';
import { schema } from './schema.ts';
import { Store } from './store.ts';

const SLOW_MS = 120_000;
const hibernating = '<html><head><title>Maintenance</title></head><body>Back soon.</body></html>';

export interface NetBoxOptions {
  clock?: Clock | VirtualClock;
  version?: string;
  maxPageSize?: number;
  tls?: ServerOptions;
}

const kinds: Record<string, CallKind> = {
  POST: 'create',
  PATCH: 'update',
  DELETE: 'delete',
  OPTIONS: 'options',
};

/** Starts an instance on loopback that knows the token `nbt_estate.secret`. */
export async function startNetBox(options: NetBoxOptions = {}): Promise<NetBox> {
  const clock = options.clock ?? systemClock;
  const { origin, close } = await serveOnLoopback(
    (request, response) => receive(netbox, request, response),
    options.tls,
  );
  const netbox: NetBox = {
    base: origin,
    clock,
    version: options.version ?? '4.6',
    maxPageSize: options.maxPageSize ?? 1_000,
    store: new Store(() => clock.now()),
    faults: new Faults(),
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

async function receive(netbox: NetBox, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const url = new URL(incoming.url!, 'http://netbox');
  const path = url.pathname.replace(/^\/api\//, '').replace(/\/$/, '');
  const method = incoming.method!;
  const kind = kinds[method] ?? (/\/\d+$/.test(path) ? 'one' : 'list');
  const body = await text(incoming);
  netbox.calls.push({ kind, path, query: url.searchParams });
  const befallen = netbox.faults.of(kind);
  const strikes = (fault: Parameters<Faults['note']>[0]): boolean => {
    if (!befallen.has(fault)) return false;
    netbox.faults.note(fault);
    return true;
  };
  const send = ({ status, headers, body: content }: Answer, cut = false): void => {
    const whole =
      content === undefined ? '' : typeof content === 'string' ? content : JSON.stringify(content);
    const bytes = Buffer.from(cut ? whole.slice(0, Math.floor(whole.length * 0.6)) : whole);
    response
      .writeHead(status, {
        date: new Date(netbox.clock.now()).toUTCString(),
        'api-version': netbox.version,
        ...(content === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
        'content-length': bytes.length,
      })
      .end(bytes);
  };
  if (!netbox.tokens.has(incoming.headers.authorization ?? ''))
    return send({ status: 403, body: { detail: 'Invalid v2 token' } });
  if (strikes('limited_with_wait')) return send({ status: 429, headers: { 'retry-after': '7' }, body: {} });
  if (strikes('limited_without_wait')) return send({ status: 429, body: 'Too many requests' });
  if (strikes('server_error')) return send({ status: 500, body: { error: 'OperationalError' } });
  if (strikes('html_answer'))
    return send({ status: 200, headers: { 'content-type': 'text/html' }, body: hibernating });
  if (strikes('slow_page')) {
    const { clock } = netbox;
    await ((clock as Partial<VirtualClock>).hold?.(SLOW_MS, gone.signal) ??
      clock.sleep(SLOW_MS, gone.signal));
  }
  const asked = { method, path, query: url.searchParams, body, ifMatch: incoming.headers['if-match'] };
  const answer = serve(netbox, asked);
  if (strikes('reset_after_write')) {
    incoming.socket.destroy();
    return;
  }
  if (kind === 'list' && answer.status === 200) {
    const { results } = answer.body as { results?: { id: number }[] };
    if (results && results.length > 1 && strikes('duplicate_ids')) results.splice(1, 0, results[0]!);
    if (results && results.length > 2 && schema[path] && strikes('rows_between_pages')) {
      netbox.store.remove(path, results[0]!.id);
      netbox.store.update(path, results[1]!.id, { description: 'changed' });
      netbox.store.insert(path, { name: `arrived ${netbox.calls.length}` });
    }
  }
  send(answer, answer.body !== undefined && strikes('truncated_json'));
}

/** Gives every object the same time of change. */
export function levelTimes({ store }: NetBox): void {
  const at = store.moment();
  for (const rows of store.tables.values()) for (const row of rows.values()) row.at = at;
}

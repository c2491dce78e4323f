import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { batchCall } from './batch-api.ts';
import type { Call, CallKind } from './calls.ts';
import { type Answer, failure, type Request } from './http.ts';
import { importCall } from './import-api.ts';
import type { Instance } from './instance.ts';
import { Misbehaviour, refusals } from './misbehaviour.ts';
import { reconcileCall } from './reconcile-api.ts';
import { tableCall } from './table-api.ts';
import type { Account } from './users.ts';

interface Route {
  kind: CallKind;
  table: string;
  id: string | undefined;
}

const tableKinds: Record<string, CallKind> = {
  POST: 'create',
  PUT: 'update',
  PATCH: 'update',
  DELETE: 'delete',
};

function routeOf({ method, path }: Request): Route | undefined {
  if (path === '/oauth_token.do') return { kind: 'token', table: '', id: undefined };
  const [, api, now, ...rest] = path.split('/');
  if (api !== 'api' || now !== 'now') return undefined;
  const [what, table = '', id] = /^v\d+$/.test(rest[0] ?? '') ? rest.slice(1) : rest;
  switch (what) {
    case 'table':
      return { kind: tableKinds[method] ?? (id ? 'one' : 'list'), table, id };
    case 'import':
      return { kind: 'import', table, id: undefined };
    case 'identifyreconcile':
      return { kind: 'reconcile', table: '', id: undefined };
    case 'batch':
      return { kind: 'batch', table: '', id: undefined };
    default:
      return undefined;
  }
}

/** Answers one request, or fails to where a fault wants it so. */
export async function receive(
  instance: Instance,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const url = new URL(incoming.url!, 'http://instance');
  const request: Request = {
    method: incoming.method!,
    path: url.pathname,
    query: url.searchParams,
    body: await text(incoming),
  };
  const route = routeOf(request);
  const call: Call = {
    kind: route?.kind ?? 'one',
    table: route?.table ?? '',
    user: '',
    at: instance.clock.now(),
    status: 0,
    query: url.searchParams.get('sysparm_query') ?? '',
  };
  instance.calls.push(call);
  instance.watch?.(call);
  if (!route) return send(instance, call, response, nowhere(request));
  if (route.kind === 'token') {
    const answer = instance.oauth.answer(incoming.headers['content-type'] ?? '', request.body);
    return send(instance, call, response, answer);
  }

  const misbehaviour = new Misbehaviour(instance, call);
  const account = misbehaviour.forgets() ? undefined : accountOf(instance, incoming.headers.authorization);
  if (!account) return send(instance, call, response, refusals.unauthenticated);
  call.user = account.userName;
  const rate = instance.rate.take(account.userName);
  if (!rate.allowed) {
    return send(instance, call, response, { ...refusals.limited, headers: rate.headers });
  }
  const instead = misbehaviour.instead() ?? instance.instead?.(call);
  if (instead) return send(instance, call, response, instead);

  const { latency } = instance;
  const isRead = route.kind === 'list' || route.kind === 'one';
  const usual = isRead ? latency[route.kind as 'list' | 'one'] : latency.write;
  const wait = misbehaviour.delay() ?? usual;
  if (wait > 0) await instance.hold(wait, gone.signal);
  misbehaviour.restrict(account);
  const answer = await serve(instance, account, request);
  if (route.kind === 'list') noteLook(instance, answer);
  answer.headers = { ...answer.headers, ...rate.headers };
  if (misbehaviour.losesAnswer()) {
    incoming.socket.destroy();
    return;
  }
  if (!isRead && latency.answer > 0) await instance.hold(latency.answer, gone.signal);
  misbehaviour.alter(answer);
  send(instance, call, response, answer, misbehaviour.cuts(answer));
}

/** Keeps when somebody looked at one record alone. */
function noteLook(instance: Instance, { body }: Answer): void {
  const { result } = (body ?? {}) as { result?: { sys_id?: string | { value: string } }[] };
  const id = Array.isArray(result) && result.length === 1 ? result[0]!.sys_id : undefined;
  if (id) instance.looks.set(typeof id === 'string' ? id : id.value, instance.writes.length);
}

async function serve(instance: Instance, account: Account, request: Request): Promise<Answer> {
  const route = routeOf(request);
  switch (route?.kind) {
    case undefined:
    case 'token':
      return nowhere(request);
    case 'import':
      return importCall(instance, account, request, route!.table);
    case 'reconcile':
      return reconcileCall(instance, account, request);
    case 'batch':
      if (!instance.batch) return nowhere(request);
      return batchCall(request, (inner) => serve(instance, account, inner));
    default:
      return tableCall(instance, account, request, route!.table, route!.id);
  }
}

const nowhere = ({ path }: Request): Answer =>
  failure(400, 'Requested URI does not represent any resource', path);

function accountOf({ accounts, oauth }: Instance, authorization = ''): Account | undefined {
  const [scheme = '', credentials = ''] = authorization.split(' ');
  if (scheme.toLowerCase() === 'bearer') return accounts.get(oauth.userOf(credentials) ?? '');
  const [user = '', ...password] = Buffer.from(credentials, 'base64').toString().split(':');
  const account = accounts.get(user);
  return account?.password === password.join(':') ? account : undefined;
}

function send(
  instance: Instance,
  call: Call,
  response: ServerResponse,
  { status, headers, body }: Answer,
  cut = false,
): void {
  call.status = status;
  const whole = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
  const content = Buffer.from(cut ? whole.slice(0, Math.floor(whole.length * 0.6)) : whole);
  response
    .writeHead(status, {
      date: new Date(instance.store.now()).toUTCString(),
      ...(body === undefined ? {} : { 'content-type': 'application/json;charset=UTF-8' }),
      ...headers,
      'content-length': content.length,
    })
    .end(content);
}

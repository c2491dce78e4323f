import type { Reaction, Received, Response } from '../http.ts';
import { holdBack } from '../virtual-clock.ts';
import { importCall, reconcileCall } from './creating-apis.ts';
import type { CallKind, Fault } from './faults.ts';
import { failure, type Request } from './http.ts';
import { type Call, ELSEWHERE, type Instance, write } from './instance.ts';
import { tableCall } from './table-api.ts';
import type { Account } from './users.ts';

/** How long a slow page is held back, in milliseconds. */
const SLOW_MS = 120_000;

/** Answers in the words of the product. */
const unauthenticated = {
  ...failure(401, 'User Not Authenticated', 'Required to provide Auth information'),
  headers: { 'www-authenticate': 'BASIC realm="Service-now"' },
};
const limited = failure(429, 'Rate limit exceeded', 'Rejected by rate limiting rule');
const cancelled = failure(
  200,
  'Transaction cancelled: maximum execution time exceeded',
  'Transaction cancelled: maximum execution time exceeded Check logs for error trace or enable glide.rest.debug property to verify REST request processing',
);
const hibernating =
  '<html><head><title>Instance Hibernating page</title></head><body>Your instance is hibernating.</body></html>';

type Route = { kind: CallKind; table: string; id: string | undefined };

const tableKinds: Record<string, CallKind> = { POST: 'create', PATCH: 'update', DELETE: 'delete' };

function routeOf({ method, path }: Request): Route | undefined {
  if (path === '/oauth_token.do') return { kind: 'token', table: '', id: undefined };
  const [, api, now, ...rest] = path.split('/');
  if (api !== 'api' || now !== 'now') return undefined;
  const [what, table = '', id] = /^v\d+$/.test(rest[0] ?? '') ? rest.slice(1) : rest;
  switch (what) {
    case 'table':
      return { kind: tableKinds[method] ?? 'list', table, id };
    case 'import':
      return { kind: 'import', table, id: undefined };
    case 'identifyreconcile':
      return { kind: 'reconcile', table: '', id: undefined };
    default:
      return undefined;
  }
}

/** Answers one request, or fails to where a fault wants it so. */
export async function receive(instance: Instance, received: Received): Promise<Reaction> {
  const { method, url, body } = received;
  const request: Request = { method, path: url.pathname, query: url.searchParams, body };
  const route = routeOf(request);
  const call: Call = {
    kind: route?.kind ?? 'list',
    table: route?.table ?? '',
    user: '',
    at: instance.clock.now(),
    status: 0,
    query: url.searchParams.get('sysparm_query') ?? '',
  };
  instance.calls.push(call);
  instance.watch?.(call);
  const reaction = await answer(instance, received, request, route, call);
  if (typeof reaction === 'object') call.status = reaction.status;
  return reaction;
}

async function answer(
  instance: Instance,
  { headers, gone }: Received,
  request: Request,
  route: Route | undefined,
  call: Call,
): Promise<Reaction> {
  const { clock, latency } = instance;
  if (!route) return failure(400, 'Requested URI does not represent any resource', request.path);
  if (route.kind === 'token') return instance.oauth.answer(headers['content-type'] ?? '', request.body);
  const strikes = instance.faults.call(call.kind, call.table);
  if (strikes('token_expired')) instance.oauth.expireAll();
  const account = strikes('unauthorised') ? undefined : accountOf(instance, headers.authorization);
  if (!account) return unauthenticated;
  call.user = account.userName;
  const rate = instance.rate.take(account.userName);
  if (!rate.allowed) return { ...limited, headers: rate.headers };
  const instead = refusal(strikes) ?? instance.instead?.(call);
  if (instead) return instead;

  const isRead = route.kind === 'list';
  const wait = strikes('slow_page') ? SLOW_MS : isRead ? latency.list : latency.write;
  if (wait > 0) await holdBack(clock, wait, gone);
  if (strikes('acl_change')) restrict(instance, account);
  const given = serve(instance, account, request, route);
  if (strikes('reset_after_write')) return 'reset';
  if (!isRead && latency.answer > 0) await holdBack(clock, latency.answer, gone);
  if (isRead && given.status === 200) alterPage(instance, call, given, strikes);
  const isCut = given.body !== undefined && strikes('truncated_json');
  return { ...given, headers: { ...given.headers, ...rate.headers }, isCut };
}

/** What is answered without anything being done. */
function refusal(strikes: (fault: Fault) => boolean): Response | undefined {
  if (strikes('limited_with_wait')) return { ...limited, headers: { 'retry-after': '7' } };
  if (strikes('limited_without_wait')) return limited;
  if (strikes('server_error')) return failure(500, 'java.lang.NullPointerException', null);
  if (strikes('html_answer'))
    return { status: 200, headers: { 'content-type': 'text/html;charset=UTF-8' }, body: hibernating };
  return undefined;
}

/** From now on a sixteenth of the configuration items and one column are hidden from the account. */
function restrict({ store }: Instance, account: Account): void {
  account.hidesRow = (row) => store.instanceOf(row.table, 'cmdb') && row.values.sys_id!.endsWith('7');
  account.hidesField = (_table, field) => field === 'short_description';
}

function serve(instance: Instance, account: Account, request: Request, { kind, table, id }: Route): Response {
  if (kind === 'import') return importCall(instance, account, request, table);
  if (kind === 'reconcile') return reconcileCall(instance, account, request);
  return tableCall(instance, account, request, table, id);
}

type Page = { result: { sys_id?: string }[] };

const idOf = ({ sys_id = '' }: Page['result'][number]): string => sys_id;

/** Changes a page, and what lies behind it for the next. */
function alterPage(
  instance: Instance,
  { table }: Call,
  answer: Response,
  strikes: (fault: Fault) => boolean,
): void {
  const { result } = answer.body as Page;
  // when somebody looked at one record alone
  if (result.length === 1 && idOf(result[0]!)) instance.looks.set(idOf(result[0]!), instance.writes.length);
  if (result.length > 1 && strikes('duplicate_ids')) result.splice(1, 0, result[0]!);
  const { repeats } = instance;
  if (repeats && repeats.table === table && repeats.pages > 0 && result.length > 1) {
    repeats.pages -= 1;
    result[1] = result[0]!;
  }
  if (result.length > 2 && strikes('rows_between_pages')) shuffle(instance, table, result);
  if (strikes('error_after_part'))
    answer.body = { ...(cancelled.body as object), result: result.slice(0, Math.ceil(result.length / 2)) };
}

/** After a page a row on it is deleted, one changes, and one is created anywhere among those read and unread. */
function shuffle(instance: Instance, table: string, result: Page['result']): void {
  const { store } = instance;
  if (!store.instanceOf(table, 'cmdb')) return;
  const [gone, changed] = result.flatMap((row) => store.rows.get(idOf(row)) ?? []);
  const mark = `after call ${instance.calls.length}`;
  if (gone) write.remove(instance, gone, ELSEWHERE);
  if (changed) write.update(instance, changed, { short_description: `changed ${mark}` }, ELSEWHERE);
  write.insert(instance, table, { name: `arrived ${mark}` }, ELSEWHERE);
}

function accountOf({ accounts, oauth }: Instance, authorization = ''): Account | undefined {
  const [scheme = '', credentials = ''] = authorization.split(' ');
  if (scheme.toLowerCase() === 'bearer') return accounts.get(oauth.userOf(credentials) ?? '');
  const [user = '', ...password] = Buffer.from(credentials, 'base64').toString().split(':');
  const account = accounts.get(user);
  return account?.password === password.join(':') ? account : undefined;
}

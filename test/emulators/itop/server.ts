import type { IncomingHttpHeaders } from 'node:http';
import type { ServerOptions } from 'node:https';
import { type Clock, systemClock } from '../../../integrations/exchange/itsm/remote.ts';
import { type Reaction, type Received, serveResponses } from '../http.ts';
import { holdBack, type VirtualClock } from '../virtual-clock.ts';
import { type CallKind, createFaults, type Faults } from './faults.ts';
import { type Account, type Asked, type Response, Service, type Write } from './service.ts';
import { type Item, Store } from './store.ts';

/** How long a slow page is held back, in milliseconds. */
const SLOW_MS = 120_000;
/** Who changes objects behind the caller's back. */
const ELSEWHERE = 'Claude Monet';

export interface Options {
  clock?: Clock | VirtualClock;
  /** The zone of PHP, of times in answers; Europe/Paris unless given. */
  timeZone?: string;
  accounts?: (Partial<Account> & { login: string })[];
  tls?: ServerOptions;
}

export interface ItopEmulator {
  /** The address with the path that iTop lies under. */
  base: string;
  clock: Clock;
  store: Store;
  accounts: Map<string, Account>;
  faults: Faults;
  /** What the fault `database_error` answers: an exception of the database passes its number on as the code. */
  databaseError: { code: number; message: string };
  writes: Write[];
  /** What was asked, in order. */
  asked: Asked[];
  /** Called with each operation before it is answered. */
  watch?: ((asked: Asked) => void) | undefined;
  /** Acts as somebody else on the instance, as a person with a browser would. */
  elsewhere: {
    insert(className: string, values: Item['values']): Item;
    update(item: Item, values: Item['values']): void;
    remove(item: Item): void;
  };
  close(): Promise<void>;
}

const kinds: Record<string, CallKind> = {
  'core/create': 'create',
  'core/update': 'update',
  'core/delete': 'delete',
};

/** An exception of the database in the words of the product. */
export const databaseMessage = (code: number, text: string): string =>
  `Failed to issue SQL query: query = SELECT 1, mysql_errno = ${code}, mysql_error = ${text}`;

/** Starts an instance of its own on loopback, with one account `estate`/`secret` unless others are given. */
export async function startItop(options: Options = {}): Promise<ItopEmulator> {
  const clock = options.clock ?? systemClock;
  const store = new Store(clock, options.timeZone ?? 'Europe/Paris');
  const service = new Service(store);
  const accounts = new Map(
    (options.accounts ?? [{ login: 'estate' }]).map((given) => [
      given.login,
      { password: 'secret', denied: new Set<string>(), ...given },
    ]),
  );
  const { origin, close } = await serveResponses((received) => receive(emulator, service, received), {
    tls: options.tls,
    now: () => clock.now(),
  });
  const emulator: ItopEmulator = {
    base: `${origin}/itop`,
    clock,
    store,
    accounts,
    faults: createFaults(),
    databaseError: { code: 2006, message: databaseMessage(2006, 'MySQL server has gone away') },
    writes: service.writes,
    asked: [],
    elsewhere: {
      insert: (className, values) => store.insert(className, values, ELSEWHERE),
      update: (item, values) => void store.update(item, values, ELSEWHERE),
      remove: (item) => store.remove(item, ELSEWHERE),
    },
    close,
  };
  return emulator;
}

async function receive(emulator: ItopEmulator, service: Service, received: Received): Promise<Reaction> {
  const { url, headers, body, gone } = received;
  if (url.pathname !== '/itop/webservices/rest.php') return { status: 404, body: '<h1>Not Found</h1>' };
  const refuse = (code: number, message: string): Reaction => ({
    status: 200,
    body: { code, message: `Error: ${message}` },
  });

  const asked = JSON.parse(new URLSearchParams(body).get('json_data') ?? '{}') as Asked;
  emulator.asked.push(asked);
  emulator.watch?.(asked);
  const kind = kinds[asked.operation] ?? 'get';
  const strikes = emulator.faults.call(kind);
  const account = strikes('unauthorised') ? undefined : accountOf(emulator, headers);
  if (!account) return refuse(1, 'Invalid login');
  if (strikes('limited')) return { status: 429, headers: { 'retry-after': '7' }, body: 'Too Many Requests' };
  if (strikes('server_error')) return { status: 500, body: '' };
  if (strikes('database_error')) return refuse(emulator.databaseError.code, emulator.databaseError.message);
  if (strikes('html_answer'))
    return {
      status: 200,
      headers: { 'content-type': 'text/html; charset=UTF-8' },
      body: '<!DOCTYPE html><html><body>iTop is under maintenance</body></html>',
    };
  if (strikes('slow_page')) await holdBack(emulator.clock, SLOW_MS, gone);
  const answer = service.answer(account, asked);
  if (strikes('reset_after_write')) return 'reset';
  if (kind === 'get' && Object.keys(answer.objects ?? {}).length > 2 && strikes('rows_between_pages'))
    shuffle(emulator, asked, answer);
  if (answer.code === 0 && strikes('refused_after_write'))
    return refuse(100, 'The trigger could not be activated');
  return { status: 200, body: answer, isCut: strikes('truncated_json') };
}

/** After a page an object on it is deleted, one changes its name, and one is created. */
function shuffle(emulator: ItopEmulator, { class: className = '' }: Asked, answer: Response): void {
  if (className !== 'Server') return;
  const [gone, changed] = Object.keys(answer.objects ?? {}).map((id) =>
    emulator.store.find(className, Number(id.split('::')[1])),
  );
  const org = gone!.values.org_id!;
  emulator.elsewhere.remove(gone!);
  emulator.elsewhere.update(changed!, { name: `zz renamed ${emulator.asked.length}` });
  emulator.elsewhere.insert(className, { name: `arrived ${emulator.asked.length}`, org_id: org });
}

function accountOf({ accounts }: ItopEmulator, headers: IncomingHttpHeaders): Account | undefined {
  const token = headers['auth-token'];
  if (token !== undefined) return [...accounts.values()].find((account) => account.token === token);
  const [scheme, credentials = ''] = (headers.authorization ?? '').split(' ');
  if (scheme !== 'Basic') return undefined;
  const [login = '', ...password] = Buffer.from(credentials, 'base64').toString().split(':');
  const account = accounts.get(login);
  return account?.password === password.join(':') ? account : undefined;
}

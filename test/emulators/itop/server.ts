import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServerOptions } from 'node:https';
import { text } from 'node:stream/consumers';
import { type Clock, systemClock } from '../../../integrations/exchange/itsm/remote.ts';
import { serveOnLoopback } from '../../support/loopback.ts';
import type { VirtualClock } from '../virtual-clock.ts';
import { type CallKind, type Fault, Faults } from './faults.ts';
import { type Account, type Answer, type Asked, Service, type Write } from './service.ts';
import { type Item, Store } from './store.ts';

/** How long a slow page is held back, in milliseconds. */
const SLOW_MS = 120_000;
/** Who changes objects behind the caller's back. */
const ELSEWHERE = 'Claude Monet';

export interface Options {
  clock?: Clock | VirtualClock;
  /** The zone of PHP, that the instance tells times in; Europe/Paris unless given. */
  timeZone?: string;
  /** The zone of its database; UTC unless given. */
  databaseZone?: string;
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
  /** Is told of each operation before it is answered. */
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
  const store = new Store(clock, options.timeZone ?? 'Europe/Paris', options.databaseZone ?? 'UTC');
  const service = new Service(store);
  const accounts = new Map(
    (options.accounts ?? [{ login: 'estate' }]).map((given) => [
      given.login,
      { password: 'secret', denied: new Set<string>(), ...given },
    ]),
  );
  const { origin, close } = await serveOnLoopback(
    (request, response) => receive(emulator, service, request, response),
    options.tls,
  );
  const emulator: ItopEmulator = {
    base: `${origin}/itop`,
    clock,
    store,
    accounts,
    faults: new Faults(),
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

async function receive(
  emulator: ItopEmulator,
  service: Service,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { clock, faults } = emulator;
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const body = new URLSearchParams(await text(incoming));
  const send = (status: number, content: string, headers: Record<string, string> = {}): void => {
    response
      .writeHead(status, {
        date: new Date(clock.now()).toUTCString(),
        'content-type': 'application/json',
        ...headers,
        'content-length': Buffer.byteLength(content),
      })
      .end(content);
  };
  if (!incoming.url?.startsWith('/itop/webservices/rest.php?')) return send(404, '<h1>Not Found</h1>');

  const asked = JSON.parse(body.get('json_data') ?? '{}') as Asked;
  emulator.asked.push(asked);
  emulator.watch?.(asked);
  const kind = kinds[asked.operation] ?? 'get';
  const befallen = faults.of(kind);
  const strikes = (fault: Fault): boolean => {
    if (!befallen.has(fault)) return false;
    faults.note(fault);
    return true;
  };
  const account = strikes('unauthorised') ? undefined : accountOf(emulator, incoming);
  if (!account) return send(200, JSON.stringify({ code: 1, message: 'Error: Invalid login' }));
  if (strikes('limited')) return send(429, 'Too Many Requests', { 'retry-after': '7' });
  if (strikes('server_error')) return send(500, '');
  if (strikes('database_error')) {
    const { code, message } = emulator.databaseError;
    return send(200, JSON.stringify({ code, message: `Error: ${message}` }));
  }
  if (strikes('html_answer')) {
    return send(200, '<!DOCTYPE html><html><body>iTop is under maintenance</body></html>', {
      'content-type': 'text/html; charset=UTF-8',
    });
  }
  if (strikes('slow_page')) {
    await ((clock as Partial<VirtualClock>).hold?.(SLOW_MS, gone.signal) ??
      clock.sleep(SLOW_MS, gone.signal));
  }
  const answer = service.answer(account, asked);
  if (strikes('reset_after_write')) {
    incoming.socket.destroy();
    return;
  }
  if (kind === 'get' && Object.keys(answer.objects ?? {}).length > 2 && strikes('rows_between_pages')) {
    shuffle(emulator, asked, answer);
  }
  if (answer.code === 0 && strikes('refused_after_write')) {
    return send(200, JSON.stringify({ code: 100, message: 'Error: The trigger could not be activated' }));
  }
  const content = JSON.stringify(answer);
  send(200, strikes('truncated_json') ? content.slice(0, Math.floor(content.length * 0.6)) : content);
}

/** After a page an object on it goes, one changes its name, and one comes. */
function shuffle(emulator: ItopEmulator, { class: className = '' }: Asked, answer: Answer): void {
  if (className !== 'Server') return;
  const [gone, changed] = Object.keys(answer.objects ?? {}).map((id) =>
    emulator.store.find(className, Number(id.split('::')[1])),
  );
  const org = gone!.values.org_id!;
  emulator.elsewhere.remove(gone!);
  emulator.elsewhere.update(changed!, { name: `zz renamed ${emulator.asked.length}` });
  emulator.elsewhere.insert(className, { name: `arrived ${emulator.asked.length}`, org_id: org });
}

function accountOf({ accounts }: ItopEmulator, { headers }: IncomingMessage): Account | undefined {
  const token = headers['auth-token'];
  if (token !== undefined) return [...accounts.values()].find((account) => account.token === token);
  const [scheme, credentials = ''] = (headers.authorization ?? '').split(' ');
  if (scheme !== 'Basic') return undefined;
  const [login = '', ...password] = Buffer.from(credentials, 'base64').toString().split(':');
  const account = accounts.get(login);
  return account?.password === password.join(':') ? account : undefined;
}

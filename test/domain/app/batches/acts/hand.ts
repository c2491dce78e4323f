import { mulberry32 } from '../../../../bench/landscape/random.ts';
import { form } from '../../../../support/forms.ts';
import type { TestApp, TestClient } from '../../../../support/harness.ts';

export type Values = Record<string, unknown>;
export type Row = Record<string, string>;

/** A random writer's hand: choices that follow from one seed, and requests that join a batch. */
export interface Hand {
  t: TestApp;
  client: TestClient;
  /** People to assign things to, and to address. */
  people: string[];
  /** A whole number below `n`. */
  below(n: number): number;
  chance(share: number): boolean;
  one<T>(list: readonly T[]): T;
  some<T>(list: readonly T[], most: number): T[];
  /** A name that nothing has. */
  name(what?: string): string;
  /** One row of a table, or undefined when there is none. */
  row(table: string, where?: string): Promise<Row | undefined>;
  rows(table: string, where?: string): Promise<Row[]>;
  /** Sends a write; refusals are part of it. */
  send(method: Method, path: string, body?: unknown): Promise<void>;
  /** Sends a file. */
  upload(path: string, filename: string, content: Buffer | string): Promise<void>;
}

type Method = 'POST' | 'PATCH' | 'PUT' | 'DELETE';

/** One random write. */
export interface Act {
  (hand: Hand): Promise<void>;
  /** Whether it takes something away. */
  removes?: true;
}
/** Writes, with how often each is chosen. */
export type Acts = [Act, number][];

type Sent = [method: Method, path: string, body?: unknown];
/** Sends what `what` makes of a row of a table, or nothing when there is no row. */
export const onRow =
  (table: string, what: (row: Row, hand: Hand) => Sent | Promise<Sent>, where?: string): Act =>
  async (hand) => {
    const row = await hand.row(table, where);
    if (row) await hand.send(...(await what(row, hand)));
  };
/** Changes a row. */
export const patches = (table: string, path: string, values: (hand: Hand) => object, where?: string): Act =>
  onRow(table, ({ id }, hand) => ['PATCH', `${path}/${id}`, values(hand)], where);
/** Marks a write that takes something away. */
export const removing = (act: Act): Act => Object.assign(act, { removes: true as const });
/** Deletes a row. */
export const deletes = (table: string, path: string): Act =>
  removing(onRow(table, ({ id }) => ['DELETE', `${path}/${id}`]));

/** What became of the requests. */
export interface Tally {
  done: number;
  refused: number;
  /** The request that was sent last. */
  last: string;
}

/** A hand whose writes join what `headers` names. @throws Error for an answer that is a fault of the service. */
export function createHand(
  t: TestApp,
  client: TestClient,
  people: string[],
  seed: number,
  tally: Tally,
  headers: () => Record<string, string>,
): Hand {
  const next = mulberry32(seed);
  let names = 0;
  const below = (n: number) => Math.floor(next() * n);
  const request = async (method: Method, path: string, more: object, told: string) => {
    tally.last = told;
    const answer = await client.request({ method, url: `/api/v1${path}`, ...more });
    if (answer.status >= 500) throw new Error(`${told}: ${answer.status} ${answer.text}`);
    if (answer.status < 300) tally.done += 1;
    else tally.refused += 1;
  };
  const rows = async (table: string, where = 'true'): Promise<Row[]> => {
    const { rows: found } = await t.services.db.raw(
      `select to_jsonb(t) as row from ${table} t where ${where} order by to_jsonb(t)::text`,
    );
    return found.map(({ row }: { row: Row }) => row);
  };
  return {
    t,
    client,
    people,
    below,
    chance: (share) => next() < share,
    one: (list) => list[below(list.length)]!,
    some: (list, most) => list.filter(() => next() < most / Math.max(list.length, most)).slice(0, most),
    name(what = 'Thing') {
      names += 1;
      return `${what} ${seed} ${names}`;
    },
    rows,
    async row(table, where) {
      const found = await rows(table, where);
      return found[below(found.length)];
    },
    send(method, path, body) {
      const payload = JSON.stringify(body);
      const more = payload === undefined ? {} : { 'content-type': 'application/json' };
      const options = { headers: { ...headers(), ...more }, payload };
      return request(method, path, options, `${method} ${path} ${payload ?? ''}`);
    },
    upload(path, filename, content) {
      const sent = form({ filename, content });
      const options = { ...sent, headers: { ...headers(), ...sent.headers } };
      return request('POST', path, options, `POST ${path} ${filename}`);
    },
  };
}

import { mulberry32 } from '../../../../bench/landscape/random.ts';
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
  send(method: 'POST' | 'PATCH' | 'PUT' | 'DELETE', path: string, body?: unknown): Promise<void>;
  /** Sends a file. */
  upload(path: string, filename: string, content: Buffer | string): Promise<void>;
}

/** One random write. */
export type Act = (hand: Hand) => Promise<void>;

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
  const request = async (
    method: 'POST' | 'PATCH' | 'PUT' | 'DELETE',
    path: string,
    more: object,
    told: string,
  ) => {
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
    send: (method, path, body) =>
      request(
        method,
        path,
        body === undefined
          ? { headers: headers() }
          : {
              headers: { ...headers(), 'content-type': 'application/json' },
              payload: JSON.stringify(body),
            },
        `${method} ${path} ${JSON.stringify(body) ?? ''}`,
      ),
    upload(path, filename, content) {
      const boundary = 'boundary-of-the-test';
      const payload = Buffer.concat([
        Buffer.from(
          `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${filename}"\r\n\r\n`,
        ),
        Buffer.from(content),
        Buffer.from(`\r\n--${boundary}--\r\n`),
      ]);
      const type = { 'content-type': `multipart/form-data; boundary=${boundary}` };
      return request(
        'POST',
        path,
        { headers: { ...headers(), ...type }, payload },
        `POST ${path} ${filename}`,
      );
    },
  };
}

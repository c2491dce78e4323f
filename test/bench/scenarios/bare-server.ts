import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import pg from 'pg';

/** One query of a page; a second one takes the ids that the first has found as its first binding. */
export interface BareQuery {
  name?: string;
  text: string;
  values: unknown[];
}

/** What the bare server serves: for each path the queries of the service's own answer. */
export interface BareServerInput {
  databaseUrl: string;
  paths: Record<string, BareQuery[]>;
}

/**
 * The floor of reading: node:http and pg, and nothing else. Runs the service's own queries and sends the JSON that
 * PostgreSQL has built.
 */
function serveBare({ databaseUrl, paths }: BareServerInput): void {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 16, application_name: 'bench floor' });
  const answer = async (queries: BareQuery[]): Promise<string> => {
    let rows: Record<string, string>[] = [];
    for (const [at, query] of queries.entries()) {
      const values = at === 0 ? query.values : [rows.map(({ id }) => id), ...query.values.slice(1)];
      ({ rows } = await pool.query({ ...query, values }));
    }
    return rows[0]!.items ?? rows[0]!.item!;
  };
  const server = createServer((request, response) => {
    answer(paths[request.url!]!).then(
      (text) => response.setHeader('content-type', 'application/json; charset=utf-8').end(text),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  server.listen(0, '127.0.0.1', () => {
    console.log(`listening on ${(server.address() as { port: number }).port}`);
  });
}

if (import.meta.main) {
  serveBare(JSON.parse(readFileSync(process.env.BARE_INPUT!, 'utf8')) as BareServerInput);
}

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { answerMessages } from '../harness/programs.ts';

/** One query of a page, with what the service has bound. */
export type RecordedQuery = { name?: string; text: string; values: unknown[] };

/** For each path the queries of the service's own response. */
export type RecordedPaths = { databaseUrl: string; paths: Record<string, RecordedQuery[]> };

/**
 * The baseline of reading: node:http and pg, and nothing else. Runs the service's own queries and sends the JSON that
 * PostgreSQL has built.
 */
answerMessages(({ databaseUrl, paths }: RecordedPaths) => {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 16, application_name: 'bench baseline' });
  const read = async (queries: RecordedQuery[]): Promise<string> => {
    let text: string | undefined;
    for (const query of queries) {
      const { rows } = await pool.query<Record<string, string>>(query);
      text = rows[0]?.items ?? rows[0]?.item ?? text;
    }
    if (text === undefined) throw new Error('no query has the page');
    return text;
  };
  const server = createServer((request, response) => {
    read(paths[request.url!]!).then(
      (text) => response.setHeader('content-type', 'application/json; charset=utf-8').end(text),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    });
  });
});

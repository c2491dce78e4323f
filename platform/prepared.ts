import { createHash } from 'node:crypto';
import pg, { type QueryResult } from 'pg';
import type { Sql } from './database.ts';

interface Statement {
  name: string;
  text: string;
}

/** Made ready once for each text; there are few, see {@link prepared}. */
const statements = new Map<string, Statement>();

function statementOf(text: string): Statement {
  let statement = statements.get(text);
  if (!statement) {
    let n = 0;
    const numbered = text.replace(/\\\?|\?/g, (mark) => {
      if (mark === '\\?') return '?';
      n += 1;
      return `$${n}`;
    });
    statement = { name: createHash('sha1').update(text).digest('base64url'), text: numbered };
    statements.set(text, statement);
  }
  return statement;
}

/** What pg reads of a query that is handed over whole: it copies no configuration then, which costs a tenth of it. */
interface HandedOver {
  name: string;
  query_timeout: number | undefined;
  callback: (error: Error | null | undefined, result: QueryResult) => void;
}

function run(
  connection: pg.Client,
  { name, text }: Statement,
  values: unknown[],
  timeoutMs: number | undefined,
): Promise<QueryResult> {
  return new Promise((resolve, reject) => {
    const query = Object.assign(new pg.Query(text, values), {
      name,
      query_timeout: timeoutMs,
      callback: (error, result) => (error ? reject(error) : resolve(result)),
    } satisfies HandedOver);
    connection.query(query);
  });
}

/**
 * A query that each connection prepares once, which spares its planning from then on. It goes to the connection
 * without knex's own work on the text, which costs as much as the rest of a small query. Only for texts of a small,
 * closed set: process and connections keep them all.
 * @throws Error that counts as a connection loss when there is no answer after `timeoutMs`.
 */
export async function prepared(
  sql: Sql,
  text: string,
  bindings: unknown[],
  options: { timeoutMs?: number } = {},
): Promise<QueryResult> {
  const { client } = sql;
  const connection: pg.Client = await client.acquireConnection();
  try {
    return await run(connection, statementOf(text), bindings, options.timeoutMs);
  } finally {
    // of a transaction this is the transaction's own connection, which stays
    await client.releaseConnection(connection);
  }
}

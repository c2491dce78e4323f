import { createHash } from 'node:crypto';
import type { QueryResult } from 'pg';
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
  const connection = await client.acquireConnection();
  try {
    const query = { ...statementOf(text), values: bindings };
    return await connection.query(
      options.timeoutMs === undefined ? query : { ...query, query_timeout: options.timeoutMs },
    );
  } finally {
    // of a transaction this is the transaction's own connection, which stays
    await client.releaseConnection(connection);
  }
}

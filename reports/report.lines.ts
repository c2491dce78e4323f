import type { PoolClient } from 'pg';
import type { Fragment } from '../domain/lists/lists.types.ts';
import { copyOut } from '../platform/copy-out.ts';
import type { Sql } from '../platform/database.ts';
import { withLiterals } from '../platform/literals.ts';
import type { Report } from './report.ts';

const LF = 10;

/**
 * The items of a long array as the database writes them: each on a line of its own, commas between them.
 * @param sql a transaction, whose connection is used.
 * @param query one column of texts made by `jsonLine`.
 */
export async function readLines(sql: Sql, query: Fragment): Promise<Buffer> {
  const { client } = sql;
  const connection: PoolClient = await client.acquireConnection();
  try {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const lines of copyOut(connection, 'json', withLiterals(query.sql, query.bindings)).lines()) {
      chunks.push(lines.bytes);
      bytes += lines.bytes.length;
    }
    // but for the comma and the line feed of the last
    return Buffer.concat(chunks, Math.max(0, bytes - 2));
  } finally {
    // the transaction keeps it
    await client.releaseConnection(connection);
  }
}

/**
 * Reads an answer for its tables. A long array, which stands on lines of its own, is read while it is gone through,
 * once; the rest at once.
 */
export function answerOf({ long }: Report, body: Buffer): unknown {
  if (long === undefined) return JSON.parse(body.toString());
  const first = body.indexOf(LF);
  const last = body.lastIndexOf(LF);
  const answer = JSON.parse(`${body.toString('utf8', 0, first)}${body.toString('utf8', last + 1)}`);
  answer[long] = itemsOf(body, first + 1, last);
  return answer;
}

function* itemsOf(body: Buffer, start: number, end: number): Generator<unknown> {
  let from = start;
  while (from < end) {
    const found = body.indexOf(LF, from);
    const to = found < 0 ? end : found;
    // each but the last has a comma behind it
    const line = body.toString('utf8', from, to);
    if (line !== '') yield JSON.parse(line.endsWith(',') ? line.slice(0, -1) : line);
    from = to + 1;
  }
}

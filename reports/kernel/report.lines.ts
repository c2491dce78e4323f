import type { PoolClient } from 'pg';
import type { Fragment } from '../../domain/kernel/lists/lists.types.ts';
import { type CopiedLines, copyOut, type RowWriter } from '../../platform/copy-out.ts';
import type { Sql } from '../../platform/database.ts';
import { withLiterals } from '../../platform/literals.ts';
import type { Report } from './report.ts';

const LF = 10;
/** The bytes that the last line does not have: its comma and line feed. */
const LINE_END = 2;

/**
 * Reads the items of a long array as lines, separated by commas.
 * @param sql a transaction, whose connection is used.
 * @param query one column of texts made by `jsonLine`, or columns from which `writer` builds such lines.
 */
export async function readLines(sql: Sql, query: Fragment, writer?: RowWriter): Promise<Buffer> {
  const { client } = sql;
  const connection: PoolClient = await client.acquireConnection();
  try {
    const whole = await copyOut(
      connection,
      writer ?? 'json',
      withLiterals(query.sql, query.bindings),
    ).whole();
    return whole.subarray(0, Math.max(0, whole.length - LINE_END));
  } finally {
    // the connection stays with the transaction
    await client.releaseConnection(connection);
  }
}

/** Streams what {@link readLines} reads. */
export async function* streamedLines(lines: AsyncIterable<CopiedLines>): AsyncGenerator<Buffer> {
  let ready: Buffer | undefined;
  for await (const { bytes } of lines) {
    if (ready) yield ready;
    ready = bytes;
  }
  if (ready) yield ready.subarray(0, ready.length - LINE_END);
}

/** Calls `visit` with the start and end of each line of {@link readLines}, without its comma. */
export function eachLine(lines: Buffer, visit: (from: number, to: number) => void): void {
  for (let from = 0; from < lines.length; ) {
    const found = lines.indexOf(LF, from);
    const to = found < 0 ? lines.length : found - 1;
    visit(from, to);
    from = to + 2;
  }
}

/**
 * Parses a report for its tables. A long array, written as lines, is parsed lazily and can be iterated once.
 */
export function parseReport({ long }: Report, body: Buffer): unknown {
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
    // all lines except the last end with a comma
    const line = body.toString('utf8', from, to);
    if (line !== '') yield JSON.parse(line.endsWith(',') ? line.slice(0, -1) : line);
    from = to + 1;
  }
}

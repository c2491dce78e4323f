import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import type { Fragment } from '../../domain/kernel/lists/lists.types.ts';
import { type CopiedLines, copyOut, type RowWriter } from '../../platform/copy-out.ts';
import type { Sql } from '../../platform/database.ts';
import { withLiterals } from '../../platform/literals.ts';
import type { Report } from './report.ts';

const LF = 10;

/**
 * The items of a long array: each on a line of its own, commas between them.
 * @param sql a transaction, whose connection is used.
 * @param query one column of texts made by `jsonLine`, or of what `writer` makes such lines of.
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
    // but for the comma and the line feed of the last
    return whole.subarray(0, Math.max(0, whole.length - 2));
  } finally {
    // the transaction keeps it
    await client.releaseConnection(connection);
  }
}

/** The items of an array that is streamed: each line begins with a comma, which the first has no use for. */
export async function* streamedItems(lines: AsyncIterable<CopiedLines>): AsyncGenerator<Buffer> {
  let isFirst = true;
  for await (const { bytes } of lines) {
    yield isFirst ? bytes.subarray(1) : bytes;
    isFirst = false;
  }
}

/** Tells where each line of {@link readLines} begins and ends, without the comma between it and the next. */
export function eachLine(lines: Buffer, tell: (from: number, to: number) => void): void {
  for (let from = 0; from < lines.length; ) {
    const found = lines.indexOf(LF, from);
    const to = found < 0 ? lines.length : found - 1;
    tell(from, to);
    from = to + 2;
  }
}

/** Does `work` while the database makes what is `read` next, and gives both. */
export async function meanwhile<R, W>(read: Promise<R>, work: () => W): Promise<[R, W]> {
  // the statement leaves first
  return await Promise.all([read, nextTurn().then(work)]);
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

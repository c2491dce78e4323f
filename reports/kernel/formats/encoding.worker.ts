import { parentPort } from 'node:worker_threads';
import type { Answered } from '../../../platform/worker-threads.ts';
import { rowReader } from './binary-rows.ts';
import type { EncodedGroup, RowGroup } from './encoding.ts';
import { linesOf } from './lines.ts';
import { encodeRowGroup } from './parquet.group.ts';

const encoder = new TextEncoder();

function encodeGroup(group: RowGroup): EncodedGroup {
  const chunks = group.chunks.map(({ buffer, byteOffset, byteLength }) =>
    Buffer.from(buffer, byteOffset, byteLength),
  );
  if (group.form === 'parquet') return encodeRowGroup(group, chunks);
  const read = rowReader(group.columns);
  const text = linesOf(group.columns, group);
  return { bytes: encoder.encode(chunks.map((chunk) => text(read(chunk))).join('')) };
}

parentPort!.on('message', (group: RowGroup) => {
  try {
    const answer = encodeGroup(group);
    parentPort!.postMessage({ answer } satisfies Answered<EncodedGroup>, [answer.bytes.buffer]);
  } catch (error) {
    parentPort!.postMessage({ error: String(error) } satisfies Answered<EncodedGroup>);
  }
});

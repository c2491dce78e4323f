import { parentPort } from 'node:worker_threads';
import type { Answered } from '../../../platform/worker-threads.ts';
import type { EncodedGroup, RowGroup } from './encoding.ts';
import { encoderOf } from './lines.ts';
import { encodeRowGroup } from './parquet.group.ts';

function encodeGroup(group: RowGroup): EncodedGroup {
  const chunks = group.chunks.map(({ buffer, byteOffset, byteLength }) =>
    Buffer.from(buffer, byteOffset, byteLength),
  );
  if (group.form === 'parquet') return encodeRowGroup(group, chunks);
  return { bytes: encoderOf(group.columns, group)(chunks) };
}

parentPort!.on('message', (group: RowGroup) => {
  try {
    const answer = encodeGroup(group);
    parentPort!.postMessage({ answer } satisfies Answered<EncodedGroup>, [answer.bytes.buffer]);
  } catch (error) {
    parentPort!.postMessage({ error: String(error) } satisfies Answered<EncodedGroup>);
  }
});

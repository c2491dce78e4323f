/**
 * Frees the memory of arrays that nobody reads any more: large ones are few objects, so that they would wait long for a
 * garbage collection.
 * @param arrays with memory of their own (not `subarray`s of what is still read); they are empty afterwards, except small
 * ones, whose memory can be that of others too.
 */
export function release(...arrays: readonly { buffer: ArrayBufferLike }[]): void {
  for (const { buffer } of arrays)
    if (buffer instanceof ArrayBuffer && buffer.byteLength > Buffer.poolSize) buffer.transfer(0);
}

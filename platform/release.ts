/**
 * Frees the memory of a buffer that nobody reads any more. Large buffers are few objects, so that they would wait long for a
 * garbage collection.
 * @param buffer with memory of its own (`allocUnsafeSlow`, a concatenation); it is empty afterwards.
 */
export function release(buffer: Buffer): void {
  const memory = buffer.buffer as ArrayBuffer;
  // a part of shared memory
  if (memory.byteLength > Buffer.poolSize) memory.transfer(0);
}

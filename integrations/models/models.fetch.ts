import { type Outbound, OutboundOverflow } from '../../platform/outbound.ts';

/** The longest answer that is read, in bytes: far more than any answer that is asked for. */
const MAX_BYTES = 2 * 1024 * 1024;

/** A `fetch` for the SDK: calls what {@link Outbound} lets it call, and reads no more than answers may have. */
export function boundedFetch(outbound: Outbound, maxBytes: number = MAX_BYTES): typeof fetch {
  return async (input, init) => {
    const response = await outbound.fetch(input as string | URL, init as never);
    let size = 0;
    const counted = response.body?.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          size += chunk.byteLength;
          if (size > maxBytes) {
            controller.error(new OutboundOverflow(`the answer is longer than ${maxBytes} bytes`));
          } else controller.enqueue(chunk);
        },
      }),
    );
    return new Response((counted ?? null) as ReadableStream | null, {
      status: response.status,
      headers: Object.fromEntries(response.headers),
    });
  };
}

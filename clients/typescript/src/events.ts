import { ApiError } from './calls.ts';
import { client } from './generated/client.gen.ts';
import { pause } from './pause.ts';

/** A frame of the event stream. */
export interface StreamEvent {
  /** The position in the change feed; absent for frames that are not stored, such as `job.updated`. */
  id?: string;
  /** Its type, such as `card.updated`. */
  event: string;
  data: unknown;
}

interface StreamOptions {
  /** Event types or their prefixes, such as `card`; all by default. */
  events?: string[];
  /** Only events of cards of these types. */
  types?: string[];
  /** The position to resume from; by default from now. */
  after?: string;
  signal?: AbortSignal;
}

const RECONNECT_MS = 3_000;

/**
 * Follows changes live, and connects again where it was interrupted, with nothing lost or repeated.
 * @throws ApiError if the service refuses the stream, such as 401 when the token has ended.
 */
export async function* followEvents(
  options: StreamOptions = {},
): AsyncGenerator<StreamEvent, void, undefined> {
  const { signal } = options;
  for (let position = options.after; ; ) {
    const body = await open(options, position).catch((error: unknown) => {
      if (error instanceof ApiError && error.status < 500 && error.status !== 0) throw error;
      return undefined;
    });
    try {
      if (body) {
        for await (const frame of framesOf(body)) {
          position = frame.id ?? position;
          if (!frame.event.startsWith('stream.')) yield frame;
        }
      }
    } catch (error) {
      // an interrupted connection is opened again
      if (!(error instanceof TypeError)) throw error;
    }
    await pause(RECONNECT_MS, signal);
  }
}

/** @throws ApiError for a problem, and with the code `network` without a response. */
async function open({ events, types, signal }: StreamOptions, position: string | undefined) {
  const { data, error, response } = await client.get<ReadableStream<Uint8Array>>({
    url: '/api/v1/events/stream',
    security: [{ scheme: 'bearer', type: 'http' }],
    query: { ...(events && { events: events.join(',') }), ...(types && { types: types.join(',') }) },
    headers: { accept: 'text/event-stream', ...(position && { 'last-event-id': position }) },
    parseAs: 'stream',
    signal,
  });
  signal?.throwIfAborted();
  if (!response) throw new ApiError(0, {});
  if (!response.ok) throw new ApiError(response.status, Object(error));
  return data as unknown as ReadableStream<Uint8Array> | undefined;
}

/** The frames of a stream of server-sent events. */
async function* framesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamEvent, void, undefined> {
  const reader = body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .getReader();
  try {
    let rest = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + value).split('\n\n');
      rest = blocks.pop()!;
      for (const block of blocks) {
        const frame = frameOf(block);
        if (frame) yield frame;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function frameOf(block: string): StreamEvent | undefined {
  const members = new Map<string, string>();
  for (const line of block.split('\n')) {
    const at = line.indexOf(':');
    if (at > 0) members.set(line.slice(0, at), line.slice(at + 1).trimStart());
  }
  const [event, data, id] = [members.get('event'), members.get('data'), members.get('id')];
  if (event === undefined) return undefined;
  return { event, data: data ? JSON.parse(data) : undefined, ...(id && { id }) };
}

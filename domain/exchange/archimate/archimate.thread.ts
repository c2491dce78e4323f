import { setImmediate as breathe } from 'node:timers/promises';
import { deserialize, serialize } from 'node:v8';
import { boundedThreadPool } from '../../../platform/worker-threads.ts';
import type { Model } from './archimate.parse.ts';

/** Timeout for parsing one model, in milliseconds: ten times the duration for one of the maximum size. */
const LIMIT_MS = 60_000;
/** Number of concepts that are serialised together: the receiving thread can process other requests between two chunks. */
const PIECE = 1_000;

const LISTS = ['elements', 'relationships', 'views'] as const;
type Lists = Pick<Model, (typeof LISTS)[number]>;

/** A model in chunks, each of which is a part of one of its lists. */
export interface PackedModel extends Omit<Model, keyof Lists> {
  pieces: Uint8Array<ArrayBuffer>[];
}

const ask = boundedThreadPool<string, PackedModel | { error: string }>({
  module: new URL('./archimate.worker.ts', import.meta.url),
  what: 'large models',
  limitMs: LIMIT_MS,
});

/**
 * Parses a model in a worker thread, so that the event loop is not blocked.
 * @throws Error with the reason if it is not valid; EstateError `unavailable`, `query_too_heavy` if it takes too much
 * time or memory.
 */
export async function readModelInThread(xml: string): Promise<Model> {
  const answer = await ask(xml);
  if ('error' in answer) throw new Error(answer.error);
  const { pieces, ...rest } = answer;
  const model: Model = { ...rest, elements: [], relationships: [], views: [] };
  for (const piece of pieces) {
    const [list, part]: [keyof Lists, never[]] = deserialize(piece);
    model[list].push(...part);
    await breathe();
  }
  return model;
}

/** A model in the form that is sent between threads. A view, which may have many nodes, is a separate chunk. */
export function packModel({ elements, relationships, views, ...rest }: Model): PackedModel {
  const lists: Lists = { elements, relationships, views };
  const pieces = LISTS.flatMap((list) => {
    const size = list === 'views' ? 1 : PIECE;
    return Array.from({ length: Math.ceil(lists[list].length / size) }, (_, n) =>
      Uint8Array.from(serialize([list, lists[list].slice(n * size, (n + 1) * size)])),
    );
  });
  return { ...rest, pieces };
}

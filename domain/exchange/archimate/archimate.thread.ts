import { setImmediate as breathe } from 'node:timers/promises';
import { deserialize, serialize } from 'node:v8';
import { boundedThreadPool } from '../../../platform/worker-threads.ts';
import type { Model } from './archimate.parse.ts';

/** How long reading one model may take, in milliseconds: ten times what one of the largest size takes. */
const LIMIT_MS = 60_000;
/** Concepts that are serialised together: the receiving thread answers others between two pieces. */
const PIECE = 1_000;

const LISTS = ['elements', 'relationships', 'views'] as const;
type Lists = Pick<Model, (typeof LISTS)[number]>;

/** A model in pieces, each one a part of one of its lists. */
export interface PackedModel extends Omit<Model, keyof Lists> {
  pieces: Uint8Array<ArrayBuffer>[];
}

const ask = boundedThreadPool<string, PackedModel | { fault: string }>({
  module: new URL('./archimate.worker.ts', import.meta.url),
  what: 'large models',
  limitMs: LIMIT_MS,
});

/**
 * Reads a model in a thread of its own, so that the process answers others meanwhile.
 * @throws Error saying why it is none; EstateError `unavailable`, `query_too_heavy` where it takes too much time or memory.
 */
export async function readModelInThread(xml: string): Promise<Model> {
  const answer = await ask(xml);
  if ('fault' in answer) throw new Error(answer.fault);
  const { pieces, ...rest } = answer;
  const model: Model = { ...rest, elements: [], relationships: [], views: [] };
  for (const piece of pieces) {
    const [list, part]: [keyof Lists, never[]] = deserialize(piece);
    model[list].push(...part);
    await breathe();
  }
  return model;
}

/** A model as it passes between threads. A view, which may hold many nodes, is a piece of its own. */
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

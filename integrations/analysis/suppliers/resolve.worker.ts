import type { NamedSupplier, ResolvedSupplier } from '../../../domain/analysis/suppliers/suppliers.types.ts';
import { answerRequests } from '../../../platform/worker-threads.ts';
import type { Vocabulary } from '../matching/matching.types.ts';
import { resolveSuppliers } from './resolve.ts';

/** Requests to the thread: one to start, and others until there is a result. */
export type ResolveRequest =
  | { named: readonly NamedSupplier[]; vocabulary: Vocabulary | undefined }
  /** Works for about a second. */
  | 'advance';
export type ResolveResponse = { progress: number } | { resolved: ResolvedSupplier[] };

/** Milliseconds between two reports of the progress. */
const REPORT_EVERY = 1_000;

let steps: ReturnType<typeof resolveSuppliers>;

/** Worker thread in which names of suppliers are compared. */
answerRequests((request: ResolveRequest): ResolveResponse => {
  if (request !== 'advance') {
    steps = resolveSuppliers(request.named, request.vocabulary);
    return { progress: 0 };
  }
  const end = performance.now() + REPORT_EVERY;
  let step = steps.next();
  while (!step.done && performance.now() < end) step = steps.next();
  return step.done ? { resolved: step.value } : { progress: step.value };
});

import type { Static, TSchema } from 'typebox';
import type { ModelPart, RunModelState } from '../../../domain/analysis/runs/runs.types.ts';
import { complete } from './models.complete.ts';
import {
  ModelFailure,
  type ModelFailureKind,
  type ModelRequest,
  type ModelRetryPolicy,
  type ModelServices,
  type ModelUse,
  runRetryPolicy,
} from './models.types.ts';

/** Failures that only affect one request. */
const ofOneQuestion: ReadonlySet<ModelFailureKind> = new Set(['declined', 'off_schema', 'too_long']);
/** Consecutive failures after which a run stops using the model. */
const MOST_IN_A_ROW = 3;

type Asked = Pick<ModelPart, 'part' | 'provider' | 'model' | 'prompt'>;

/** The model of a run: its failures never make the run fail. */
export interface RunModel {
  /**
   * Returns an answer, or undefined if there is none. After a failure that would affect further requests, no more are sent.
   * @param part the purpose, as the run reports it.
   * @param isPart whether it repeats a part of a failed request, to find out whether the data causes the failure.
   * @throws the signal's reason if it is aborted.
   */
  ask<S extends TSchema>(
    part: string,
    request: Omit<ModelRequest<S>, 'runId' | 'signal'>,
    isPart?: boolean,
  ): Promise<Static<S> | undefined>;
  /** The parts of the run that used the model, with their usage. */
  parts(): ModelPart[];
  /** Why the model is no longer used; null while it is used, and if none is configured. */
  stopped(): RunModelState['stopped'];
  /** The state from which another worker resumes. */
  state(): RunModelState;
}

/** Failures within one group after which the rest of the group is skipped. */
const MOST_FAILED = 12;

/**
 * Sends one request about many items and, on failure, requests about each half, so that one item on which the model fails
 * does not affect the others.
 * @param ask returns the answers about some items; undefined on failure.
 */
export async function askBySplitting<T, A>(
  model: Pick<RunModel, 'stopped'>,
  things: readonly T[],
  ask: (some: readonly T[], isPart: boolean) => Promise<readonly A[] | undefined>,
): Promise<A[]> {
  let failed = 0;
  const about = async (some: readonly T[], isPart: boolean): Promise<readonly A[]> => {
    if (model.stopped() || failed >= MOST_FAILED) return [];
    const said = await ask(some, isPart);
    if (said) return said;
    failed += 1;
    if (some.length < 2) return [];
    const middle = Math.ceil(some.length / 2);
    return [...(await about(some.slice(0, middle), true)), ...(await about(some.slice(middle), true))];
  };
  return [...(await about(things, false))];
}

/**
 * @param signal of the run.
 * @param before state of an earlier worker.
 */
export function createRunModel(
  services: ModelServices,
  runId: string,
  signal: AbortSignal,
  retryPolicy: ModelRetryPolicy = runRetryPolicy,
  before?: RunModelState,
): RunModel {
  const keyOf = (part: string, { provider, model, prompt }: Omit<Asked, 'part'>) =>
    JSON.stringify([part, provider, model, prompt]);
  const parts = new Map(before?.parts.map((usage) => [keyOf(usage.part, usage), { ...usage }]));
  let absent = false;
  let stopped = before?.stopped ?? null;
  let inARow = 0;

  const note = (part: string, made: Omit<Asked, 'part'>, use: ModelUse) => {
    const key = keyOf(part, made);
    const known = parts.get(key);
    const { provider, model, prompt } = made;
    const usage = known ?? { part, provider, model, prompt, calls: 0, input_tokens: 0, output_tokens: 0 };
    usage.calls += use.calls;
    usage.input_tokens += use.tokensIn;
    usage.output_tokens += use.tokensOut;
    parts.set(key, usage);
  };

  return {
    async ask(part, request, isPart = false) {
      signal.throwIfAborted();
      if (absent || stopped) return undefined;
      try {
        const { answer, usage, ...made } = await complete(
          services,
          { ...request, runId, signal },
          retryPolicy,
        );
        inARow = 0;
        note(part, made, usage);
        return answer;
      } catch (error) {
        if (!(error instanceof ModelFailure)) throw error;
        const { kind: reason, message, use, asked } = error;
        if (asked && use.calls > 0) note(part, asked, use);
        if (!isPart) inARow += 1;
        if (reason === 'not_configured') absent = true;
        else if (!ofOneQuestion.has(reason) || inARow >= MOST_IN_A_ROW) stopped = { reason, message };
        return undefined;
      }
    },
    parts: () => [...parts.values()],
    stopped: () => stopped,
    state: () => ({ parts: [...parts.values()], stopped }),
  };
}

import type { Static, TSchema } from 'typebox';
import type { ModelPart } from '../../domain/analysis/runs.types.ts';
import { complete } from './models.complete.ts';
import {
  ModelFailure,
  type ModelFailureKind,
  type ModelPatience,
  type ModelRequest,
  type ModelServices,
  type ModelUse,
  runPatience,
} from './models.types.ts';

/** What is wrong with one question alone; the next may fare better. */
const ofOneQuestion: ReadonlySet<ModelFailureKind> = new Set(['declined', 'off_schema', 'too_long']);
/** After so many questions in a row without an answer a run asks no more. */
const MOST_IN_A_ROW = 3;

type Asked = Pick<ModelPart, 'part' | 'provider' | 'model' | 'prompt'>;

/** The model as a run asks it: what goes wrong ends the model's part, never the run. */
export interface RunModel {
  /**
   * An answer, or undefined where the run has to do without. Once something is wrong that the next question would meet too, nothing is asked
   * any more.
   * @param part what it is asked for, as the run tells it.
   * @throws the signal's reason when it is aborted.
   */
  ask<S extends TSchema>(
    part: string,
    request: Omit<ModelRequest<S>, 'runId' | 'signal'>,
  ): Promise<Static<S> | undefined>;
  /** What the model had a hand in, with what it took. */
  parts(): ModelPart[];
  /** Why it is asked no more; undefined while it is, and where none is set up. */
  stopped(): StoppedModel | undefined;
  /** What the model of the run goes on from after a worker's end. */
  state(): RunModelState;
}

/** Why a model is asked no more. */
export interface StoppedModel {
  reason: ModelFailureKind;
  message: string;
}

/** What a run has had of its model so far, as JSON. */
export interface RunModelState {
  parts: ModelPart[];
  stopped: StoppedModel | null;
}

/**
 * @param signal that ends the run.
 * @param before what another worker had of it.
 */
export function createRunModel(
  services: ModelServices,
  runId: string,
  signal: AbortSignal,
  patience: ModelPatience = runPatience,
  before?: RunModelState,
): RunModel {
  const keyOf = (part: string, { provider, model, prompt }: Omit<Asked, 'part'>) =>
    JSON.stringify([part, provider, model, prompt]);
  const parts = new Map(before?.parts.map((told) => [keyOf(told.part, told), { ...told }]));
  let absent = false;
  let stopped = before?.stopped ?? undefined;
  let inARow = 0;

  const note = (part: string, made: Omit<Asked, 'part'>, use: ModelUse) => {
    const key = keyOf(part, made);
    const known = parts.get(key);
    const { provider, model, prompt } = made;
    const told = known ?? { part, provider, model, prompt, calls: 0, input_tokens: 0, output_tokens: 0 };
    told.calls += use.calls;
    told.input_tokens += use.tokensIn;
    told.output_tokens += use.tokensOut;
    parts.set(key, told);
  };

  return {
    async ask(part, request) {
      signal.throwIfAborted();
      if (absent || stopped) return undefined;
      try {
        const { answer, usage, ...made } = await complete(services, { ...request, runId, signal }, patience);
        inARow = 0;
        note(part, made, usage);
        return answer;
      } catch (error) {
        if (!(error instanceof ModelFailure)) throw error;
        const { kind: reason, message, use, asked } = error;
        if (asked && use.calls > 0) note(part, asked, use);
        inARow += 1;
        if (reason === 'not_configured') absent = true;
        else if (!ofOneQuestion.has(reason) || inARow >= MOST_IN_A_ROW) stopped = { reason, message };
        return undefined;
      }
    },
    parts: () => [...parts.values()],
    stopped: () => stopped,
    state: () => ({ parts: [...parts.values()], stopped: stopped ?? null }),
  };
}

import type { Static, TSchema } from 'typebox';
import type { ModelPart } from '../../domain/analysis/runs/runs.types.ts';
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
   * @param isPart whether it is asked about a part of what it was asked about without an answer: that the fault lies with that, and not with
   * the model, is what is being found out.
   * @throws the signal's reason when it is aborted.
   */
  ask<S extends TSchema>(
    part: string,
    request: Omit<ModelRequest<S>, 'runId' | 'signal'>,
    isPart?: boolean,
  ): Promise<Static<S> | undefined>;
  /** What the model had a hand in, with what it took. */
  parts(): ModelPart[];
  /** Why it is asked no more; undefined while it is, and where none is set up. */
  stopped(): StoppedModel | undefined;
  /** The state from which another worker resumes. */
  state(): RunModelState;
}

/** Questions about one group of things that may go without an answer before the rest of it is left alone. */
const MOST_FAILED = 12;

/**
 * Asks about many things at once, and where no answer comes about one half and then the other, so that one on which a model fails, by what
 * it says, costs no other its answer.
 * @param ask gives what was said of some of them; undefined without an answer.
 */
export async function askInHalves<T, A>(
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

/** Why a model is asked no more. */
interface StoppedModel {
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
  const parts = new Map(before?.parts.map((usage) => [keyOf(usage.part, usage), { ...usage }]));
  let absent = false;
  let stopped = before?.stopped ?? undefined;
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
        const { answer, usage, ...made } = await complete(services, { ...request, runId, signal }, patience);
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
    state: () => ({ parts: [...parts.values()], stopped: stopped ?? null }),
  };
}

import { setTimeout as delay } from 'node:timers/promises';
import type { LanguageModelV4, LanguageModelV4Prompt } from '@ai-sdk/provider';
import type { Static, TSchema } from 'typebox';
import {
  type AiUse,
  noteOutcome,
  reserveTokens,
  type SpentBudget,
  settleTokens,
} from '../../domain/analysis/ai/ai.budget.ts';
import { type AiProvider, aiNotConfigured, readAiProvider } from '../../domain/analysis/ai/ai.provider.ts';
import { EstateError } from '../../platform/errors.ts';
import { asData, framing } from './models.data.ts';
import { type FailedCall, readFailure } from './models.failures.ts';
import { boundedFetch, openModel } from './models.open.ts';
import { outgoingSchema, readJson, schemaFaults } from './models.schema.ts';
import {
  type Completion,
  ModelFailure,
  type ModelPatience,
  type ModelRequest,
  type ModelServices,
  type ModelUse,
  runPatience,
} from './models.types.ts';

const MAX_OUTPUT_TOKENS = 2_000;
/** What providers add around messages. */
const OVERHEAD_TOKENS = 500;
/** An answer that does not fit is shown to the model again, up to here. */
const MAX_SHOWN_AGAIN = 8_000;

/**
 * Asks the model that is set up. The answer fits the schema and passes the check, or there is none; one that does not is
 * sent back once, with what is wrong. Every request is paid from the budgets of run and day before it goes out.
 * @throws ModelFailure for whatever goes wrong; the signal's reason when it is aborted.
 */
export async function complete<S extends TSchema>(
  services: ModelServices,
  request: ModelRequest<S>,
  patience: ModelPatience = runPatience,
): Promise<Completion<Static<S>>> {
  return await completeWith(services, await readProvider(services), request, patience);
}

/** The same with a provider that has been read already. */
export async function completeWith<S extends TSchema>(
  services: ModelServices,
  provider: AiProvider,
  request: ModelRequest<S>,
  patience: ModelPatience,
): Promise<Completion<Static<S>>> {
  const model = await openModel(provider, boundedFetch(services.outbound));
  const asking = new Asking(services, provider, request, patience, model);
  const { name, version } = request.prompt;
  const asked = {
    provider: provider.settings.provider_type,
    model: provider.settings.model,
    prompt: `${name}@${version}`,
  };
  const note = (outcome: string) =>
    noteOutcome(services.db, {
      provider: asked.provider,
      purpose: request.purpose,
      outcome,
      ...asking.use,
    });
  try {
    const answer = (await asking.answer()) as Static<S>;
    await note('answered');
    return { answer, ...asked, usage: asking.use };
  } catch (error) {
    if (error instanceof ModelFailure) {
      error.use = asking.use;
      error.asked = asked;
      await note(error.kind);
      services.log.info({ kind: error.kind, purpose: request.purpose, cause: error.cause }, error.message);
    }
    throw error;
  }
}

async function readProvider({ db, secrets }: ModelServices): Promise<AiProvider> {
  try {
    return await readAiProvider(db, secrets);
  } catch (error) {
    if (!(error instanceof EstateError) || error.code !== 'ai_not_configured') throw error;
    throw new ModelFailure('not_configured', error.message, { missing: error.extra.missing as string[] });
  }
}

const budgetNames: Record<SpentBudget, string> = {
  tokens_per_run: 'The run has spent its tokens',
  tokens_per_day: 'The tokens of the day are spent',
  calls_per_day: 'The calls of the day are spent',
};

/** One question on its way to an answer. */
class Asking {
  readonly use: ModelUse = { calls: 0, tokensIn: 0, tokensOut: 0 };
  readonly #services: ModelServices;
  readonly #provider: AiProvider;
  readonly #request: ModelRequest<TSchema>;
  readonly #patience: ModelPatience;
  readonly #model: LanguageModelV4;

  constructor(
    services: ModelServices,
    provider: AiProvider,
    request: ModelRequest<TSchema>,
    patience: ModelPatience,
    model: LanguageModelV4,
  ) {
    this.#services = services;
    this.#provider = provider;
    this.#request = request;
    this.#patience = patience;
    this.#model = model;
  }

  /** @throws ModelFailure, or the signal's reason. */
  async answer(): Promise<unknown> {
    const { prompt, data } = this.#request;
    const messages: LanguageModelV4Prompt = [
      { role: 'system', content: `${framing}\n\n${prompt.system}` },
      { role: 'user', content: [{ type: 'text', text: dataOf(data) }] },
    ];
    const first = await this.#patiently(messages);
    const faults = this.#faultsOf(first);
    if (faults.length === 0) return readJson(first);
    const second = await this.#patiently([
      ...messages,
      // providers refuse an empty message
      {
        role: 'assistant',
        content: [{ type: 'text', text: first.slice(0, MAX_SHOWN_AGAIN) || '(nothing)' }],
      },
      { role: 'user', content: [{ type: 'text', text: repairOf(faults) }] },
    ]);
    const left = this.#faultsOf(second);
    if (left.length === 0) return readJson(second);
    throw new ModelFailure('off_schema', 'The answers of the model do not fit what was asked for.', {
      cause: left.slice(0, 3).join('; '),
    });
  }

  #faultsOf(text: string): string[] {
    const answer = readJson(text);
    if (answer === undefined) return ['The answer is not one JSON object.'];
    const faults = schemaFaults(this.#request.schema, answer);
    return faults.length > 0 ? faults : (this.#request.check?.(answer) ?? []);
  }

  /** The text of an answer, asked for until one comes or patience ends. */
  async #patiently(messages: LanguageModelV4Prompt): Promise<string> {
    const { attempts, pauseMs, longestWaitMs } = this.#patience;
    const { signal } = this.#request;
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await this.#call(messages);
      if (typeof outcome === 'string') return outcome;
      const { failure, again, waitMs = 0 } = outcome;
      if (!again || attempt >= attempts || waitMs > longestWaitMs) throw failure;
      // workers that were refused together must not come back together
      const pause = pauseMs * 2 ** (attempt - 1) * (1 + Math.random());
      await delay(Math.max(pause, waitMs), undefined, signal ? { signal } : {}).catch(() => undefined);
      signal?.throwIfAborted();
    }
  }

  /** One request, paid for. */
  async #call(messages: LanguageModelV4Prompt): Promise<string | FailedCall> {
    const { db } = this.#services;
    const { signal, schema: wanted, purpose, runId, maxOutputTokens = MAX_OUTPUT_TOKENS } = this.#request;
    const { settings, apiKey } = this.#provider;
    const { schema, strict } = outgoingSchema(wanted);
    // a token has at least one byte in every vocabulary
    const longest = Buffer.byteLength(JSON.stringify([messages, schema])) + maxOutputTokens + OVERHEAD_TOKENS;
    const place: AiUse = { runId, purpose, provider: settings.provider_type, model: settings.model };
    signal?.throwIfAborted();
    const reserved = await reserveTokens(db, place, longest, settings);
    if (typeof reserved === 'string') {
      throw new ModelFailure('budget', `${budgetNames[reserved]} (${settings[reserved]}).`, {
        budget: reserved,
      });
    }
    this.use.calls += 1;
    const timeout = AbortSignal.timeout(this.#patience.timeoutMs);
    const settle = async (tokensIn: number, tokensOut: number) => {
      this.use.tokensIn += tokensIn;
      this.use.tokensOut += tokensOut;
      await settleTokens(db, reserved, { tokensIn, tokensOut });
    };
    try {
      const result = await this.#model.doGenerate({
        prompt: messages,
        maxOutputTokens,
        responseFormat: { type: 'json', schema, name: purpose },
        providerOptions: { openai: { strictJsonSchema: strict } },
        abortSignal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      });
      const text =
        result.structuredOutputText ??
        result.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
      const { inputTokens, outputTokens } = result.usage;
      // a provider that does not count is taken to have used four bytes a token
      await settle(
        inputTokens.total ?? Math.ceil(Buffer.byteLength(JSON.stringify(messages)) / 4),
        outputTokens.total ?? Math.ceil(Buffer.byteLength(text) / 4),
      );
      const { unified } = result.finishReason;
      if (unified === 'length') {
        throw new ModelFailure('too_long', `The answer has more than ${maxOutputTokens} tokens.`);
      }
      if (unified === 'content-filter') {
        throw new ModelFailure('declined', 'The model declines to answer.');
      }
      return text;
    } catch (error) {
      if (error instanceof ModelFailure) throw error;
      // what a provider was stopped at it may charge: the reservation stays
      signal?.throwIfAborted();
      const failed = readFailure(error, { timedOut: timeout.aborted, apiKey });
      if (!failed.charged) await settle(0, 0);
      return failed;
    }
  }
}

function dataOf(data: unknown): string {
  try {
    return asData(data);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new ModelFailure('too_long', 'The question to the model is longer than allowed.', {
      cause: error.message,
    });
  }
}

const repairOf = (faults: string[]): string =>
  `That answer cannot be used: ${faults.slice(0, 10).join(' ').slice(0, 2_000)} Answer again, with one JSON object that fits the schema.`;

/** How a request that needs a model is answered when it gives none: `ai_not_configured`, `ai_budget_spent`, or `upstream_failed` with the kind as `reason`. */
export function refusalOf(error: unknown): unknown {
  if (!(error instanceof ModelFailure)) return error;
  if (error.kind === 'not_configured') return aiNotConfigured(error.missing);
  if (error.kind === 'budget') {
    return new EstateError('ai_budget_spent', error.message, { extra: { budget: error.budget } });
  }
  return new EstateError('upstream_failed', error.message, { extra: { reason: error.kind }, cause: error });
}

import { setTimeout as delay } from 'node:timers/promises';
import type { LanguageModelV4, LanguageModelV4Prompt } from '@ai-sdk/provider';
import type { Static, TSchema } from 'typebox';
import {
  type AiUse,
  countOutcome,
  recordUsage,
  reserveTokens,
  type SpentBudget,
} from '../../../domain/analysis/ai/ai.budget.ts';
import { type AiProvider, aiNotConfigured, readAiProvider } from '../../../domain/analysis/ai/ai.provider.ts';
import { EstateError } from '../../../platform/errors.ts';
import { asData, promptNamed, promptPreamble } from './models.data.ts';
import { type FailedCall, readFailure } from './models.failures.ts';
import { boundedFetch, openModel } from './models.open.ts';
import { outgoingSchema, readJson, schemaErrors } from './models.schema.ts';
import {
  type Completion,
  ModelFailure,
  type ModelRequest,
  type ModelRetryPolicy,
  type ModelServices,
  type ModelUse,
  requestRetryPolicy,
  runRetryPolicy,
} from './models.types.ts';

const MAX_OUTPUT_TOKENS = 2_000;
/** Allowance for tokens that providers add to messages. */
const OVERHEAD_TOKENS = 500;
/** Maximum characters of an invalid answer that is sent back to the model. */
const MAX_SHOWN_AGAIN = 8_000;

/**
 * Sends a request to the configured model. The answer conforms to the schema and passes the check; an invalid one is sent back
 * once with the errors. Every request is reserved in the budgets of run and day before it is sent.
 * @throws ModelFailure for any failure; the signal's reason if it is aborted.
 */
export async function complete<S extends TSchema>(
  services: ModelServices,
  request: ModelRequest<S>,
  retryPolicy: ModelRetryPolicy = runRetryPolicy,
): Promise<Completion<Static<S>>> {
  return await completeWith(services, await readProvider(services), request, retryPolicy);
}

/** {@link complete} for a direct request of a user; the prompt has the name of the purpose. */
export async function completeNow<S extends TSchema>(
  services: ModelServices,
  purpose: string,
  request: Pick<ModelRequest<S>, 'data' | 'schema' | 'check'>,
): Promise<Completion<Static<S>>> {
  const prompt = promptNamed(purpose);
  return await complete(services, { ...request, purpose, prompt, runId: null }, requestRetryPolicy);
}

/** Like {@link complete}, with given provider settings. */
export async function completeWith<S extends TSchema>(
  services: ModelServices,
  provider: AiProvider,
  request: ModelRequest<S>,
  retryPolicy: ModelRetryPolicy,
): Promise<Completion<Static<S>>> {
  const model = await openModel(provider, boundedFetch(services.outbound));
  const asking = new ModelCall(services, provider, request, retryPolicy, model);
  const { name, version } = request.prompt;
  const prompt = `${name}@${version}`;
  const asked = { provider: provider.settings.provider_type, model: provider.settings.model, prompt };
  const note = (outcome: string) =>
    countOutcome(services.db, {
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
  tokens_per_run: 'The token budget of the run is spent',
  tokens_per_day: 'The daily token budget is spent',
  calls_per_day: 'The daily call budget is spent',
};

/** The state of one request with its retries. */
class ModelCall {
  readonly use: ModelUse = { calls: 0, tokensIn: 0, tokensOut: 0 };
  readonly #services: ModelServices;
  readonly #provider: AiProvider;
  readonly #request: ModelRequest<TSchema>;
  readonly #retryPolicy: ModelRetryPolicy;
  readonly #startedAt = performance.now();
  readonly #model: LanguageModelV4;

  constructor(
    services: ModelServices,
    provider: AiProvider,
    request: ModelRequest<TSchema>,
    retryPolicy: ModelRetryPolicy,
    model: LanguageModelV4,
  ) {
    this.#services = services;
    this.#provider = provider;
    this.#request = request;
    this.#retryPolicy = retryPolicy;
    this.#model = model;
  }

  /** @throws ModelFailure, or the signal's reason. */
  async answer(): Promise<unknown> {
    const { prompt, data } = this.#request;
    const messages: LanguageModelV4Prompt = [
      { role: 'system', content: `${promptPreamble}\n\n${prompt.system}` },
      { role: 'user', content: [{ type: 'text', text: dataOf(data) }] },
    ];
    const first = await this.#requestWithRetries(messages);
    const errors = await this.#errorsOf(first);
    if (errors.length === 0) return readJson(first);
    const second = await this.#requestWithRetries([
      ...messages,
      // providers refuse empty messages
      {
        role: 'assistant',
        content: [{ type: 'text', text: first.slice(0, MAX_SHOWN_AGAIN) || '(nothing)' }],
      },
      { role: 'user', content: [{ type: 'text', text: repairOf(errors) }] },
    ]);
    const remaining = await this.#errorsOf(second);
    if (remaining.length === 0) return readJson(second);
    throw new ModelFailure('off_schema', 'The answers of the model do not conform to the schema.', {
      cause: remaining.slice(0, 3).join('; '),
    });
  }

  async #errorsOf(text: string): Promise<string[]> {
    const answer = readJson(text);
    if (answer === undefined) return ['The answer is not a JSON object.'];
    const errors = schemaErrors(this.#request.schema, answer);
    return errors.length > 0 ? errors : ((await this.#request.check?.(answer)) ?? []);
  }

  /** Requests an answer, with retries. */
  async #requestWithRetries(messages: LanguageModelV4Prompt): Promise<string> {
    const { attempts, pauseMs, longestWaitMs } = this.#retryPolicy;
    const { signal } = this.#request;
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await this.#call(messages);
      if (typeof outcome === 'string') return outcome;
      const { failure, again, waitMs = 0 } = outcome;
      if (!again || attempt >= attempts || waitMs > longestWaitMs || this.#remainingMs() <= 0) throw failure;
      // random delays, so that workers do not retry at the same time
      const pause = pauseMs * 2 ** (attempt - 1) * (1 + Math.random());
      await delay(Math.max(pause, waitMs), undefined, signal ? { signal } : {}).catch(() => undefined);
      signal?.throwIfAborted();
    }
  }

  /** The time that is left for the answer, in milliseconds. */
  #remainingMs(): number {
    const { totalMs = Number.MAX_SAFE_INTEGER } = this.#retryPolicy;
    return Math.ceil(this.#startedAt + totalMs - performance.now());
  }

  /** Sends one request, reserved in the budgets. */
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
    const timeout = AbortSignal.timeout(
      Math.max(1, Math.min(this.#retryPolicy.timeoutMs, this.#remainingMs())),
    );
    const settle = async (tokensIn: number, tokensOut: number) => {
      this.use.tokensIn += tokensIn;
      this.use.tokensOut += tokensOut;
      await recordUsage(db, reserved, { tokensIn, tokensOut });
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
      const tokensIn = reportedOr(inputTokens.total, JSON.stringify(messages));
      await settle(tokensIn, reportedOr(outputTokens.total, text));
      const { unified } = result.finishReason;
      if (unified === 'length') {
        throw new ModelFailure('too_long', `The answer has more than ${maxOutputTokens} tokens.`);
      }
      if (unified === 'content-filter') throw new ModelFailure('declined', 'The model refused to answer.');
      return text;
    } catch (error) {
      if (error instanceof ModelFailure) throw error;
      // an aborted request may be charged: the reservation remains
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
    throw new ModelFailure('too_long', 'The request to the model is longer than allowed.', {
      cause: error.message,
    });
  }
}

const repairOf = (errors: string[]): string =>
  `That answer cannot be used: ${errors.slice(0, 10).join(' ').slice(0, 2_000)} Answer again, with one JSON object that fits the schema.`;

/** Maps a model failure to an error for the client: `ai_not_configured`, `ai_budget_spent`, or `upstream_failed` with `reason`. */
export function toClientError(error: unknown): unknown {
  if (!(error instanceof ModelFailure)) return error;
  if (error.kind === 'not_configured') return aiNotConfigured(error.missing);
  if (error.kind === 'budget') {
    return new EstateError('ai_budget_spent', error.message, { extra: { budget: error.budget } });
  }
  return new EstateError('upstream_failed', error.message, { extra: { reason: error.kind }, cause: error });
}

/** The tokens that a provider reports; one token for four bytes where it reports none, or no valid number. */
const reportedOr = (reported: number | undefined, text: string): number =>
  Number.isSafeInteger(reported) && reported! >= 0 ? reported! : Math.ceil(Buffer.byteLength(text) / 4);

import type { Static, TSchema } from 'typebox';
import type { SpentBudget } from '../../../domain/analysis/ai/ai.budget.ts';
import type { Services } from '../../../domain/kernel/services.ts';

/** Services for requests to models. */
export type ModelServices = Pick<Services, 'db' | 'secrets' | 'outbound' | 'log'>;

/** Instructions for a model; a change of the text requires a new version. */
export interface Prompt {
  name: string;
  version: number;
  /** The trusted part, without texts of users. */
  system: string;
}

/** One request to a model. */
export interface ModelRequest<S extends TSchema> {
  /** The purpose for the usage statistics, such as `suggest`; lower-case letters and `_`. */
  purpose: string;
  /** The run whose budget it uses; null for a direct request of a user. */
  runId: string | null;
  prompt: Prompt;
  /** The data, including texts of users; sent as JSON, separate from the prompt. */
  data: unknown;
  /** The schema of the answer: closed objects with all members required, so that every provider supports it. */
  schema: S;
  /**
   * Returns the errors of an answer that conforms to the schema, as sentences: unknown ids, values that the metamodel refuses.
   * Never trust parts of an answer that neither this check nor the schema has validated.
   */
  check?: (answer: Static<S>) => string[] | Promise<string[]>;
  /** Maximum tokens of the answer; default 2,000. */
  maxOutputTokens?: number;
  /** Aborts the call, which throws the signal's reason. */
  signal?: AbortSignal;
}

/** A valid answer. */
export interface Completion<A> {
  answer: A;
  provider: string;
  model: string;
  /** Name and version, such as `suggest@1`. */
  prompt: string;
  usage: ModelUse;
}

/** The usage of a request. */
export interface ModelUse {
  /** Sent requests, including retries. */
  calls: number;
  tokensIn: number;
  tokensOut: number;
}

/**
 * Why there is no answer.
 * `not_configured`: no provider is configured. `budget`: the budget of the run or day is spent. `address`: the guard refuses
 * the provider's URL. `unauthorised`: it refuses the key. `rejected`: it refuses the request, such as an unknown model.
 * `rate_limited`: its Retry-After exceeds the maximum. `unavailable`: it cannot be reached, fails, or its response is invalid.
 * `timeout`: it does not respond in time. `declined`: the model refuses to answer. `too_long`: the answer is longer than
 * allowed. `off_schema`: two answers did not conform to the schema.
 */
export type ModelFailureKind =
  | 'not_configured'
  | 'budget'
  | 'address'
  | 'unauthorised'
  | 'rejected'
  | 'rate_limited'
  | 'unavailable'
  | 'timeout'
  | 'declined'
  | 'too_long'
  | 'off_schema';

/** There is no usable answer of a model. Runs continue without it and report this; the message is for the user. */
export class ModelFailure extends Error {
  override readonly name = 'ModelFailure';
  readonly kind: ModelFailureKind;
  /** The usage in spite of the failure. */
  use: ModelUse = { calls: 0, tokensIn: 0, tokensOut: 0 };
  /** The provider, model and prompt; undefined if no request was possible. */
  asked: { provider: string; model: string; prompt: string } | undefined;
  /** For `budget`: the exceeded setting. */
  readonly budget: SpentBudget | undefined;
  /** For `not_configured`: the missing setting. */
  readonly missing: readonly string[];

  constructor(
    kind: ModelFailureKind,
    message: string,
    more: { budget?: SpentBudget; missing?: readonly string[]; cause?: unknown } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.kind = kind;
    this.budget = more.budget;
    this.missing = more.missing ?? [];
  }
}

/** Timeouts and retries of requests. */
export interface ModelRetryPolicy {
  /** Timeout of one request. */
  timeoutMs: number;
  /** Timeout of all requests for one answer together. */
  totalMs?: number;
  /** Maximum requests for one answer, without the repair of an invalid one. */
  attempts: number;
  /** Delay before the second request, doubled with each further one; a random delay of up to the same length is added. */
  pauseMs: number;
  /** Maximum accepted Retry-After. */
  longestWaitMs: number;
}

/** For background runs. */
export const runRetryPolicy: ModelRetryPolicy = {
  timeoutMs: 120_000,
  attempts: 4,
  pauseMs: 1_000,
  longestWaitMs: 60_000,
};

/** For synchronous requests. */
export const requestRetryPolicy: ModelRetryPolicy = {
  timeoutMs: 30_000,
  totalMs: 30_000,
  attempts: 2,
  pauseMs: 500,
  longestWaitMs: 5_000,
};

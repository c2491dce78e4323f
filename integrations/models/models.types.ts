import type { Static, TSchema } from 'typebox';
import type { SpentBudget } from '../../domain/analysis/ai/ai.budget.ts';
import type { Services } from '../../domain/kernel/services.ts';

/** What asking a model needs of the process. */
export type ModelServices = Pick<Services, 'db' | 'secrets' | 'outbound' | 'log'>;

/** Instructions to a model, in a file of their own; another wording is another version. */
export interface Prompt {
  name: string;
  version: number;
  /** The trusted part. It holds no text of users. */
  system: string;
}

/** One question to a model. */
export interface ModelRequest<S extends TSchema> {
  /** What the tokens are spent on, such as `suggest`; lower case letters and `_`. */
  purpose: string;
  /** The run on whose budget it goes; null for what a user asks for directly. */
  runId: string | null;
  prompt: Prompt;
  /** What the prompt is about, texts of users too; sent as JSON apart from the prompt. */
  data: unknown;
  /** What an answer must fit: a closed object in whose objects every member is required, so that every provider can keep to it. */
  schema: S;
  /**
   * What is wrong with an answer that fits the schema, in sentences: ids that were not among the data, values that the metamodel
   * refuses. None lets it pass. Never trust an answer in what neither this nor the schema has checked.
   */
  check?: (answer: Static<S>) => string[];
  /** The longest answer; 2,000 unless given. */
  maxOutputTokens?: number;
  /** Ends waiting at once: the call throws the signal's reason. */
  signal?: AbortSignal;
}

/** An answer that fits schema and check. */
export interface Completion<A> {
  answer: A;
  provider: string;
  model: string;
  /** Such as `suggest@1`. */
  prompt: string;
  usage: ModelUse;
}

/** What a question took. */
export interface ModelUse {
  /** Requests sent, repeated ones too. */
  calls: number;
  tokensIn: number;
  tokensOut: number;
}

/**
 * Why there is no answer.
 * `not_configured`: no provider is set up. `budget`: the run or the day has spent its tokens. `address`: the provider's address may not be called.
 * `unauthorised`: it refuses the key. `rejected`: it refuses the request, such as an unknown model. `rate_limited`: it
 * asks for more patience than there is. `unavailable`: it cannot be reached, fails, or answers nonsense. `timeout`: it takes too long.
 * `declined`: the model will not answer. `too_long`: the answer is longer than allowed. `off_schema`: twice an answer did not fit.
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

/** A model gave no answer that can be used. Runs go on without it and say so; the message is for the user. */
export class ModelFailure extends Error {
  override readonly name = 'ModelFailure';
  readonly kind: ModelFailureKind;
  /** What was spent all the same. */
  use: ModelUse = { calls: 0, tokensIn: 0, tokensOut: 0 };
  /** Who was asked, and how; undefined when nobody could be. */
  asked: { provider: string; model: string; prompt: string } | undefined;
  /** Of `budget`: the bound in the way. */
  readonly budget: SpentBudget | undefined;
  /** Of `not_configured`: what has to be set. */
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

/** How patient asking is. */
export interface ModelPatience {
  /** For one request. */
  timeoutMs: number;
  /** Requests for one answer, before its repair. */
  attempts: number;
  /** Before the second request, doubled with each further one; up to as much again is added at random. */
  pauseMs: number;
  /** The longest wait that a Retry-After may ask for. */
  longestWaitMs: number;
}

/** Of runs, which have time. */
export const runPatience: ModelPatience = {
  timeoutMs: 120_000,
  attempts: 4,
  pauseMs: 1_000,
  longestWaitMs: 60_000,
};

/** Of requests, at whose end somebody waits. */
export const requestPatience: ModelPatience = {
  timeoutMs: 45_000,
  attempts: 2,
  pauseMs: 500,
  longestWaitMs: 5_000,
};

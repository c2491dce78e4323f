import { type AiOutcomes, readOutcomes } from '../../../domain/analysis/ai/ai.budget.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import type { Metrics } from '../../../platform/metrics.ts';

/** Requests of all processes to language models, and their outcomes. */
export function registerAiMetrics(metrics: Metrics, { db }: Pick<Services, 'db'>): void {
  const each = async <L extends string>(
    read: (outcome: AiOutcomes) => { labels: Record<L, string>; value: number }[],
  ) => (await readOutcomes(db)).flatMap(read);
  metrics.counter(
    'estate_ai_questions_total',
    'Questions to language models by outcome',
    ['provider', 'purpose', 'outcome'],
    () =>
      each(({ provider, purpose, outcome, questions }) => [
        { labels: { provider, purpose, outcome }, value: questions },
      ]),
  );
  metrics.counter(
    'estate_ai_calls_total',
    'Requests sent to providers of language models, including retries',
    ['provider', 'purpose'],
    () => each(({ provider, purpose, calls }) => [{ labels: { provider, purpose }, value: calls }]),
  );
  metrics.counter(
    'estate_ai_tokens_total',
    'Tokens that language models read (in) and wrote (out)',
    ['provider', 'purpose', 'direction'],
    () =>
      each(({ provider, purpose, tokensIn, tokensOut }) => [
        { labels: { provider, purpose, direction: 'in' }, value: tokensIn },
        { labels: { provider, purpose, direction: 'out' }, value: tokensOut },
      ]),
  );
}

import { aiNotConfigured } from '../../domain/analysis/ai/ai.provider.ts';
import { EstateError } from '../../platform/errors.ts';
import { ModelFailure } from './models.types.ts';

/** How a request that needs a model is answered when it gives none: `ai_not_configured`, `ai_budget_spent`, or `upstream_failed` with the kind as `reason`. */
export function refusalOf(error: unknown): unknown {
  if (!(error instanceof ModelFailure)) return error;
  if (error.kind === 'not_configured') return aiNotConfigured(error.missing);
  if (error.kind === 'budget') {
    return new EstateError('ai_budget_spent', error.message, { extra: { budget: error.budget } });
  }
  return new EstateError('upstream_failed', error.message, { extra: { reason: error.kind }, cause: error });
}

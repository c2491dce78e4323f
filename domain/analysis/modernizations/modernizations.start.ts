import { invalidField } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { modernizationsJob } from '../runs/analysis.jobs.ts';
import { type StartedRun, startAnalysis } from '../runs/runs.start.ts';
import type { ModernizationType } from './modernizations.types.ts';

export interface ModernizationsAsked {
  /** The type of the cards that are judged. */
  target_type: string;
  /** `general`: whatever fits; else only what is of this type. */
  modernization_type: 'general' | ModernizationType;
}

/**
 * Starts judging the cards of a type.
 * @throws EstateError `forbidden`, `wrong_state`, `validation_failed` for a type that there is not.
 */
export async function startModernizations(ctx: Ctx, asked: ModernizationsAsked): Promise<StartedRun> {
  requirePermission(ctx.caller, 'ai_analysis.manage');
  if (!ctx.metamodel.visibleTypes.includes(asked.target_type)) {
    throw invalidField('target_type', 'unknown_type', 'is no card type');
  }
  return await startAnalysis(ctx, {
    type: 'modernizations',
    job: modernizationsJob,
    parameters: { target_type: asked.target_type, modernization_type: asked.modernization_type },
  });
}

import { invalidField } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import { duplicatesJob, type StartedRun, startAnalysis } from '../runs/runs.ts';
import type { SearchMode } from './duplicates.model.ts';

/**
 * Starts a search for duplicates among the cards of some types, or of all visible ones.
 * @throws EstateError `forbidden`; `validation_failed` for an invisible type; `wrong_state` while one is in progress.
 */
export async function startSearch(
  ctx: Ctx,
  { card_types, mode = 'changes' }: { card_types?: string[]; mode?: SearchMode },
  dryRun = false,
): Promise<StartedRun> {
  const unknown = card_types?.findIndex((type) => !ctx.metamodel.visibleTypes.includes(type)) ?? -1;
  if (unknown >= 0) {
    const message = `There is no card type ${card_types![unknown]}.`;
    throw invalidField(`card_types.${unknown}`, 'unknown_type', message);
  }
  const parameters = { mode, ...(card_types ? { card_types: [...new Set(card_types)] } : {}) };
  return await startAnalysis(ctx, { type: 'duplicates', job: duplicatesJob, parameters, dryRun });
}

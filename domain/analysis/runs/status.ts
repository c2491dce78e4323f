import type { Ctx } from '../../kernel/context.ts';
import { isEnabled } from '../../kernel/settings/modules.ts';
import { loadSettings } from '../../kernel/settings/settings.state.ts';
import { missingForAi } from '../ai/ai.provider.ts';

/** Whether analyses are available, and whether they can use a language model. */
export async function readStatus(ctx: Ctx) {
  const settings = await loadSettings(ctx.db);
  const enabled = isEnabled(settings, 'ai_analysis');
  return { ai_configured: missingForAi(settings).length === 0, ready: enabled, enabled };
}

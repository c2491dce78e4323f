import type { WorkspaceSettings } from '../../kernel/settings/settings.state.ts';
import { missingForAi } from './ai.provider.ts';

/** Whether features that need a model are available. */
export function aiStatus(settings: WorkspaceSettings) {
  const { ai } = settings.values;
  return {
    enabled: ai.enabled,
    configured: missingForAi(settings).every((missing) => missing === 'enabled'),
    provider_type: ai.provider_type,
    enabled_types: ai.enabled_types,
    model: ai.model === '' ? null : ai.model,
    portfolio_insights_enabled: ai.portfolio_insights_enabled,
  };
}

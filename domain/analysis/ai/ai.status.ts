import type { WorkspaceSettings } from '../../kernel/settings/settings.state.ts';
import { missingForAi } from './ai.provider.ts';

/** The available features. */
export interface AiStatus {
  enabled: boolean;
  /** Whether a model can be used once it is enabled. */
  configured: boolean;
  provider_type: string;
  enabled_types: string[];
  model: string | null;
  portfolio_insights_enabled: boolean;
}

/** Whether features that need a model are available. */
export function aiStatus(settings: WorkspaceSettings): AiStatus {
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

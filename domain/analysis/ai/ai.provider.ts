import type { SecretBox } from '../../../platform/crypto.ts';
import type { Sql } from '../../../platform/database.ts';
import { EstateError } from '../../../platform/errors.ts';
import {
  loadSettings,
  readSecret,
  type SettingValues,
  secretKey,
  type WorkspaceSettings,
} from '../../kernel/settings/settings.read.ts';

export type AiSettings = SettingValues['ai'];

/** The configuration of a provider. */
export interface AiProvider {
  settings: AiSettings;
  /** Decrypted; empty if the provider needs none. */
  apiKey: string;
}

/** Providers that need a key. `openai` without a base URL is OpenAI itself. */
const needsKey = ({ provider_type: type, provider_url: url }: AiSettings): boolean =>
  type === 'anthropic' || type === 'azure_openai' || type === 'gemini' || (type === 'openai' && url === '');

/** The settings that are missing before a model can be used. */
export function missingForAi(settings: WorkspaceSettings): (keyof AiSettings | 'api_key')[] {
  const {
    values: { ai },
    secrets,
  } = settings;
  return [
    ...(ai.enabled ? [] : (['enabled'] as const)),
    ...(ai.model === '' ? (['model'] as const) : []),
    ...(ai.provider_type === 'azure_openai' && ai.provider_url === '' ? (['provider_url'] as const) : []),
    ...(needsKey(ai) && !secrets.has(secretKey('ai')) ? (['api_key'] as const) : []),
  ];
}

/** The error of operations that need a model if none is configured; `missing` lists the missing settings. */
export function aiNotConfigured(missing: readonly string[]): EstateError {
  return new EstateError(
    'ai_not_configured',
    `No provider of language models is set up: set ${missing.join(', ')} in PATCH /api/v1/settings/ai.`,
    { extra: { missing: [...missing] } },
  );
}

/** The error of suggestions for a type that the settings exclude. */
export function typeNotEnabled(type: string): EstateError {
  return new EstateError(
    'ai_not_configured',
    `Suggestions are not made for cards of the type ${type}: add it to enabled_types in PATCH /api/v1/settings/ai.`,
    { extra: { missing: ['enabled_types'] } },
  );
}

/** @throws EstateError `ai_not_configured`. */
export function requireAi(settings: WorkspaceSettings): void {
  const missing = missingForAi(settings);
  if (missing.length > 0) throw aiNotConfigured(missing);
}

/**
 * The current provider.
 * @param ignores settings that may be missing.
 * @throws EstateError `ai_not_configured`.
 */
export async function readAiProvider(
  sql: Sql,
  secrets: SecretBox,
  { ignores = [] }: { ignores?: readonly (keyof AiSettings)[] } = {},
): Promise<AiProvider> {
  const settings = await loadSettings(sql);
  const missing = missingForAi(settings).filter((member) => !(ignores as string[]).includes(member));
  if (missing.length > 0) throw aiNotConfigured(missing);
  return { settings: settings.values.ai, apiKey: await readSecret(sql, secrets, 'ai') };
}

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

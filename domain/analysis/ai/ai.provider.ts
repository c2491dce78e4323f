import type { SecretBox } from '../../../platform/crypto.ts';
import type { Sql } from '../../../platform/database.ts';
import { EstateError } from '../../../platform/errors.ts';
import type { SettingValues } from '../../kernel/settings/settings.defaults.ts';
import { readSecret, secretKey } from '../../kernel/settings/settings.secrets.ts';
import { loadSettings, type WorkspaceSettings } from '../../kernel/settings/settings.state.ts';

export type AiSettings = SettingValues['ai'];

/** What talking to the provider takes. */
export interface AiProvider {
  settings: AiSettings;
  /** In clear; empty where the provider wants none. */
  apiKey: string;
}

/** Providers that nobody may ask without a key. `openai` without an address is OpenAI's own. */
const needsKey = ({ provider_type: type, provider_url: url }: AiSettings): boolean =>
  type === 'anthropic' || type === 'azure_openai' || type === 'gemini' || (type === 'openai' && url === '');

/** The members of the settings that have to be set before a model can be asked; none when it can. */
export function missingForAi({
  values: { ai },
  secrets,
}: WorkspaceSettings): (keyof AiSettings | 'api_key')[] {
  return [
    ...(ai.enabled ? [] : (['enabled'] as const)),
    ...(ai.model === '' ? (['model'] as const) : []),
    ...(ai.provider_type === 'azure_openai' && ai.provider_url === '' ? (['provider_url'] as const) : []),
    ...(needsKey(ai) && !secrets.has(secretKey('ai')) ? (['api_key'] as const) : []),
  ];
}

/** The refusal of what needs a model while none is set up. It names what to set, as `missing`. */
export function aiNotConfigured(missing: readonly string[]): EstateError {
  return new EstateError(
    'ai_not_configured',
    `No provider of language models is set up: set ${missing.join(', ')} in PATCH /api/v1/settings/ai.`,
    { extra: { missing: [...missing] } },
  );
}

/** The refusal of suggestions for a type that the settings leave out. */
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
 * The provider as it is set up now.
 * @param disabledToo also while it is not enabled.
 * @throws EstateError `ai_not_configured`.
 */
export async function readAiProvider(
  sql: Sql,
  secrets: SecretBox,
  { disabledToo = false } = {},
): Promise<AiProvider> {
  const settings = await loadSettings(sql);
  const missing = missingForAi(settings).filter((member) => !(disabledToo && member === 'enabled'));
  if (missing.length > 0) throw aiNotConfigured(missing);
  return { settings: settings.values.ai, apiKey: await readSecret(sql, secrets, 'ai') };
}

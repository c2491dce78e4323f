import Type from 'typebox';
import { Value } from 'typebox/value';
import { type AiProvider, readAiProvider } from '../../../domain/analysis/ai/ai.provider.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { EstateError } from '../../../platform/errors.ts';
import { type Outbound, OutboundOverflow, OutboundRefusal } from '../../../platform/outbound.ts';
import { apiAddress } from './models.open.ts';
import type { ModelServices } from './models.types.ts';

/** A model of a provider, by the name that the settings take. */
interface ListedModel {
  id: string;
  name: string;
}

const Name = Type.String({ minLength: 1, maxLength: 200 });
const Listed = Type.Object({
  id: Type.Optional(Name),
  name: Type.Optional(Name),
  display_name: Type.Optional(Name),
  displayName: Type.Optional(Name),
  supportedGenerationMethods: Type.Optional(Type.Array(Type.String())),
});
/** OpenAI, Ollama and Anthropic have `data`, Gemini has `models`. */
const Answer = Type.Object({
  data: Type.Optional(Type.Array(Listed)),
  models: Type.Optional(Type.Array(Listed)),
});

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 2 * 1024 * 1024;
const MAX_MODELS = 1_000;

/**
 * The models of the provider in the settings, by name, even if AI is disabled or no model is chosen.
 * @throws EstateError `ai_not_configured`; `wrong_state` for a provider without such a list; `upstream_failed` with
 * `reason`.
 */
export async function listModels(ctx: Ctx, { secrets, outbound }: ModelServices): Promise<ListedModel[]> {
  const provider = await readAiProvider(ctx.db, secrets, { ignores: ['enabled', 'model'] });
  return await modelsOf(outbound, provider);
}

/** {@link listModels} of a provider. */
export async function modelsOf(
  outbound: Outbound,
  provider: AiProvider,
  timeoutMs: number = TIMEOUT_MS,
): Promise<ListedModel[]> {
  const { url, headers } = listAddress(provider);
  try {
    const { status, body } = await outbound.request(url, { headers, timeoutMs, maxBytes: MAX_BYTES });
    if (status === 401 || status === 403) throw failed('unauthorised', 'The AI provider refuses the key.');
    if (status !== 200) throw failed('unavailable', `The AI provider responds with ${status}.`);
    return modelsIn(JSON.parse(body.toString('utf8')));
  } catch (error) {
    throw error instanceof EstateError ? error : asFailure(error);
  }
}

function listAddress({ settings, apiKey }: AiProvider): { url: string; headers: Record<string, string> } {
  const address = apiAddress(settings);
  switch (settings.provider_type) {
    case 'anthropic':
      return {
        url: `${address}/models?limit=1000`,
        headers: { 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' },
      };
    case 'gemini':
      return { url: `${address}/models?pageSize=1000`, headers: { 'x-goog-api-key': apiKey } };
    case 'azure_openai':
      // its models are deployments, which only the management of the resource lists
      throw new EstateError('wrong_state', 'Azure has no list of deployments: enter the name of one.');
    default:
      return {
        url: `${address}/models`,
        headers: apiKey === '' ? {} : { authorization: `Bearer ${apiKey}` },
      };
  }
}

function modelsIn(answer: unknown): ListedModel[] {
  if (!Value.Check(Answer, answer)) {
    throw failed('unavailable', 'The response of the AI provider cannot be parsed.');
  }
  const models = (answer.data ?? answer.models ?? []).flatMap((model): ListedModel[] => {
    const id = (model.id ?? model.name)?.replace(/^models\//, '');
    // Gemini also lists models that only make vectors or pictures
    const generates = model.supportedGenerationMethods?.includes('generateContent') ?? true;
    return id && generates ? [{ id, name: model.display_name ?? model.displayName ?? id }] : [];
  });
  return models.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, MAX_MODELS);
}

const failed = (reason: string, message: string): EstateError =>
  new EstateError('upstream_failed', message, { extra: { reason } });

function asFailure(error: unknown): EstateError {
  if (error instanceof OutboundRefusal) return failed('address', error.message);
  if (error instanceof OutboundOverflow) {
    return failed('too_long', 'The response of the AI provider is longer than allowed.');
  }
  if (error instanceof SyntaxError) {
    return failed('unavailable', 'The response of the AI provider cannot be parsed.');
  }
  return (error as Error).name === 'TimeoutError'
    ? failed('timeout', 'The AI provider does not respond in time.')
    : failed('unavailable', 'The AI provider cannot be reached.');
}

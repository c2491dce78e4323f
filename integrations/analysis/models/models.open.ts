import type { OpenAICompatibleProviderSettings } from '@ai-sdk/openai-compatible';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { AiProvider, AiSettings } from '../../../domain/analysis/ai/ai.provider.ts';
import { type Outbound, OutboundOverflow } from '../../../platform/outbound.ts';

type ProviderType = AiSettings['provider_type'];

/** Default URLs of the providers; Azure has one per resource. */
const usual: Record<ProviderType, string> = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
  gemini: 'https://generativelanguage.googleapis.com/v1beta',
  ollama: 'http://localhost:11434/v1',
  azure_openai: '',
};

/** The base URL of the provider's API. A configured URL without a path gets the default path. */
export function apiAddress({ provider_type: type, provider_url: given }: AiSettings): string {
  if (given === '') return usual[type];
  const url = new URL(given);
  const path = url.pathname.replace(/\/+$/, '');
  return `${url.origin}${path === '' && type !== 'azure_openai' ? new URL(usual[type]).pathname : path}`;
}

/**
 * Opens the model with the SDK, which is loaded on first use since it takes about 30 MB. The key is always passed, so that the
 * SDK never reads one from the environment.
 * @param guarded a `fetch` that checks URLs and limits responses.
 */
export async function openModel(
  { settings, apiKey }: AiProvider,
  guarded: typeof fetch,
): Promise<LanguageModelV4> {
  const { provider_type: type, model } = settings;
  const address = apiAddress(settings);
  switch (type) {
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      return createAnthropic({ baseURL: address, apiKey, fetch: guarded })(model);
    }
    case 'gemini': {
      const { createGoogle } = await import('@ai-sdk/google');
      return createGoogle({ baseURL: address, apiKey, fetch: guarded })(model);
    }
    case 'azure_openai':
      return await openAi(address, model, guarded, azure(settings, apiKey, address));
    default:
      return await openAi(address, model, guarded, {
        ...(apiKey === '' ? {} : { apiKey }),
        // OpenAI's newer models require `max_completion_tokens`, compatible servers only know `max_tokens`
        ...(address === usual.openai ? { transformRequestBody: newName } : {}),
      });
  }
}

type OpenAiOptions = Omit<OpenAICompatibleProviderSettings, 'name'>;

async function openAi(
  baseURL: string,
  model: string,
  guarded: typeof fetch,
  more: Partial<OpenAiOptions>,
): Promise<LanguageModelV4> {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  const options = { baseURL, name: 'openai', fetch: guarded, supportsStructuredOutputs: true, ...more };
  return createOpenAICompatible(options).chatModel(model);
}

/** The deployment is part of the path, or the model with Azure's v1 API. */
function azure(settings: AiSettings, apiKey: string, address: string): Partial<OpenAiOptions> {
  const options = { headers: { 'api-key': apiKey }, transformRequestBody: newName };
  if (address.endsWith('/openai/v1')) return options;
  const deployment = encodeURIComponent(settings.model);
  const baseURL = `${address.replace(/\/openai$/, '')}/openai/deployments/${deployment}`;
  return { ...options, baseURL, queryParams: { 'api-version': settings.api_version } };
}

function newName({ max_tokens, ...body }: Record<string, unknown>): Record<string, unknown> {
  return { ...body, max_completion_tokens: max_tokens };
}

/** Maximum bytes of a response. */
const MAX_BYTES = 2 * 1024 * 1024;

/** A `fetch` for the SDK that uses the guard of {@link Outbound} and limits the size of responses. */
export function boundedFetch(outbound: Outbound): typeof fetch {
  return async (input, init) => {
    const response = await outbound.fetch(input as string | URL, init as never);
    let size = 0;
    const counted = response.body?.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          size += chunk.byteLength;
          if (size > MAX_BYTES) {
            controller.error(new OutboundOverflow(`the response is longer than ${MAX_BYTES} bytes`));
          } else controller.enqueue(chunk);
        },
      }),
    );
    const body = (counted ?? null) as ReadableStream | null;
    return new Response(body, { status: response.status, headers: Object.fromEntries(response.headers) });
  };
}

// short timeout: the list is optional in the status
const STATUS_TIMEOUT_MS = 1_000;
const MAX_STATUS_BYTES = 64 * 1024;

/** The models that Ollama has loaded (`GET /api/ps`); empty for other providers, and if it does not respond. */
export async function runningModels(outbound: Outbound, settings: AiSettings): Promise<string[]> {
  if (settings.provider_type !== 'ollama' || !settings.enabled) return [];
  try {
    const limits = { timeoutMs: STATUS_TIMEOUT_MS, maxBytes: MAX_STATUS_BYTES };
    const { status, body } = await outbound.request(`${new URL(apiAddress(settings)).origin}/api/ps`, limits);
    const { models } = status === 200 ? JSON.parse(body.toString('utf8')) : { models: [] };
    return models.map(({ name }: { name: unknown }) => String(name).slice(0, 200)).slice(0, 100);
  } catch {
    return [];
  }
}

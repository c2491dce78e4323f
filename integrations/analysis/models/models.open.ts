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
  return {
    ...options,
    baseURL: `${address.replace(/\/openai$/, '')}/openai/deployments/${deployment}`,
    queryParams: { 'api-version': settings.api_version },
  };
}

function newName({ max_tokens, ...body }: Record<string, unknown>): Record<string, unknown> {
  return { ...body, max_completion_tokens: max_tokens };
}

/** Maximum bytes of a response. */
const MAX_BYTES = 2 * 1024 * 1024;

/** A `fetch` for the SDK that uses the guard of {@link Outbound} and limits the size of responses. */
export function boundedFetch(outbound: Outbound, maxBytes: number = MAX_BYTES): typeof fetch {
  return async (input, init) => {
    const response = await outbound.fetch(input as string | URL, init as never);
    let size = 0;
    const counted = response.body?.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          size += chunk.byteLength;
          if (size > maxBytes) {
            controller.error(new OutboundOverflow(`the response is longer than ${maxBytes} bytes`));
          } else controller.enqueue(chunk);
        },
      }),
    );
    return new Response((counted ?? null) as ReadableStream | null, {
      status: response.status,
      headers: Object.fromEntries(response.headers),
    });
  };
}

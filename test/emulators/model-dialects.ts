import type { IncomingHttpHeaders } from 'node:http';
import blocked from './model-dialects.blocked.json' with { type: 'json' };

// biome-ignore lint/suspicious/noExplicitAny: documents of many shapes, into which tests look
export type Json = any;

/** A question as it reached the provider, whatever its protocol. */
export interface AskedModel {
  dialect: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: Json;
  model: string;
  /** The trusted part. */
  system: string;
  /** All else that was said, in order. */
  turns: { role: string; text: string }[];
  /** What is between <data> and </data> in the first turn. */
  data: Json;
  schema: Json;
}

/** How an answer ends: well, cut off, by a filter, or before it began. */
type AnswerEnd = 'stop' | 'length' | 'filtered' | 'empty';

/** A protocol: where questions arrive, how they are read, how answers look. */
export interface Dialect {
  name: string;
  /** The model's name in the path, if it is there. */
  matches(path: URL): { model?: string } | undefined;
  key(headers: IncomingHttpHeaders): string | undefined;
  /** @returns a sentence when the provider would refuse the body. */
  read(
    body: Json,
    model: string | undefined,
  ): Pick<AskedModel, 'model' | 'system' | 'turns' | 'schema'> | string;
  answer(text: string, body: Json, end: AnswerEnd): object;
  error(status: number, message: string): object;
  /** The models that a request for them is answered with; undefined if it is no such request. */
  models(path: URL, headers: IncomingHttpHeaders): object | undefined;
  /** How the provider refuses a question that its filter does not like. */
  blocked: { status: number; body: object };
}

/** What is spent, by a rule that anybody can follow: four characters a token. */
const tokens = (value: unknown): number => Math.ceil(JSON.stringify(value).length / 4);

const textOf = (content: Json): string =>
  typeof content === 'string' ? content : content.map((part: { text?: string }) => part.text ?? '').join('');

/** The JSON object that a text is; undefined where it is none. */
function objectIn(text: string): Json {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** What OpenAI refuses in a schema for strict decoding, or undefined. */
function strictFault(schema: Json): string | undefined {
  if (Array.isArray(schema)) return schema.map(strictFault).find((fault) => fault !== undefined);
  if (typeof schema !== 'object' || schema === null) return undefined;
  if (schema.type === 'object') {
    if (schema.additionalProperties !== false) return "'additionalProperties' is required to be false";
    const names = Object.keys(schema.properties ?? {});
    if (names.some((name) => !schema.required?.includes(name))) return "'required' must name every property";
    return strictFault(Object.values(schema.properties ?? {}));
  }
  for (const word of ['minLength', 'maxLength', 'uniqueItems', 'default']) {
    if (word in schema) return `'${word}' is not permitted`;
  }
  return strictFault([schema.items, ...(schema.anyOf ?? [])]);
}

/** POST /chat/completions below `/v1`, below `/openai/v1`, or below a deployment of Azure's. */
export const openAi: Dialect = {
  name: 'openai',
  matches: ({ pathname, searchParams }) => {
    if (/^(\/openai)?\/v1\/chat\/completions$/.test(pathname)) return {};
    const deployment = /^\/openai\/deployments\/([^/]+)\/chat\/completions$/.exec(pathname)?.[1];
    return deployment && searchParams.has('api-version') ? {} : undefined;
  },
  key: ({ authorization, 'api-key': azure }) => (azure as string) ?? authorization?.replace(/^Bearer /, ''),
  read(body) {
    const { type, json_schema: wanted } = body.response_format ?? {};
    if (!body.model || !Array.isArray(body.messages)) return 'model and messages are required';
    if (type !== 'json_schema' || !/^[a-zA-Z0-9_-]{1,64}$/.test(wanted?.name)) return 'bad response_format';
    const fault = wanted.strict ? strictFault(wanted.schema) : undefined;
    if (fault) return `Invalid schema for response_format: ${fault}`;
    const [first, ...turns] = body.messages.map(({ role, content }: { role: string; content: unknown }) => ({
      role,
      text: textOf(content),
    }));
    if (first.role !== 'system') return 'no system message';
    return { model: body.model, system: first.text, turns, schema: wanted.schema };
  },
  answer: (text, body, end) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_750_000_000,
    model: body.model,
    choices:
      end === 'empty'
        ? []
        : [
            {
              index: 0,
              message: { role: 'assistant', content: end === 'filtered' ? null : text },
              finish_reason: end === 'filtered' ? 'content_filter' : end,
            },
          ],
    usage: {
      prompt_tokens: tokens(body.messages),
      completion_tokens: tokens(text),
      total_tokens: tokens(body.messages) + tokens(text),
    },
  }),
  error: (status, message) => ({ error: { message, type: 'error', param: null, code: String(status) } }),
  models: ({ pathname }, headers) =>
    pathname === '/v1/models' && !('anthropic-version' in headers)
      ? {
          object: 'list',
          data: [{ id: 'small', object: 'model', created: 1, owned_by: 'us' }, { id: 'large' }],
        }
      : undefined,
  // as Azure does
  blocked: {
    status: 400,
    body: {
      error: { message: 'Filtered', type: null, param: 'prompt', code: 'content_filter', status: 400 },
    },
  },
};

/** POST /v1/messages; structured answers come by the only tool, or by `output_config`. */
export const anthropic: Dialect = {
  name: 'anthropic',
  matches: ({ pathname }) => (pathname === '/v1/messages' ? {} : undefined),
  key: (headers) => headers['x-api-key'] as string,
  read(body) {
    if (!body.model || !(body.max_tokens > 0)) return 'model and max_tokens are required';
    const schema = body.output_config?.format?.schema ?? body.tools?.[0]?.input_schema;
    if (!schema) return 'nothing structured is asked for';
    const turns = body.messages.map(({ role, content }: { role: string; content: unknown }) => ({
      role,
      text: textOf(content),
    }));
    return { model: body.model, system: textOf(body.system), turns, schema };
  },
  answer(text, body, end) {
    // a model may talk instead of using the tool
    const input = body.tools ? objectIn(text) : undefined;
    const said =
      input === undefined
        ? { type: 'text', text }
        : { type: 'tool_use', id: 'toolu_1', name: body.tools[0].name, input };
    const reasons = { length: 'max_tokens', filtered: 'refusal', empty: 'end_turn' };
    return {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: body.model,
      content: end === 'filtered' || end === 'empty' ? [] : [said],
      stop_reason: end === 'stop' ? (input === undefined ? 'end_turn' : 'tool_use') : reasons[end],
      stop_sequence: null,
      usage: { input_tokens: tokens(body.messages), output_tokens: tokens(text) },
    };
  },
  error: (_status, message) => ({ type: 'error', error: { type: 'invalid_request_error', message } }),
  models: ({ pathname }, headers) =>
    pathname === '/v1/models' && 'anthropic-version' in headers
      ? { data: [{ type: 'model', id: 'claude-small', display_name: 'Claude Small' }], has_more: false }
      : undefined,
  blocked: blocked,
};

/** POST /v1beta/models/{model}:generateContent. */
export const gemini: Dialect = {
  name: 'gemini',
  matches: ({ pathname }) => {
    const model = /^\/v1beta\/models\/([^/:]+):generateContent$/.exec(pathname)?.[1];
    return model === undefined ? undefined : { model };
  },
  key: (headers) => headers['x-goog-api-key'] as string,
  read(body, model) {
    const { responseMimeType, responseJsonSchema, responseSchema } = body.generationConfig ?? {};
    if (responseMimeType !== 'application/json') return 'nothing structured is asked for';
    const turns = body.contents.map(({ role, parts }: { role: string; parts: unknown }) => ({
      role,
      text: textOf(parts),
    }));
    const system = textOf(body.systemInstruction.parts);
    return { model: model!, system, turns, schema: responseJsonSchema ?? responseSchema };
  },
  answer: (text, body, end) => ({
    candidates:
      end === 'empty'
        ? []
        : [
            {
              index: 0,
              ...(end === 'filtered' ? {} : { content: { role: 'model', parts: [{ text }] } }),
              finishReason: { stop: 'STOP', length: 'MAX_TOKENS', filtered: 'SAFETY' }[end],
            },
          ],
    usageMetadata: {
      promptTokenCount: tokens(body.contents),
      candidatesTokenCount: tokens(text),
      totalTokenCount: tokens(body.contents) + tokens(text),
    },
    modelVersion: 'emulated',
  }),
  error: (status, message) => ({ error: { code: status, message, status: 'FAILED' } }),
  models: ({ pathname }) =>
    pathname === '/v1beta/models'
      ? {
          models: [
            {
              name: 'models/gemini-small',
              displayName: 'Gemini Small',
              supportedGenerationMethods: ['generateContent'],
            },
            { name: 'models/vectors', displayName: 'Vectors', supportedGenerationMethods: ['embedContent'] },
          ],
        }
      : undefined,
  blocked: {
    status: 200,
    body: {
      promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
      usageMetadata: { promptTokenCount: 10, totalTokenCount: 10 },
      modelVersion: 'emulated',
    },
  },
};

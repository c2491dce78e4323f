import { type Reaction, type Received, serveResponses } from './http.ts';
import { type AskedModel, anthropic, gemini, type Json, openAi } from './model-dialects.ts';

/** What is done with a question instead of answering it. */
export type ModelFault =
  | 'hang'
  | 'cut'
  | 'page'
  | 'truncated'
  | 'empty'
  | 'length'
  | 'filtered'
  | 'blocked'
  | 'flood'
  | 'negative_usage'
  | number
  | { status: number; retryAfter: string | number }
  | { status: number; says: string };

export interface ModelEmulator {
  /** The origin, without a path. */
  url: string;
  asked: AskedModel[];
  /** Questions that were given up before they were answered. */
  abandoned: number;
  /** What the model says: text as it is, all else as JSON. By default whatever fits the schema, empty. */
  answer: (asked: AskedModel, count: number) => unknown;
  fault: (count: number) => ModelFault | undefined;
  close(): Promise<void>;
}

/**
 * The protocol of OpenAI's chat completions with structured outputs, as OpenAI, Azure and Ollama speak it, with the faults of
 * providers; and the protocols of Anthropic and Gemini, with theirs.
 * @param key what has to be sent as key; none: any, or nothing.
 */
export async function startModels(key?: string): Promise<ModelEmulator> {
  const react = ({ method, url, headers, body: sent }: Received): Reaction => {
    if (method === 'GET') return listModels(url, headers);
    const dialect = [openAi, anthropic, gemini].find((one) => one.matches(url));
    if (!dialect || method !== 'POST') return { status: 404, body: { error: 'no such path' } };
    const refuse = (status: number, message: string, more = {}): Reaction => ({
      status,
      headers: more,
      body: dialect.error(status, message),
    });
    if (key !== undefined && dialect.key(headers) !== key) return refuse(401, 'Incorrect API key provided');
    const body = JSON.parse(sent);
    const read = dialect.read(body, dialect.matches(url)!.model);
    if (typeof read === 'string') return refuse(400, read);
    const data = /<data>\n([\s\S]*)\n<\/data>$/.exec(read.turns[0]?.text ?? '')?.[1];
    const asked: AskedModel = {
      dialect: dialect.name,
      path: `${url.pathname}${url.search}`,
      headers,
      body,
      ...read,
      data: data === undefined ? undefined : JSON.parse(data),
    };
    emulator.asked.push(asked);
    const count = emulator.asked.length;
    const fault = emulator.fault(count);
    if (fault === 'hang') return 'hang';
    if (fault === 'cut') return 'reset';
    if (fault === 'page')
      return { status: 200, headers: { 'content-type': 'text/html' }, body: '<h1>Hello</h1>' };
    if (fault === 'blocked') return dialect.blocked;
    if (typeof fault === 'number') return refuse(fault, 'It failed');
    if (typeof fault === 'object')
      return 'says' in fault
        ? refuse(fault.status, fault.says)
        : refuse(fault.status, 'Slow down', { 'retry-after': String(fault.retryAfter) });
    const given = emulator.answer(asked, count);
    const flood = fault === 'flood' ? 'x'.repeat(3 * 1024 * 1024) : undefined;
    const text = flood ?? (typeof given === 'string' ? given : JSON.stringify(given));
    const end = fault === 'length' || fault === 'filtered' || fault === 'empty' ? fault : 'stop';
    const whole = JSON.stringify(dialect.answer(text, body, end));
    const answer = fault === 'negative_usage' ? whole.replace(/(_tokens"): ?/g, '$1:-') : whole;
    return { status: 200, body: answer, isCut: fault === 'truncated' };
  };

  const listModels = (url: URL, headers: Received['headers']): Reaction => {
    const dialect = [openAi, anthropic, gemini].find((one) => one.models(url, headers));
    if (!dialect) return { status: 404, body: { error: 'no such path' } };
    const fault = emulator.fault(0);
    if (fault === 'hang') return 'hang';
    if (fault === 'cut') return 'reset';
    if (fault === 'page') return { status: 200, body: '<h1>Hello</h1>' };
    if (typeof fault === 'number') return { status: fault, body: dialect.error(fault, 'It failed') };
    if (key !== undefined && dialect.key(headers) !== key) {
      return { status: 401, body: dialect.error(401, 'Incorrect API key provided') };
    }
    return { status: 200, body: dialect.models(url, headers) };
  };

  const { origin, close } = await serveResponses((received) => {
    received.gone.addEventListener('abort', () => {
      emulator.abandoned += 1;
    });
    return react(received);
  });
  const emulator: ModelEmulator = {
    url: origin,
    asked: [],
    abandoned: 0,
    answer: ({ schema }) => emptyOf(schema),
    fault: () => undefined,
    close,
  };
  return emulator;
}

/** The least that fits a schema. */
function emptyOf(schema: Json): unknown {
  if (schema === undefined) return {};
  if ('const' in schema) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf) return emptyOf(schema.anyOf[0]);
  switch (schema.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([name, part]) => [name, emptyOf(part)]),
      );
    case 'array':
      return [];
    case 'number':
    case 'integer':
      return 0;
    case 'boolean':
      return false;
    case 'null':
      return null;
    default:
      return '';
  }
}

import type { ServerResponse } from 'node:http';
import { serveOnLoopback } from '../support/loopback.ts';
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
  const dialects = [openAi, anthropic, gemini];
  const reply = (response: ServerResponse, status: number, content: object, more = {}) =>
    response.writeHead(status, { 'content-type': 'application/json', ...more }).end(JSON.stringify(content));

  const { server, origin, close } = await serveOnLoopback(async (request, response) => {
    response.on('close', () => {
      if (!response.writableEnded) emulator.abandoned += 1;
    });
    const url = new URL(request.url!, 'http://emulator');
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const dialect = dialects.find((one) => one.matches(url));
    if (!dialect || request.method !== 'POST') return void reply(response, 404, { error: 'no such path' });
    if (key !== undefined && dialect.key(request.headers) !== key) {
      return void reply(response, 401, dialect.error(401, 'Incorrect API key provided'));
    }
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    const read = dialect.read(body, dialect.matches(url)!.model);
    if (typeof read === 'string') return void reply(response, 400, dialect.error(400, read));
    const data = /<data>\n([\s\S]*)\n<\/data>$/.exec(read.turns[0]?.text ?? '')?.[1];
    const asked: AskedModel = {
      dialect: dialect.name,
      path: `${url.pathname}${url.search}`,
      headers: request.headers,
      body,
      ...read,
      data: data === undefined ? undefined : JSON.parse(data),
    };
    emulator.asked.push(asked);
    const count = emulator.asked.length;
    const fault = emulator.fault(count);
    if (fault === 'hang') return;
    if (fault === 'cut') return void request.socket.destroy();
    if (fault === 'page')
      return void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hello</h1>');
    if (fault === 'blocked') return void reply(response, dialect.blocked.status, dialect.blocked.body);
    if (typeof fault === 'number') return void reply(response, fault, dialect.error(fault, 'It failed'));
    if (typeof fault === 'object' && 'says' in fault) {
      return void reply(response, fault.status, dialect.error(fault.status, fault.says));
    }
    if (typeof fault === 'object') {
      const later = { 'retry-after': String(fault.retryAfter) };
      return void reply(response, fault.status, dialect.error(fault.status, 'Slow down'), later);
    }
    const given = emulator.answer(asked, count);
    const text = typeof given === 'string' ? given : JSON.stringify(given);
    if (fault === 'flood') {
      return void reply(response, 200, dialect.answer('x'.repeat(3 * 1024 * 1024), body, 'stop'));
    }
    const end = fault === 'length' || fault === 'filtered' || fault === 'empty' ? fault : 'stop';
    const whole = JSON.stringify(dialect.answer(text, body, end));
    const sent =
      fault === 'truncated'
        ? whole.slice(0, whole.length / 2)
        : fault === 'negative_usage'
          ? whole.replace(/(_tokens"): ?/g, '$1:-')
          : whole;
    response.writeHead(200, { 'content-type': 'application/json' }).end(sent);
  });
  // what nobody closes holds no process
  server.unref();
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

import type { OpenApiDocument } from './document.ts';
import headers from './headers.json' with { type: 'json' };

/** Request and response headers, described once for all operations. */
const { request: requestHeaders, response: responseHeaders } = headers;

export type RequestHeader = keyof typeof requestHeaders;
export type ResponseHeader = keyof typeof responseHeaders;

const plain = (name: string) => name.replaceAll('-', '');

/** A reference to the component of a request header. */
export function requestHeaderRef(name: RequestHeader): { $ref: string } {
  return { $ref: `#/components/parameters/${plain(name)}` };
}

/** The `headers` of a response as references. */
export function responseHeaderRefs(names: Iterable<ResponseHeader>): Record<string, { $ref: string }> {
  return Object.fromEntries(
    [...new Set(names)].sort().map((name) => [name, { $ref: `#/components/headers/${plain(name)}` }]),
  );
}

/** All headers as components. */
export function headerComponents(): Pick<OpenApiDocument['components'], 'parameters' | 'headers'> {
  return {
    parameters: Object.fromEntries(
      Object.entries(requestHeaders).map(([name, said]) => [plain(name), { name, in: 'header', ...said }]),
    ),
    headers: Object.fromEntries(Object.entries(responseHeaders).map(([name, said]) => [plain(name), said])),
  };
}

import headers from './headers.json' with { type: 'json' };

/** Request and response headers, described once for all operations. */
const { request: requestHeaders, answer: answerHeaders } = headers;

export type RequestHeader = keyof typeof requestHeaders;
export type AnswerHeader = keyof typeof answerHeaders;

const plain = (name: string) => name.replaceAll('-', '');

/** A reference to the component of a request header. */
export function requestHeaderRef(name: RequestHeader): { $ref: string } {
  return { $ref: `#/components/parameters/${plain(name)}` };
}

/** The `headers` of a response as references. */
export function answerHeaderRefs(names: Iterable<AnswerHeader>): Record<string, { $ref: string }> {
  return Object.fromEntries(
    [...new Set(names)].sort().map((name) => [name, { $ref: `#/components/headers/${plain(name)}` }]),
  );
}

/** All headers as components. */
export function headerComponents(): { parameters: Record<string, object>; headers: Record<string, object> } {
  return {
    parameters: Object.fromEntries(
      Object.entries(requestHeaders).map(([name, said]) => [plain(name), { name, in: 'header', ...said }]),
    ),
    headers: Object.fromEntries(Object.entries(answerHeaders).map(([name, said]) => [plain(name), said])),
  };
}

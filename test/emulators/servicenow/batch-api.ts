import { type Answer, failure, type Request } from './http.ts';

interface RestRequest {
  id: string;
  method: string;
  url: string;
  body?: string;
}

/** POST /api/now/v1/batch: several requests in one, each answered by itself. */
export async function batchCall(
  request: Request,
  serve: (inner: Request) => Promise<Answer>,
): Promise<Answer> {
  let document: { batch_request_id?: string; rest_requests?: RestRequest[] };
  try {
    document = JSON.parse(request.body);
  } catch {
    return failure(400, 'Exception while reading request', 'The payload is not valid JSON.');
  }
  const serviced: object[] = [];
  for (const { id, method, url, body } of document.rest_requests ?? []) {
    const { pathname, searchParams } = new URL(url, 'http://instance');
    const answer = await serve({
      method,
      path: pathname,
      query: searchParams,
      body: Buffer.from(body ?? '', 'base64').toString(),
    });
    const text = answer.body === undefined ? '' : JSON.stringify(answer.body);
    serviced.push({
      id,
      body: Buffer.from(text).toString('base64'),
      status_code: answer.status,
      status_text: answer.status < 300 ? 'OK' : 'Error',
      headers: Object.entries(answer.headers ?? {}).map(([name, value]) => ({ name, value })),
      execution_time: 1,
    });
  }
  return {
    status: 200,
    body: {
      batch_request_id: document.batch_request_id ?? '',
      serviced_requests: serviced,
      unserviced_requests: [],
    },
  };
}

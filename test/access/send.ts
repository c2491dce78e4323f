import type { TestAnswer, TestClient } from '../support/harness.ts';
import { anyAddress, type Call, type Row } from './matrix.row.ts';
import type { World } from './world.ts';

/** Sends the request of a row as the client. */
export async function send(
  w: World,
  row: Pick<Row, 'operation'>,
  call: Call,
  client: TestClient,
): Promise<{ status: number; answer?: TestAnswer }> {
  if (call.send) return { status: await call.send(w, client.token) };
  const [method, pattern] = row.operation.split(' ') as ['GET', string];
  const path = pattern.replace(/\{(\w+)\}/g, (_, name: string) => call.path![name]!);
  const json = call.body === undefined ? undefined : JSON.stringify(call.body);
  const mediaType = call.raw?.mediaType ?? (json && 'application/json');
  const answer = await client.request({
    method,
    url: call.query ? `${path}?${call.query}` : path,
    ...(mediaType ? { headers: { 'content-type': mediaType }, payload: call.raw?.text ?? json } : {}),
    ...(call.apart ? { remoteAddress: anyAddress() } : {}),
  });
  return { status: answer.status, answer };
}

/** The operations of the description with what they demand. */
export function demandsOf({ t }: World): Map<string, string> {
  const { paths } = t.app.swagger() as unknown as {
    paths: Record<string, Record<string, Record<string, unknown>>>;
  };
  return new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, described]) => [
        `${method.toUpperCase()} ${path}`,
        String(described['x-permission']),
      ]),
    ),
  );
}

/** The operation of a row, without what tells rows of one operation apart. */
export const operationOf = ({ operation }: Pick<Row, 'operation'>): string =>
  operation.replace(/ \(.*\)$/, '');

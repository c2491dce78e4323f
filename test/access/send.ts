import type { TestClient, TestResponse } from '../support/harness.ts';
import { anyAddress, type Call, type Row } from './matrix.row.ts';
import type { World } from './world.ts';

/** Sends the request of a row as the client, with more headers where given. */
export async function send(
  w: World,
  row: Pick<Row, 'operation'>,
  call: Call,
  client: TestClient,
  headers: Record<string, string> = {},
): Promise<{ status: number; answer?: TestResponse }> {
  if (call.send) return { status: await call.send(w, client.token) };
  const [method, pattern] = row.operation.split(' ') as ['GET', string];
  const path = pattern.replace(/\{(\w+)\}/g, (_, name: string) => call.path![name]!);
  const json = call.body === undefined ? undefined : JSON.stringify(call.body);
  const mediaType = call.raw?.mediaType ?? (json && 'application/json');
  const answer = await client.request({
    method,
    url: call.query ? `${path}?${call.query}` : path,
    headers: { ...(mediaType ? { 'content-type': mediaType } : {}), ...headers },
    ...(mediaType ? { payload: call.raw?.text ?? json } : {}),
    ...(call.apart ? { remoteAddress: anyAddress() } : {}),
  });
  return { status: answer.status, answer };
}

type Described = { 'x-permission'?: string; parameters?: object[] };

/** The operations of the description. */
function describedIn({ t }: World): [operation: string, described: Described][] {
  const { paths } = t.app.swagger() as unknown as { paths: Record<string, Record<string, Described>> };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]): [string, Described] => [
      `${method.toUpperCase()} ${path}`,
      one,
    ]),
  );
}

/** The operations of the description with what they demand. */
export const demandsOf = (w: World): Map<string, string> =>
  new Map(describedIn(w).map(([operation, one]) => [operation, String(one['x-permission'])]));

/** The operations that a condition on the version of their object may precede. */
export const guardedOf = (w: World): Set<string> =>
  new Set(
    describedIn(w)
      .filter(([, { parameters = [] }]) => /if-?match/i.test(JSON.stringify(parameters)))
      .map(([operation]) => operation),
  );

/** The operation of a row, without what tells rows of one operation apart. */
export const operationOf = ({ operation }: Pick<Row, 'operation'>): string =>
  operation.replace(/ \(.*\)$/, '');

import type { AddressInfo } from 'node:net';
import type { World } from './world.ts';

/** Opens the live stream over a real connection and leaves it again; answers the status. */
export async function openStream({ t }: World, token: string): Promise<number> {
  if (!t.app.server.listening) await t.app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = t.app.server.address() as AddressInfo;
  const leave = new AbortController();
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1/events/stream`, {
    headers: token ? { authorization: `Bearer ${token}` } : {},
    signal: leave.signal,
  });
  leave.abort();
  return answer.status;
}

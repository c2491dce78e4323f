import type { TestClient, TestResponse } from './harness.ts';

/** An answer that was got under load. */
type Seen = { status: number; code: string | undefined; retryAfter: string | undefined; ms: number };

/** Each client changes a card of its own again and again, and lists cards and reads the dashboard in between. */
export async function startLoad(client: TestClient, clients: number) {
  const seen: Seen[] = [];
  const accepted = new Map<string, string[]>();
  let stopped = false;
  const ask = async (request: () => Promise<TestResponse>): Promise<TestResponse> => {
    const start = performance.now();
    const answer = await request();
    seen.push({
      status: answer.status,
      code: answer.body?.code,
      retryAfter: answer.headers['retry-after'],
      ms: performance.now() - start,
    });
    return answer;
  };
  const run = async (cardId: string, values: string[]) => {
    for (let n = 0; !stopped; n += 1) {
      const alias = `value ${n}`;
      const changed = await ask(() => client.patch(`/api/v1/cards/${cardId}`, { alias }));
      if (changed.status === 200) values.push(alias);
      await ask(() => client.get('/api/v1/cards?page_size=5'));
      if (n % 3 === 0) await ask(() => client.get('/api/v1/reports/dashboard'));
      // answers that come at once must not keep everything else from running
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const running: Promise<void>[] = [];
  for (let n = 0; n < clients; n += 1) {
    const { body } = await client.post('/api/v1/cards', { type: 'Application', name: `Under load ${n}` });
    const values: string[] = [];
    accepted.set(body.id, values);
    running.push(run(body.id, values));
  }
  return {
    seen,
    /** Values that were written and answered with 2xx, by card. */
    accepted,
    async stop() {
      stopped = true;
      await Promise.all(running);
    },
  };
}

/** The values that the change feed says were written to a card. */
export async function writtenValues(client: TestClient, cardId: string): Promise<string[]> {
  const { body } = await client.get(`/api/v1/changes?card_id=${cardId}&event_type=card.updated&limit=10000`);
  return body.items.map(
    (item: { data: { changes: { alias: { new: string } } } }) => item.data.changes.alias.new,
  );
}

import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { TestClient } from '../../support/harness.ts';

export const url = '/api/v1/adr';

/** The body of an answer that has to be a good one. */
export async function ok(asked: ReturnType<TestClient['get']>) {
  const answer = await asked;
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.body;
}

export const ids = (body: { items: { id: string }[] }) => body.items.map(({ id }) => id);

/** Writes decisions and cards, signs, and says what was told. */
export function deciding(admin: TestClient) {
  const adr = (more: object = {}, client = admin) => ok(client.post(url, { title: randomUUID(), ...more }));
  return {
    adr,
    card: (more: object = {}) =>
      ok(admin.post('/api/v1/cards', { type: 'Application', name: randomUUID(), ...more })),
    /** A decision that was signed. */
    async signed(more: object = {}): Promise<string> {
      const { id } = await adr(more);
      await ok(admin.post(`${url}/${id}/request-signatures`, { user_ids: [admin.userId] }));
      await ok(admin.post(`${url}/${id}/sign`));
      return id;
    },
    /** What was told of decisions, their links and to-dos. */
    told: async (since: string, client = admin) =>
      (await client.changes(since)).filter(({ event_type }) => /^(adr|adr_card|todo)\./.test(event_type)),
  };
}

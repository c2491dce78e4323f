import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { TestApp, TestClient } from '../../support/harness.ts';

export const url = '/api/v1/adr';

/** The body of an answer that has to be a good one. */
export async function ok(asked: ReturnType<TestClient['get']>) {
  const answer = await asked;
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.body;
}

/** Status, code and the fields that are named. */
export async function refusal(asked: ReturnType<TestClient['get']>): Promise<unknown[]> {
  const { status, body } = await asked;
  return [status, body.code, ...(body.errors ?? []).map(({ field }: { field: string }) => field)];
}

export const ids = (body: { items: { id: string }[] }) => body.items.map(({ id }) => id);

/** Writes decisions and cards, signs, and says what was told. */
export function deciding(t: TestApp, admin: TestClient) {
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
    now: async (): Promise<string> => (await admin.get('/api/v1/changes?after=now')).body.next,
    /** What was told of decisions, their links and to-dos. */
    told: async (since: string, client = admin) =>
      (await client.get(`/api/v1/changes?after=${since}`)).body.items.filter(({ event_type }: never) =>
        /^(adr|adr_card|todo)\./.test(event_type),
      ),
    /** Rolls back the last request that wrote. */
    async undoLast(): Promise<void> {
      const { batch_id } = await t.services.db('events').orderBy('position', 'desc').first('batch_id');
      await ok(admin.post(`/api/v1/mutation-batches/${batch_id}/rollback`, { dry_run: false }));
    },
  };
}

import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { TestApp, TestClient } from '../../support/harness.ts';

export const url = '/api/v1/diagrams';

/** A drawing of one card. */
export const drawn = (id: string, label: string): string =>
  `<mxGraphModel><root><mxCell id="0"/><object id="2" label="${label}" cardId="${id}"><mxCell vertex="1" parent="0"/></object></root></mxGraphModel>`;

export const kinds = (events: { event_type: string }[]): string[] =>
  events.map(({ event_type }) => event_type);

/** Status, code and the fields that are named. */
export async function refusal(asked: ReturnType<TestClient['get']>): Promise<unknown[]> {
  const { status, body } = await asked;
  return [status, body.code, ...(body.errors ?? []).map(({ field }: { field: string }) => field)];
}

/** Makes diagrams and cards, by default as the administrator, and says what was told. */
export function diagramWorld(t: TestApp, admin: TestClient) {
  async function made(path: string, body: object, client = admin) {
    const answer = await client.post(path, body);
    expect(answer.status, answer.text).toBe(201);
    return answer.body;
  }
  return {
    made,
    card: async (name = `Card ${randomUUID()}`, more = {}): Promise<string> =>
      (await made('/api/v1/cards', { type: 'Application', name, ...more })).id,
    diagram: (more: object = {}, client = admin) => made(url, { name: 'Landscape', ...more }, client),
    now: async (): Promise<string> => (await admin.get('/api/v1/changes?after=now')).body.next,
    told: async (since: string, client = admin) =>
      (await client.get(`/api/v1/changes?after=${since}`)).body.items.filter(({ event_type }: never) =>
        String(event_type).startsWith('diagram'),
      ),
    /** Rolls back the last request that wrote. */
    async undoLast(): Promise<void> {
      const { batch_id } = await t.services.db('events').orderBy('position', 'desc').first('batch_id');
      const answer = await admin.post(`/api/v1/mutation-batches/${batch_id}/rollback`, { dry_run: false });
      expect(answer.status, answer.text).toBe(200);
    },
  };
}

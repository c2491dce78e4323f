import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { TestApp, TestClient } from '../../support/harness.ts';

export const url = '/api/v1/risks';

type Values = Record<string, unknown>;

/** What tests of the register write with, as an administrator. */
export interface RiskWorld {
  card(more?: Values): Promise<string>;
  // biome-ignore lint/suspicious/noExplicitAny: an answer
  risk(more?: Values): Promise<any>;
  now(): Promise<string>;
  /** The events of risks and tasks since a position, as the client is told them. */
  // biome-ignore lint/suspicious/noExplicitAny: events of many shapes
  told(since: string, client?: TestClient): Promise<any[]>;
  /** Rolls back the last request that wrote. */
  undoLast(): Promise<void>;
  /** Descriptions of the open system to-dos of somebody. */
  asked(userId: string): Promise<string[]>;
}

export const refusal = async (asked: ReturnType<TestClient['get']>) => {
  const { status, body } = await asked;
  return [status, body.code, ...(body.errors ?? []).map(({ field }: { field: string }) => field)];
};

export function riskWorld(t: TestApp, admin: TestClient): RiskWorld {
  const made = async (at: string, body: Values) => {
    const answer = await admin.post(at, body);
    expect(answer.status, answer.text).toBe(201);
    return answer.body;
  };
  const now = async (): Promise<string> => (await admin.get('/api/v1/changes?after=now')).body.next;
  return {
    card: async (more = {}) =>
      (await made('/api/v1/cards', { type: 'Application', name: randomUUID(), ...more })).id,
    risk: (more = {}) => made(url, { title: `Risk ${randomUUID()}`, ...more }),
    now,
    told: async (since, client = admin) =>
      (await client.get(`/api/v1/changes?after=${since}`)).body.items.filter(({ event_type }: never) =>
        String(event_type).startsWith('risk'),
      ),
    async undoLast() {
      const { batch_id } = await t.services.db('events').orderBy('position', 'desc').first('batch_id');
      const answer = await admin.post(`/api/v1/mutation-batches/${batch_id}/rollback`, { dry_run: false });
      expect(answer.status, answer.text).toBe(200);
    },
    asked: async (userId) =>
      await t.services
        .db('todos')
        .where({ assigned_to: userId, is_system: true, status: 'open' })
        .orderBy('id')
        .pluck('description'),
  };
}

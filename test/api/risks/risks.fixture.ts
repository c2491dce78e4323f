import { randomUUID } from 'node:crypto';
import type { TestApp, TestClient } from '../../support/harness.ts';

export const url = '/api/v1/risks';

/** What tests of the register write with, as an administrator. */
export function riskWorld(t: TestApp, admin: TestClient) {
  return {
    card: async (more: object = {}): Promise<string> => (await admin.card(more)).id,
    risk: (more: object = {}) => admin.create(url, { title: `Risk ${randomUUID()}`, ...more }),
    /** Descriptions of the open system to-dos of a user. */
    asked: async (userId: string): Promise<string[]> =>
      await t.services
        .db('todos')
        .where({ assigned_to: userId, is_system: true, status: 'open' })
        .orderBy('id')
        .pluck('description'),
  };
}

import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { TestApp, TestClient } from '../../support/harness.ts';

/** Makes initiatives and their plans, and says what became of requests. */
export function planner(t: TestApp, admin: TestClient) {
  const url = (id: string, what: string) => `/api/v1/ppm/initiatives/${id}/${what}`;
  async function add(id: string, what: string, body: object): Promise<string> {
    const made = await admin.post(url(id, what), body);
    expect(made.status, made.text).toBe(201);
    return made.body.id;
  }
  /** The body of a dependency, ends as `task <id>` or `wbs <id>`. */
  const between = (pred: string, succ: string) => {
    const [pred_kind, pred_id] = pred.split(' ');
    const [succ_kind, succ_id] = succ.split(' ');
    return { pred_kind, pred_id, succ_kind, succ_id };
  };
  return {
    url,
    between,
    async initiative(): Promise<string> {
      const made = await admin.post('/api/v1/cards', { type: 'Initiative', name: randomUUID() });
      expect(made.status, made.text).toBe(201);
      return made.body.id;
    },
    task: (id: string, title: string, more: object = {}) => add(id, 'tasks', { title, ...more }),
    item: (id: string, title: string, more: object = {}) => add(id, 'wbs', { title, ...more }),
    depend: (id: string, pred: string, succ: string) =>
      admin.post(url(id, 'dependencies'), between(pred, succ)),
    async refusal(asked: ReturnType<TestClient['get']>): Promise<unknown[]> {
      const { status, body } = await asked;
      const faults = (body.errors ?? []).map(({ field, code }: Record<string, string>) => `${field} ${code}`);
      return [status, body.code, ...faults];
    },
    /** The batch of the last write. */
    async lastBatch(): Promise<string> {
      const { db } = t.services;
      const { batch_id } = await db('events')
        .whereNotNull('batch_id')
        .orderBy('position', 'desc')
        .first('batch_id');
      return batch_id;
    },
    undo: (batch: string, more: object = {}) =>
      admin.post(`/api/v1/mutation-batches/${batch}/rollback`, { dry_run: false, ...more }),
  };
}

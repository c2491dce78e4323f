import type { TestApp, TestClient } from '../../support/harness.ts';

/** Makes initiatives and their plans, and says what became of requests. */
export function planner(t: TestApp, admin: TestClient) {
  const url = (id: string, what: string) => `/api/v1/ppm/initiatives/${id}/${what}`;
  async function add(id: string, what: string, body: object): Promise<string> {
    return (await admin.create(url(id, what), body)).id;
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
    initiative: async (): Promise<string> => (await admin.card({ type: 'Initiative' })).id,
    task: (id: string, title: string, more: object = {}) => add(id, 'tasks', { title, ...more }),
    item: (id: string, title: string, more: object = {}) => add(id, 'wbs', { title, ...more }),
    depend: (id: string, pred: string, succ: string) =>
      admin.post(url(id, 'dependencies'), between(pred, succ)),
    /** The batch of the last write. */
    async lastBatch(): Promise<string> {
      const { db } = t.services;
      return (await db('events').whereNotNull('batch_id').orderBy('position', 'desc').first('batch_id'))
        .batch_id;
    },
    undo: (batch: string, more: object = {}) =>
      admin.post(`/api/v1/mutation-batches/${batch}/rollback`, { dry_run: false, ...more }),
  };
}

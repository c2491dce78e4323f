import { ok, type TestClient } from './harness.ts';
import { until } from './until.ts';

/** Waits until a run of an analysis has ended. @returns the run. */
export const endOfRun = (client: TestClient, id: string) =>
  until('the run to end', async () => {
    const { body } = await client.get(`/api/v1/ai-analysis/analysis-runs/${id}`);
    return body.status === 'running' ? undefined : body;
  });

/** Starts an analysis and waits until it has ended. @returns the run. */
export async function analyse(client: TestClient, path: string, body?: object) {
  return await endOfRun(client, (await ok(client.post(path, body), 202)).run_id);
}

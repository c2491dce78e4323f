import type { TestResponse } from '../support/harness.ts';
import { type World, written } from './world.ts';

/** Expects that it was allowed. */
export const ok = (answer: TestResponse, status = 200): void =>
  expect(answer.status, answer.text).toBe(status);

/** Expects a refusal that names the permission and leaves the database as it was. */
export async function expectRefusal(w: World, permission: string, act: () => Promise<TestResponse>) {
  await written(w);
  const answer = await act();
  expect(answer.status, answer.text).toBe(403);
  expect(answer.body.permission).toBe(permission);
  expect(await written(w)).toEqual([]);
}

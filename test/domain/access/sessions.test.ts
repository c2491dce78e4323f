import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createSessionReader } from '../../../domain/access/access.sessions.ts';
import { createTestApp, type TestApp } from '../../support/harness.ts';

let t: TestApp;
beforeAll(async () => {
  t = await createTestApp();
});
afterAll(() => t.close());

it('tells every reader versions that are no older than its call, while reads overtake each other', async () => {
  const sessions = createSessionReader(t.services.db);
  const topic = `cards:${randomUUID()}`;
  let written = 0;
  let writing = true;
  const write = async () => {
    for (let version = 1; version <= 300; version++) {
      await t.services.db.raw(
        `insert into topic_versions (topic, version) values (?, ?)
         on conflict (topic) do update set version = excluded.version`,
        [topic, version],
      );
      written = version;
    }
    writing = false;
  };
  const maps = new Set<ReadonlyMap<string, number>>();
  const read = async () => {
    while (writing) {
      const before = written;
      const { topics } = await sessions.read(null);
      maps.add(topics);
      expect(topics.get(topic) ?? 0).toBeGreaterThanOrEqual(before);
      expect(topics.get('metamodel')).toBeDefined();
    }
  };
  await Promise.all([write(), read(), read(), read(), read()]);
  // a state that doesn't change is one map, by which answers are kept
  expect(maps.size).toBeLessThanOrEqual(301);
  const still = await Promise.all([sessions.read(null), sessions.read(null)]);
  expect((await sessions.read(null)).topics).toBe(still[0].topics);
});

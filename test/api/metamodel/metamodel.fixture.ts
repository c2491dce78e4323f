import { randomUUID } from 'node:crypto';
import type { TestApp, TestClient, TestResponse } from '../../support/harness.ts';
import { eventsDuring } from '../../support/writes.ts';

export const types = '/api/v1/metamodel/types';
export const relationTypes = '/api/v1/metamodel/relation-types';

/** A key that nothing else has. */
export const newKey = (): string => `T${randomUUID().replaceAll('-', '').slice(0, 20)}`;

/** A field of a section, with what every field has. */
export const field = <T extends string>(key: string, type: T, more: Record<string, unknown> = {}) => ({
  key,
  label: key,
  type,
  weight: 1,
  required: false,
  readonly: false,
  ...more,
});

export const options = (...keys: string[]) => keys.map((key) => ({ key, label: key.toUpperCase() }));

/** Sections of a type, one for all fields. */
export const schema = <F extends object[]>(...fields: F) => [{ section: 'Facts', fields }];

/** Creates a card type with the fields. */
export async function makeType(admin: TestClient, fields: object[] = [], more: Record<string, unknown> = {}) {
  const key = newKey();
  const body = { key, label: 'Made', fields_schema: schema(...fields), ...more };
  const answer = await admin.post(types, body);
  expect([answer.status, answer.body]).toEqual([201, expect.anything()]);
  return key;
}

/** Creates a relation type between two card types. */
export async function makeRelationType(
  admin: TestClient,
  source_type_key: string,
  target_type_key: string,
  more: Record<string, unknown> = {},
): Promise<string> {
  const key = newKey();
  const answer = await admin.post(relationTypes, {
    key,
    label: 'joins',
    source_type_key,
    target_type_key,
    ...more,
  });
  expect([answer.status, answer.body]).toEqual([201, expect.anything()]);
  return key;
}

/** The events that `act` writes, by type. */
export async function eventsBy(t: TestApp, act: () => Promise<TestResponse>, status?: number) {
  const { answer, events } = await eventsDuring(t, act, status);
  const kinds: Record<string, number> = {};
  for (const { event_type } of events) kinds[event_type] = (kinds[event_type] ?? 0) + 1;
  return { answer, events, kinds };
}

/** The stored card as it is. */
export const storedCard = (t: TestApp, id: string) => t.services.db('cards').where({ id }).first();

import { expect } from 'vitest';
import type { TestAnswer, TestApp } from '../../support/harness.ts';

const tables = ['stakeholders', 'comments', 'todos', 'documents', 'file_attachments', 'files', 'cards'];

async function stateOf(t: TestApp): Promise<string> {
  const parts = tables.map((name) => `(select coalesce(json_agg(t order by id), '[]') from ${name} t)`);
  const { rows } = await t.services.db.raw(
    `select json_build_array(${parts.join(', ')}, (select max(position) from events))::text as state`,
  );
  return rows[0].state;
}

/** Status, code and fields of a refusal, which must leave the database as it was. */
export async function refusal(
  t: TestApp,
  act: () => Promise<TestAnswer>,
): Promise<{ status: number; code: string; fields: string[]; permission: string | undefined }> {
  const before = await stateOf(t);
  const { status, body } = await act();
  expect(status).toBeGreaterThanOrEqual(400);
  expect(await stateOf(t)).toBe(before);
  const fields = (body.errors ?? []).map((fault: { field: string }) => fault.field);
  return { status, code: body.code, fields, permission: body.permission };
}

/** The answer to a write that must succeed. */
export async function ok(answer: Promise<TestAnswer>, status = 200): Promise<TestAnswer['body']> {
  const { status: seen, body, text } = await answer;
  expect(seen, text).toBe(status);
  return body;
}

import { describe, expect, it } from 'vitest';
import { roleWith } from '../../support/accounts.ts';
import { expectInvalid, expectProblem, ok, openApp } from '../../support/harness.ts';

const { t, admin } = await openApp(['admin']);

const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, 1]));

describe('input', () => {
  it('with more errors than anybody reads is answered with the first hundred', async () => {
    const answer = await admin.post('/api/v1/cards', keys(7_000));
    expect(answer.status).toBe(422);
    expect(answer.body.errors).toHaveLength(100);
    expect(answer.text.length).toBeLessThan(20_000);
  });

  it('with more attributes than a card may have is refused before they are looked at', async () => {
    for (const strict_attributes of [true, false]) {
      const body = { type: 'Application', name: 'Many', attributes: keys(130_000), strict_attributes };
      await expectInvalid(admin.post('/api/v1/cards', body), 'attributes');
    }
    const within = { type: 'Application', name: 'Many', attributes: keys(900) };
    expect((await admin.post('/api/v1/cards', within)).body.errors).toHaveLength(100);
  });

  it.each([
    'events?since=0000-01-01T00:00:00Z',
    'mutation-batches?until=0000-01-01T00:00:00Z',
    'reports/kpis?from=0000-01-01T00:00:00Z',
    'adr?date_from=0000-01-01',
    'settings/ai/usage?day=0000-01-01',
  ])('with a date that the database does not have is refused: %s', async (path) => {
    await expectProblem(admin.get(`/api/v1/${path}`), 422);
  });

  it('with a key outside of the pattern of a map is refused', async () => {
    const answer = await admin.put('/api/v1/process-catalogue', {
      catalogue_version: '1',
      nodes: [{ id: 'a', names: { en: 'A', '*': true } }],
    });
    expect([answer.status, answer.body.errors[0].code]).toEqual([422, 'unknown_field']);
  });

  it('that names no event or card type is refused by the stream', async () => {
    for (const query of ['events=nope', 'types=Nope', 'events=card,nope.created']) {
      expect((await admin.get(`/api/v1/events/stream?${query}`)).status, query).toBe(422);
    }
  });

  it('is not needed by a POST whose members may all be missing', async () => {
    const opened = await admin.post('/api/v1/mutation-batches', { tool_name: 'Test' });
    await ok(
      admin.request({
        method: 'POST',
        url: `/api/v1/mutation-batches/${opened.body.id}/commit`,
      }),
    );
  });
});

describe('a kept answer', () => {
  it('is not given again to somebody who has lost a permission', async () => {
    const role = await roleWith(t, 'inventory.view', 'inventory.create', 'inventory.edit', 'costs.view');
    const writer = await t.as(role, 'writer');
    const create = () =>
      writer.request({
        method: 'POST',
        url: '/api/v1/cards',
        headers: { 'content-type': 'application/json', 'idempotency-key': 'once' },
        payload: JSON.stringify({ type: 'Application', name: 'Kept', attributes: { costTotalAnnual: 4711 } }),
      });
    expect((await create()).body.attributes.costTotalAnnual).toBe(4711);
    await ok(create(), 201);
    const permissions = { 'inventory.view': true, 'inventory.create': true };
    await ok(admin.patch(`/api/v1/roles/${role}`, { permissions }));
    const again = await create();
    expect([again.status, again.body.code]).toEqual([409, 'idempotency_key_reused']);
    expect(again.text).not.toContain('4711');
  });
});

describe('a body of very many members', () => {
  it('is refused for the first fault', async () => {
    const unknown = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`k${n}`, n]));
    const answer = await admin.post('/api/v1/cards', { type: 'Application', name: 'Many', ...unknown });
    expect([answer.status, answer.body.errors.length]).toEqual([422, 1]);
  });
});

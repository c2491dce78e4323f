import { expect, it } from 'vitest';
import { expectProblem, ok, openApp } from '../../support/harness.ts';
import { card, make } from './write.fixture.ts';

const { admin } = await openApp(['admin']);

const unit = { type: 'BusinessCapability' };

it('finds cards by name, by a part of their path and by the whole of it', async () => {
  const sales = await make(admin, { ...unit, name: 'Sales' });
  const claims = await make(admin, { ...unit, name: 'Claims / Losses\\', parent_id: sales.id });
  const inner = await make(admin, { ...unit, name: 'Intake', parent_id: claims.id });
  const outer = await make(admin, { ...unit, name: 'Intake', parent_id: sales.id });
  const root = await make(admin, { ...unit, name: 'INTAKE' });
  const gone = await make(admin, { ...unit, name: 'Gone' });
  await admin.post(card(gone.id, '/archive'));
  const expected: [string, string | null][] = [
    ['sales', sales.id],
    [' Claims \\/ Losses\\\\ ', claims.id],
    ['claims \\/ losses\\\\/intake', inner.id],
    ['Sales / Intake', outer.id],
    ['Sales / Claims \\/ Losses\\\\ / Intake', inner.id],
    // a whole path, though two others end like it
    ['intake', root.id],
    ['Gone', null],
    ['Intake / Sales', null],
    ['', null],
    [' / ', null],
  ];
  const refs = expected.map(([ref], row) => ({ row, column: 'c', type: 'BusinessCapability', ref }));
  const answer = await ok(
    admin.post('/api/v1/cards/resolve-refs', {
      refs: [...refs, { row: 99, column: 'd', type: 'Application', ref: 'Sales' }],
    }),
  );
  expect(answer.results).toEqual([
    ...expected.map(([, id], row) => ({
      row,
      column: 'c',
      status: id ? 'resolved' : 'missing',
      id,
      candidates: null,
    })),
    { row: 99, column: 'd', status: 'missing', id: null, candidates: null },
  ]);

  await admin.delete(card(root.id));
  const ambiguous = await admin.post('/api/v1/cards/resolve-refs', {
    refs: [{ row: 1, column: 'c', type: 'BusinessCapability', ref: 'Intake' }],
  });
  expect(ambiguous.body.results[0]).toEqual({
    row: 1,
    column: 'c',
    status: 'ambiguous',
    id: null,
    candidates: [
      { id: outer.id, path: 'Sales / Intake' },
      { id: inner.id, path: 'Sales / Claims \\/ Losses\\\\ / Intake' },
    ],
  });
});

it('takes up to 5,000 references and checks them', async () => {
  const ref = { row: 1, column: 'c', type: 'Application', ref: 'X' };
  expect((await admin.post('/api/v1/cards/resolve-refs', { refs: [] })).body).toEqual({ results: [] });
  for (const refs of [Array(5_001).fill(ref), [{ ...ref, type: 1 }], [{ ...ref, nope: 1 }]]) {
    await expectProblem(admin.post('/api/v1/cards/resolve-refs', { refs }), 422);
  }
});

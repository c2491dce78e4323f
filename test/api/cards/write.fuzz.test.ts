/** No input gives a 500. */

import fc from 'fast-check';
import { hostileText, hostileValue } from '../../random/hostile.ts';
import { openApp, type TestResponse } from '../../support/harness.ts';
import { forAllAsync } from '../../support/property.ts';
import { card, NOBODY } from '../../support/writes.ts';

const { t, admin } = await openApp(['admin']);
const parent = await admin.card();
const child = await admin.card({ parent_id: parent.id });
const part = await admin.card({ type: 'ITComponent' });
const ids: string[] = [parent.id, child.id, part.id, NOBODY, parent.id.toUpperCase()];
const relation = (await admin.relate('relAppToITC', parent.id, part.id)).id;

const text = fc.oneof(
  hostileText,
  fc.constantFrom('10000-01-01', `urn:uuid:${NOBODY}`, `{${NOBODY}}`, 'Application', 'relAppToITC'),
);
const id = fc.oneof(fc.nat(4), text);
const anything = fc.oneof(
  hostileValue,
  fc.double(),
  fc.array(text, { maxLength: 3 }),
  fc.dictionary(text, fc.oneof(text, fc.double(), fc.constant(null)), { maxKeys: 3 }),
);
const realId = (value: unknown) => (typeof value === 'number' ? ids[value] : value);
const someId = fc.oneof(id, anything).map(realId);
const ATTRIBUTES = [
  'timeModel',
  'costTotalAnnual',
  'numberOfUsers',
  'productName',
  'hasAiFeatures',
  'version',
];
const attributes = fc.oneof(
  anything,
  fc.dictionary(fc.constantFrom(...ATTRIBUTES), anything, { maxKeys: 2 }),
);

let serial = 0;
/** A body that fits, with up to `most` members replaced or added at random. */
const almost = (fitting: () => object, odd: Record<string, fc.Arbitrary<unknown>>, most = 2) =>
  fc
    .tuple(fc.record(odd), fc.subarray(Object.keys(odd), { maxLength: most }))
    .map(([values, keys]) => () => ({
      ...fitting(),
      ...Object.fromEntries(keys.map((key) => [key, values[key]])),
    }));

const values = {
  name: text,
  subtype: fc.oneof(text, anything),
  alias: fc.oneof(text, anything),
  description: fc.oneof(text, anything),
  external_id: fc.oneof(text, anything),
  parent_id: someId,
  lifecycle: fc.oneof(
    anything,
    fc.dictionary(fc.constantFrom('plan', 'active', 'endOfLife', 'x'), anything, { maxKeys: 2 }),
  ),
  attributes,
  status: anything,
};
const newCard = almost(
  () => {
    serial += 1;
    return { type: 'Application', name: `Fuzz ${serial}` };
  },
  { ...values, type: fc.oneof(text, fc.constantFrom('ITComponent', 'BusinessCapability')) },
);
const patch = almost(() => ({}), values);
const relationValues = { attributes, description: fc.oneof(text, anything) };
const newRelation = almost(() => ({ type: 'relAppToITC', source_id: ids[1], target_id: ids[2] }), {
  ...relationValues,
  type: text,
  source_id: someId,
  target_id: someId,
});
const relationPatch = almost(() => ({}), relationValues);
const reference = fc.oneof(
  anything,
  fc.record(
    {
      id: someId,
      type: fc.oneof(text, fc.constant('Application')),
      external_id: text,
      name: text,
      parent_path: fc.array(text, { maxLength: 2 }),
    },
    { requiredKeys: [] },
  ),
);
const row = almost(
  () => ({ row_index: 1, type: 'relAppToITC', source: { id: ids[1] }, target: { id: ids[2] } }),
  {
    ...relationValues,
    row_index: anything,
    action: fc.constantFrom('upsert', 'delete', 'x'),
    type: text,
    source: reference,
    target: reference,
  },
);
const bulk = fc
  .tuple(fc.array(row, { maxLength: 4 }), fc.constantFrom(undefined, true, false))
  .map(([rows, dry_run]) => () => ({ operations: rows.map((make) => make()), dry_run }));
const act = almost(
  () => ({}),
  {
    child_strategy: fc.oneof(fc.constantFrom('cascade', 'disconnect', 'reparent'), anything),
    related_card_ids: fc.oneof(fc.array(someId, { maxLength: 3 }), anything),
    also_restore_card_ids: fc.oneof(fc.array(someId, { maxLength: 3 }), anything),
    cascade_all_related: fc.oneof(fc.boolean(), anything),
  },
  2,
);

/** Every answer is checked against the API's description as well, so an undescribed status fails too. */
async function never500<T>(arbitrary: fc.Arbitrary<T>, send: (body: T) => Promise<TestResponse>, runs = 150) {
  await forAllAsync(runs, [arbitrary], async (body) => {
    expect((await send(body)).status).toBeLessThan(500);
  });
}

const wild = anything.map((body) => () => body);
const mostly = (bodies: fc.Arbitrary<() => object>) =>
  fc.oneof({ weight: 9, arbitrary: bodies }, { weight: 1, arbitrary: wild });

it('creating and changing cards', async () => {
  await never500(mostly(newCard), (body) => admin.post('/api/v1/cards', body()));
  await never500(fc.tuple(mostly(patch), fc.nat(3)), ([body, n]) => admin.patch(card(ids[n]!), body()));
});

it('creating, changing and bulk writing of relations', async () => {
  await never500(mostly(newRelation), (body) => admin.post('/api/v1/relations', body()));
  await never500(mostly(relationPatch), (body) => admin.patch(`/api/v1/relations/${relation}`, body()));
  await never500(mostly(bulk), (body) => admin.post('/api/v1/relations/bulk', body()), 300);
});

it('archiving, restoring, approving and deleting', async () => {
  for (const verb of ['archive', 'restore'])
    await never500(
      fc.tuple(mostly(act), fc.nat(3)),
      ([body, n]) => admin.post(card(ids[n]!, `/${verb}`), body()),
      60,
    );
  const query = text.map((action) => encodeURIComponent(action.toWellFormed()));
  await never500(query, (action) => admin.post(card(ids[0]!, `/approval-status?action=${action}`)), 60);
  await never500(mostly(act), (body) => admin.delete(card(NOBODY), body()), 60);
});

it('bodies nested beyond all measure, or with texts that no database holds', async () => {
  const deep = (open: string, close: string) => `${open.repeat(200_000)}1${close.repeat(200_000)}`;
  for (const value of [deep('[', ']'), deep('{"a":', '}')]) {
    for (const body of [value, `{"attributes":{"timeModel":${value}}}`]) {
      const answer = await admin.request({
        method: 'PATCH',
        url: card(ids[0]!),
        headers: { 'content-type': 'application/json' },
        payload: body,
      });
      expect([400, 422]).toContain(answer.status);
    }
  }
  for (const text of ['\0', '\ud800']) {
    const login = await t.anonymous.post('/api/v1/auth/login', { email: text, password: 'x' });
    expect([login.status, login.body.errors[0]]).toMatchObject([422, { field: 'email', code: 'bad_text' }]);
  }
});

it('parts of addresses and queries', async () => {
  const part = fc.oneof(text, fc.webPath()).map((any) => encodeURIComponent(any.toWellFormed()));
  await never500(part.filter(Boolean), (any) => admin.patch(card(any), {}), 60);
  await never500(part.filter(Boolean), (any) => admin.get(`/api/v1/relations/${any}`), 60);
  for (const name of ['search', 'type', 'card_id', 'sort_by', 'fields', 'cursor', 'page', 'page_size'])
    await never500(part, (any) => admin.get(`/api/v1/relations?${name}=${any}`), 40);
});

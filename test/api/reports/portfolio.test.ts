import { ok, openApp } from '../../support/harness.ts';

const { admin } = await openApp(['admin']);
const CARDS = 12;
for (let n = 0; n < CARDS; n += 1) {
  const attributes = { businessCriticality: 'missionCritical', numberOfUsers: 100 * (n % 3) };
  await admin.card({ type: 'Application', name: `Service ${n}`, attributes });
  await admin.card({ type: 'ITComponent', name: `Component ${n}` });
}

const read = (query: string, accept?: string) =>
  ok(admin.get(`/api/v1/reports/portfolio?${query}`, accept === undefined ? {} : { accept }));
const chart = 'application/vnd.estate.chart+json';

it('takes numbers and the field of the colour for the axes where no other select field is filled', async () => {
  const { fields } = await read('');
  expect(fields).toMatchObject({
    x_axis: { filled: CARDS, is_default: true },
    y_axis: { filled: CARDS, is_default: true },
  });
  expect(new Set([fields.x_axis.field, fields.y_axis.field])).toEqual(
    new Set(['businessCriticality', 'numberOfUsers']),
  );
  const { items, note } = JSON.parse(JSON.stringify(await read('', chart)));
  expect(items).toHaveLength(CARDS);
  expect(note).toMatch(/^12 of 12 cards. Fields chosen because most cards have them: /);
  // what the request names stays
  const named = await read('color_field=businessCriticality&y_axis=technicalSuitability');
  expect(named.fields.y_axis).toEqual({ field: 'technicalSuitability', filled: 0, is_default: false });
  expect(named.fields.color_field.field).toBe('businessCriticality');
});

it('says what is missing where no two fields are filled', async () => {
  const { items, note } = JSON.parse(JSON.stringify(await read('type=ITComponent', chart)));
  expect(items).toEqual([]);
  expect(note).toMatch(/^None of the 12 cards has values in two fields/);
});

it('draws circles of one point side by side', async () => {
  const query = 'x_axis=numberOfUsers&y_axis=businessCriticality';
  const { text } = await admin.get(`/api/v1/reports/portfolio?${query}`, { accept: 'image/svg+xml' });
  const circles = text.match(/<circle[^>]*>/g) ?? [];
  const places = circles.map((circle) => /cx="([^"]+)" cy="([^"]+)"/.exec(circle)?.slice(1).join(' '));
  expect(new Set(places).size).toBeGreaterThanOrEqual(CARDS);
});

it('takes the axes that most cards have both', async () => {
  const card = (n: number, attributes: object) =>
    admin.card({ type: 'Application', name: `Filled ${n}`, attributes });
  // hosting is filled best together with the suitability; the model and the criticality are hardly on the same cards
  for (let n = 0; n < 18; n += 1)
    await card(n, { hostingType: 'onPremise', ...(n < 8 && { technicalSuitability: 'adequate' }) });
  for (let n = 18; n < 28; n += 1) await card(n, { timeModel: 'tolerate' });
  const { fields } = await read('type=Application&filter=name%20~%20%22Filled%22');
  expect([fields.x_axis, fields.y_axis]).toMatchObject([
    { field: 'hostingType', filled: 18 },
    { field: 'technicalSuitability', filled: 8 },
  ]);
  const named = await read('x_axis=timeModel&filter=name%20~%20%22Filled%22');
  expect(named.fields.x_axis).toMatchObject({ field: 'timeModel', filled: 10, is_default: false });
  const few = await read(
    'filter=name%20~%20%22Filled%201%22%20and%20attributes.technicalSuitability%20is%20not%20empty',
  );
  expect(few.fields.y_axis.field).toBe('technicalSuitability');
});

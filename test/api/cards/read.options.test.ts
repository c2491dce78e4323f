import { openApp, pluck } from '../../support/harness.ts';

const { admin } = await openApp(['admin']);
const types = '/api/v1/metamodel/types';
const levels = ['low', 'medium', 'high', 'critical'];

const field = (key: string, type: string, keys: string[]) => ({
  key,
  label: key,
  type,
  options: keys.map((option) => ({ key: option, label: option })),
});
const schema = (...fields: object[]) => ({ fields_schema: [{ section: 'Facts', fields }] });
const names = async (query: string): Promise<string[]> =>
  pluck((await admin.get(`/api/v1/cards?${query}`)).body.items, 'name');

it('sorts options as the metamodel orders them, at every type, those without one last', async () => {
  const [one, several] = [
    field('level', 'single_select', levels),
    field('places', 'multiple_select', levels),
  ];
  await admin.create(types, { key: 'Plant', label: 'Plant', ...schema(one, several) });
  await admin.create(types, {
    key: 'Depot',
    label: 'Depot',
    ...schema(field('level', 'single_select', ['critical', 'low'])),
  });
  for (const level of [...levels, undefined]) {
    const name = level ?? 'none';
    await admin.card({
      type: 'Plant',
      name,
      attributes: level ? { level, places: [...new Set(['critical', level])] } : {},
    });
  }
  for (const level of ['low', 'critical'])
    await admin.card({ type: 'Depot', name: `Depot ${level}`, attributes: { level } });
  const plants = (by: string) => names(`type=Plant&sort_by=attributes.${by}`);
  expect(await plants('level')).toEqual([...levels, 'none']);
  expect(await plants('level&sort_dir=desc')).toEqual([...levels.toReversed(), 'none']);
  expect(await plants('places')).toEqual([...levels, 'none']);
  expect(await names('type=Plant&sort_by=status,-attributes.level')).toEqual([
    ...levels.toReversed(),
    'none',
  ]);
  expect(await names('type=Plant,Depot&sort_by=attributes.level,name')).toEqual([
    ...['Depot critical', 'low', 'Depot low', 'medium', 'high', 'critical', 'none'],
  ]);

  const page = async (cursor: string) =>
    (await admin.get(`/api/v1/cards?type=Plant&sort_by=attributes.level&page_size=2&cursor=${cursor}`)).body;
  const first = await page('');
  const turned = schema(field('level', 'single_select', levels.toReversed()), several);
  await admin.patch(`${types}/Plant`, turned);
  const second = await page(first.next_cursor);
  const third = await page(second.next_cursor);
  const walked = [first, second, third].flatMap(({ items }) => pluck(items, 'name'));
  expect(walked).toEqual([...levels, 'none']);
  expect(await plants('level')).toEqual([...levels.toReversed(), 'none']);
});

it('sorts cards of one type as by the other fields alone', async () => {
  for (const name of ['B', 'A']) await admin.card({ type: 'Provider', name });
  expect(await names('type=Provider&sort_by=type,-name')).toEqual(['B', 'A']);
  expect(await names('type=Provider&sort_by=name,type&sort_dir=desc')).toEqual(['B', 'A']);
  expect(await names('type=Provider&sort_by=type,type&sort_dir=desc')).toHaveLength(2);
});

import { danglingReferences, findConsumers } from '../../../domain/inventory/metamodel/usage/consumers.ts';
import { systemContext } from '../../../domain/kernel/services.ts';
import { openApp, type TestResponse } from '../../support/harness.ts';
import { storeConnection, storeMapping } from '../../support/itsm.ts';
import { nightly } from '../extractions/extractions.fixture.ts';
import {
  field,
  makeRelationType,
  makeType,
  newKey,
  options,
  relationTypes,
  schema,
  types,
} from './metamodel.fixture.ts';

const CHANGES = Number(process.env.CONSUMER_CHANGES ?? 200);
const SEED = Number(process.env.CONSUMER_SEED ?? 1);

const { t, db, admin } = await openApp(['admin']);

/** Numbers from 0 to 1 that a seed determines (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

it(`after any of ${CHANGES} changes nothing refers to what is gone unless forced, and the usage equals a full scan`, {
  timeout: 1_200_000,
}, async () => {
  const random = randomNumbers(SEED);
  const below = (n: number) => Math.floor(random() * n);
  const pick = <T>(list: readonly T[]): T => list[below(list.length)]!;
  type Field = { key: string; type: string; options?: { key: string }[] };
  const newField = (): Field =>
    pick([
      () => field(pick(['size', 'grade', 'note', newKey()]), 'number'),
      () =>
        field(pick(['size', 'grade', 'note', newKey()]), 'single_select', {
          options: options('gold', 'silver', 'tin'),
        }),
      () => field(pick(['size', 'grade', 'note', newKey()]), 'text'),
    ])() as Field;
  const unique = (fields: Field[]) => [...new Map(fields.map((one) => [one.key, one])).values()];
  const typeKeys: string[] = [];
  const relationKeys: string[] = [];
  for (let n = 0; n < 3; n += 1)
    typeKeys.push(await makeType(admin, unique([newField(), newField(), newField()])));
  relationKeys.push(await makeRelationType(admin, typeKeys[0]!, typeKeys[1]!));
  const connectionId = await storeConnection(db, { instance_url: 'https://itsm.example.com', secrets: '' });
  const fieldsOf = async (type: string): Promise<Field[]> =>
    (await admin.get(`${types}/${type}`)).body.fields_schema.flatMap(
      (section: { fields: Field[] }) => section.fields,
    );

  const condition = ({ key, type, options: offered = [] }: Field): string => {
    if (type === 'number') return `attributes.${key} > 1`;
    return type === 'text' ? `attributes.${key} ~ "x"` : `attributes.${key} = ${pick(offered).key}`;
  };
  /** Stores an object of a random kind that refers to parts that are there; the metamodel may refuse it. */
  async function addConsumer(type: string): Promise<void> {
    // configurations of reports are open, also for what is hidden
    if ((await admin.get(`${types}/${type}`)).body.is_hidden) return;
    const fields = await fieldsOf(type);
    const usable = fields.filter((one) => one.type !== 'single_select' || one.options!.length > 0);
    if (usable.length === 0) return;
    const [one, two] = [pick(usable), pick(usable)];
    const filter = `${random() < 0.5 ? `type = ${type} and ` : ''}${condition(one)}`;
    const config = { search: { type, x_axis: one.key, color_field: two.key, filter } };
    await pick([
      () =>
        admin.post('/api/v1/bookmarks', {
          name: 'v',
          filters: { types: [type], expression: filter },
          columns: [`attributes.${two.key}`],
        }),
      () =>
        admin.post('/api/v1/bookmarks', { name: 'f', filters: { expression: filter }, odata_enabled: true }),
      () =>
        admin.post('/api/v1/saved-reports', {
          name: 'r',
          report_type: 'portfolio',
          config: { path: '/reports/portfolio', ...config },
        }),
      () =>
        admin.post('/api/v1/saved-reports', {
          name: 'd',
          report_type: 'dashboard',
          config: { tiles: [config] },
        }),
      () =>
        admin.post(
          '/api/v1/extraction-schedules',
          nightly({
            request: { format: 'csv', types: [type], filter, columns: ['name', `attributes.${two.key}`] },
          }),
        ),
      () =>
        admin.post('/api/v1/web-portals', {
          name: 'p',
          slug: newKey().toLowerCase(),
          card_type: type,
          filters: { filter },
          display_fields: [`attributes.${two.key}`],
        }),
      () =>
        admin.post('/api/v1/calculations', {
          name: 'c',
          target_type_key: type,
          target_field_key: one.key,
          formula: `data.${two.key}`,
        }),
      () =>
        admin.post('/api/v1/surveys', {
          name: 's',
          target_type_key: type,
          fields: [{ key: one.key }],
          target_filters: { filter },
        }),
      () => admin.post('/api/v1/tag-groups', { name: newKey(), restrict_to_types: [type] }),
      () =>
        storeMapping(t, {
          connectionId,
          cardType: type,
          table: newKey(),
          more: { card_filter: filter },
          fields: [{ card_field: `attributes.${one.key}`, remote_field: 'x' }],
        }),
      () =>
        admin.post('/api/v1/bookmarks', {
          name: 'rel',
          filters: { relations: { [pick(relationKeys)]: true } },
        }),
    ])();
  }

  async function change(): Promise<TestResponse> {
    const force = random() < 0.15 ? '?force=true' : '';
    const type = pick(typeKeys);
    const url = `${types}/${type}`;
    const relation = `${relationTypes}/${pick(relationKeys)}`;
    const fields = await fieldsOf(type);
    const at = below(Math.max(1, fields.length));
    const write = (next: Field[]) =>
      admin.patch(`${url}${force}`, { fields_schema: schema(...unique(next)) });
    return await pick([
      () => write(fields.toSpliced(at, 1)),
      () => write([...fields, newField()]),
      () => write(fields.map((one, n) => (n === at ? { ...newField(), key: one.key } : one))),
      () =>
        write(
          fields.map((one, n) => (n === at && one.options ? { ...one, options: one.options.slice(1) } : one)),
        ),
      () => admin.patch(`${url}${force}`, { is_hidden: random() < 0.4 }),
      () =>
        admin.post(`${url}/fields/${fields[at]?.key ?? 'none'}/rename${force}`, {
          key: pick(['size', 'grade', 'note', newKey()]),
          removal: new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10),
        }),
      () => {
        const select = fields.find(({ type: kind }) => kind === 'single_select');
        const option = select?.options?.length ? pick(select.options).key : 'none';
        return admin.post(`${url}/rename${force}`, {
          field_key: select?.key ?? 'none',
          option_key: option,
          key: pick(['gold', 'silver', 'tin', newKey()]),
          removal: new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10),
        });
      },
      () => admin.patch(`${relation}${force}`, { is_hidden: random() < 0.4 }),
      () => admin.patch(`${relation}${force}`, { target_type_key: pick(typeKeys) }),
    ])();
  }

  const forced = new Set<string>();
  const outcomes: Record<string, number> = {};
  for (let n = 0; n < CHANGES; n += 1) {
    if (random() < 0.6) await addConsumer(pick(typeKeys));
    const { status, body } = await change();
    expect([200, 404, 409, 422], JSON.stringify(body)).toContain(status);
    outcomes[body.code ?? status] = (outcomes[body.code ?? status] ?? 0) + 1;
    const ctx = await systemContext(t.services, 'test');
    for (const { id } of (status === 200 && body.consumers) || []) forced.add(id);
    const { consumers } = await danglingReferences(ctx, db, ctx.metamodel);
    // answers list the first of them
    if (status === 200 && body.consumer_count > body.consumers?.length)
      for (const { id } of consumers) forced.add(id);
    expect(
      consumers.filter(({ id }) => !forced.has(id)),
      `change ${n}`,
    ).toEqual([]);

    const type = pick(typeKeys);
    const [one] = await fieldsOf(type);
    if (!one) continue;
    const path = `field:${type}.${one.key}`;
    // another metamodel object knows no contents, so that all are parsed
    const all = await findConsumers(ctx, db, { ...ctx.metamodel }, (references) =>
      [...references].flat().filter((part) => part === path || part.startsWith(`option:${type}.${one.key}.`)),
    );
    const answer = await admin.get(`${types}/${type}/usage?field_key=${one.key}&page_size=200`);
    expect(answer.body.total, path).toBe(all.consumers.length);
  }
  expect(outcomes).toMatchObject({ 200: expect.any(Number), in_use: expect.any(Number) });
  expect(forced.size).toBeGreaterThan(0);
});

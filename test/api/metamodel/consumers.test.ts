import { extensionList } from '../../../domain/app/extensions.ts';
import { fieldParams, groupParams, typeParams } from '../../../domain/inventory/metamodel/usage/params.ts';
import { reportCatalogue as reports } from '../../../reports/reports.catalogue.ts';
import { expectProblem, openApp } from '../../support/harness.ts';
import { makeParts, useEverywhere } from './consumers.fixture.ts';
import { field, makeType, newKey, relationTypes, schema, types } from './metamodel.fixture.ts';
import { unreferenced } from './unreferenced.data.ts';

const { t, db, admin, member } = await openApp(['admin', 'member']);

const kindsOf = (consumers: { kind: string }[]) => consumers.map(({ kind }) => kind).sort();
const inOrder = (made: Record<string, string>) => Object.keys(made).sort();

describe('the usage of a part of the metamodel', () => {
  it('names every stored object that refers to a field, an option, a type or a relation type', async () => {
    const parts = await makeParts(admin);
    const made = await useEverywhere(t, admin, parts);
    const usage = async (url: string) => (await admin.get(url)).body;
    const bySize = await usage(`${types}/${parts.type}/usage?field_key=size`);
    expect(kindsOf(bySize.consumers)).toEqual(inOrder(made));
    for (const { kind, id, link, owner } of bySize.consumers) {
      expect([kind, id]).toEqual([kind, made[kind]]);
      // a view is read from the list alone
      expect([200, 405], link).toContain((await admin.get(link)).status);
      if (kind !== 'itsm_mapping') expect(owner).toMatchObject({ id: admin.userId });
    }
    const byGold = await usage(`${types}/${parts.type}/usage?field_key=grade&option_key=gold`);
    expect(kindsOf(byGold.consumers)).toEqual(inOrder(made));
    expect((await usage(`${types}/${parts.type}/usage?field_key=grade&option_key=silver`)).total).toBe(0);
    expect((await usage(`${types}/${parts.type}/usage?field_key=note`)).total).toBe(0);
    expect((await usage(`${types}/${parts.type}/usage`)).total).toBe(inOrder(made).length);
    expect((await usage(`${types}/${parts.other}/usage`)).total).toBe(0);
    const related = await usage(`${relationTypes}/${parts.relation}/usage`);
    expect(kindsOf(related.consumers)).toEqual(inOrder(made));
    const page = await usage(`${types}/${parts.type}/usage?page=2&page_size=4`);
    expect(page).toMatchObject({ total: inOrder(made).length, page: 2, page_size: 4 });
    expect(page.consumers).toHaveLength(4);
    await expectProblem(admin.get(`${types}/${parts.type}/usage?field_key=nope`), 422);
    await expectProblem(admin.get(`${types}/${parts.type}/usage?option_key=gold`), 422);
    await expectProblem(admin.get(`${types}/Nope/usage`), 404);
  });

  it('counts those that the caller may not read', async () => {
    const { type } = await makeParts(admin);
    const filters = { types: [type] };
    await member.create('/api/v1/bookmarks', { name: 'Of the member', filters });
    await member.create('/api/v1/bookmarks', { name: 'Of all', filters, visibility: 'public' });
    const steward = await t.holding('admin.metamodel');
    const { body } = await steward.get(`${types}/${type}/usage`);
    expect(body).toMatchObject({ total: 1, hidden: 1, consumers: [{ name: 'Of all' }] });
    const refused = await steward.delete(`${types}/${type}`);
    expect(refused.body).toMatchObject({ code: 'in_use', consumer_count: 2, hidden_consumers: 1 });
    expect(refused.text).not.toContain('Of the member');
    expect((await steward.delete(`${types}/${type}?dry_run=true`)).body).toMatchObject({
      consumer_count: 2,
      needs_force: true,
    });
    expect((await admin.get(`${types}/${type}/usage`)).body).toMatchObject({ total: 2, hidden: 0 });
  });
});

describe('a change that breaks consumers', () => {
  it('says so if the caller may read none of them', async () => {
    const { type } = await makeParts(admin);
    await member.create('/api/v1/bookmarks', { name: 'Private', filters: { types: [type] } });
    const steward = await t.holding('admin.metamodel');
    const { body } = await steward.delete(`${types}/${type}`);
    expect(body.detail).toBe(
      'The change breaks 1 consumer that you may not read. Let their owners change them, or break them with force=true.',
    );
  });

  it('is named by a dry run of a deletion, which writes nothing', async () => {
    const { type, other, relation } = await makeParts(admin);
    const one = await admin.create('/api/v1/cards', { type, name: 'One' });
    const two = await admin.create('/api/v1/cards', { type: other, name: 'Two' });
    await admin.relate(relation, one.id, two.id);
    const filters = { relations: { [relation]: true } };
    await admin.create('/api/v1/bookmarks', { name: 'Related', filters });
    const dry = (await admin.delete(`${relationTypes}/${relation}?dry_run=true`)).body;
    expect(dry).toMatchObject({ dry_run: true, relations: 1, needs_force: true, consumer_count: 1 });
    expect((await admin.get(`${relationTypes}/${relation}`)).status).toBe(200);
    const hiding = (await admin.delete(`${types}/Objective?dry_run=true`)).body;
    expect(hiding.dry_run).toBe(true);
    expect((await admin.get(`${types}/Objective`)).body.is_hidden).toBe(false);
  });

  it('is a subtype that a formula compares, or a setting that hides processes', async () => {
    const type = await makeType(admin, [field('total', 'number')], {
      subtypes: [{ key: 'first', label: 'First' }],
    });
    const formula = 'IF(data.subtype == "first", 1, 2)';
    const computed = { target_type_key: type, target_field_key: 'total', formula };
    await admin.create('/api/v1/calculations', { name: 'By subtype', ...computed });
    await expectProblem(admin.patch(`${types}/${type}`, { subtypes: [] }), 409, 'in_use');

    const view = { name: 'Processes', filters: { types: ['BusinessProcess'] } };
    await admin.create('/api/v1/bookmarks', view);
    const setting = '/api/v1/settings/bpm-enabled';
    await expectProblem(admin.patch(setting, { enabled: false }), 409, 'in_use');
    expect((await admin.patch(`${setting}?force=true`, { enabled: false })).status).toBe(200);
    expect((await admin.patch(setting, { enabled: true })).status).toBe(200);
  });

  it('is also one that removes a subtype', async () => {
    const { type } = await makeParts(admin);
    const url = `${types}/${type}`;
    await admin.patch(url, {
      subtypes: [
        { key: 'first', label: 'First' },
        { key: 'second', label: 'Second' },
      ],
    });
    const filters = { types: [type], expression: 'subtype = first' };
    await admin.create('/api/v1/bookmarks', { name: 'Of the first', filters });
    const removal = { subtypes: [{ key: 'second', label: 'Second' }] };
    const dry = (await admin.patch(`${url}?dry_run=true`, removal)).body;
    expect(dry).toMatchObject({ needs_force: true, consumers: [{ uses: [`subtype:${type}.first`] }] });
    await expectProblem(admin.patch(url, removal), 409, 'in_use');
    const { status } = await admin.patch(url, { subtypes: [{ key: 'first', label: 'First' }] });
    expect(status).toBe(200);
  });

  it('names them in a dry run, and is refused without force, which names them as well', async () => {
    const parts = await makeParts(admin);
    const made = await useEverywhere(t, admin, parts);
    const url = `${types}/${parts.type}`;
    const { fields_schema } = (await admin.get(url)).body;
    const [section] = fields_schema;
    const without = (key: string) =>
      schema(...section.fields.filter((field: { key: string }) => field.key !== key));
    const dry = (await admin.patch(`${url}?dry_run=true`, { fields_schema: without('size') })).body;
    expect(dry).toMatchObject({
      needs_force: true,
      consumer_count: inOrder(made).length,
      hidden_consumers: 0,
    });
    expect(kindsOf(dry.consumers)).toEqual(inOrder(made));
    const refused = await admin.patch(url, { fields_schema: without('size') });
    expect([refused.status, refused.body.code]).toEqual([409, 'in_use']);
    expect(refused.body.consumers).toEqual(dry.consumers);
    // nobody reads it
    expect((await admin.patch(url, { fields_schema: without('note') })).status).toBe(200);
    const forced = await admin.patch(`${url}?force=true`, { fields_schema: without('size') });
    expect([forced.status, kindsOf(forced.body.consumers)]).toEqual([200, inOrder(made)]);
    expect(forced.headers.etag).toBe((await admin.get(url)).headers.etag);

    // what is broken says so, and names the field
    const { broken_reason } = (await admin.get(`/api/v1/calculations/${made.calculation}`)).body;
    expect(broken_reason).toContain('size');

    const hiding = await admin.patch(url, { is_hidden: true });
    expect(hiding.body.code).toBe('in_use');
    const relation = await admin.delete(`${relationTypes}/${parts.relation}`);
    expect(relation.body.code).toBe('in_use');
    const gone = await admin.delete(`${relationTypes}/${parts.relation}?force=true`);
    expect(gone.body).toMatchObject({ status: 'deleted', consumer_count: inOrder(made).length });
  });

  it('is refused for a retyped field and a removed option, not for a longer text', async () => {
    const { type } = await makeParts(admin);
    const url = `${types}/${type}`;
    await admin.create('/api/v1/bookmarks', {
      name: 'By note',
      filters: { types: [type], expression: 'attributes.note ~ "x" or attributes.grade = gold' },
    });
    const [{ fields }] = (await admin.get(url)).body.fields_schema;
    const changed = (key: string, more: object) =>
      admin.patch(url, {
        fields_schema: schema(
          ...fields.map((one: { key: string }) => (one.key === key ? { ...one, ...more } : one)),
        ),
      });
    expect((await changed('note', { type: 'multiline_text' })).status).toBe(200);
    expect((await changed('note', { type: 'number' })).body.code).toBe('in_use');
    expect((await changed('grade', { options: [fields[0].options[1]] })).body.code).toBe('in_use');
    expect((await changed('grade', { options: [fields[0].options[0]] })).status).toBe(200);
  });
});

it('a feed that a forced change has broken says which field is gone', async () => {
  const key = newKey();
  const type = await makeType(admin, [field(key, 'number')]);
  const filters = { types: [type], expression: `attributes.${key} > 1` };
  const { id } = await admin.create('/api/v1/bookmarks', { name: 'A feed', filters, odata_enabled: true });
  const gone = await admin.patch(`${types}/${type}?force=true`, { fields_schema: [] });
  expect(gone.body.consumers).toMatchObject([{ kind: 'feed', id, uses: [`field:${type}.${key}`] }]);
  const { status, text } = await admin.get(`/api/v1/bookmarks/${id}/odata`);
  expect([status, text]).toEqual([422, expect.stringContaining(key)]);
});

it('every table that could refer to the metamodel is read by a kind of consumers, or is known to refer to nothing', async () => {
  const { rows } =
    await db.raw(`select table_name as name, string_agg(column_name, ', ' order by column_name) as columns
    from information_schema.columns
    where table_schema = 'public' and (data_type = 'jsonb'
      or (data_type in ('text', 'ARRAY') and column_name ~ '(type_key|card_type|relation_type|field|formula|filter|columns)'))
    group by 1 order by 1`);
  const read = new Set(
    extensionList.flatMap(({ consumers = [] }) => consumers.flatMap(({ tables }) => tables)),
  );
  const open = rows.filter(({ name }: { name: string }) => !read.has(name) && !unreferenced.has(name));
  expect(open).toEqual([]);
});

it('every parameter of a report that names a type or field is read in saved reports', () => {
  const named = reports.flatMap(({ params }) =>
    Object.entries(params as Record<string, { 'x-choices'?: { of: string } }>).flatMap(([name, schema]) =>
      schema['x-choices'] && schema['x-choices'].of !== 'values' ? [name] : [],
    ),
  );
  const known = [...typeParams, ...fieldParams, ...groupParams];
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((name) => !known.includes(name))).toEqual([]);
});

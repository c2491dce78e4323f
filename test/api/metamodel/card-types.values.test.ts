import { expectProblem, ok, openApp, pluck } from '../../support/harness.ts';
import { writesOf } from '../../support/writes.ts';
import {
  eventsBy,
  field,
  makeRelationType,
  makeType,
  options,
  schema,
  storedCard,
  types,
} from './metamodel.fixture.ts';

const { t, admin } = await openApp(['admin']);
const { idle, refused } = writesOf(t);

const patch =
  (key: string, body: Record<string, unknown>, query = '') =>
  () =>
    admin.patch(`${types}/${key}${query}`, body);
const cardOf = (type: string, attributes: Record<string, unknown>, more: Record<string, unknown> = {}) =>
  admin.card({ type, attributes, ...more });

describe('fields, options and subtypes that are left out', () => {
  it('take their values from every card, archived ones included, with an event and a new score for each', async () => {
    const select = field('state', 'single_select', { options: options('a', 'b') });
    const many = field('tags1', 'multiple_select', { options: options('x', 'y') });
    const type = await makeType(admin, [field('size', 'cost'), select, many, field('note', 'text')], {
      subtypes: [
        { key: 'one', label: 'One', hidden_fields: ['note', 'size'] },
        { key: 'two', label: 'Two' },
      ],
    });
    const full = await cardOf(
      type,
      { size: 7, state: 'a', tags1: ['x', 'y'], note: 'kept' },
      { subtype: 'two' },
    );
    await admin.post(`/api/v1/cards/${full.id}/approval-status?action=approve`);
    const last = await cardOf(type, { state: 'b', tags1: ['x'] });
    await admin.post(`/api/v1/cards/${last.id}/archive`);
    const untouched = await cardOf(type, { state: 'b', tags1: ['y'] });

    const body = {
      fields_schema: schema(
        { ...select, options: options('b') },
        { ...many, options: options('y') },
        field('note', 'text'),
      ),
      subtypes: [{ key: 'one', label: 'One', hidden_fields: ['note'] }],
    };
    expect((await idle(patch(type, body, '?dry_run=true'))).body).toMatchObject({
      dry_run: true,
      cards: 3,
      removed_fields: [{ field_key: 'size', affected: 1 }],
      removed_options: [
        { field_key: 'state', option_key: 'a', affected: 1 },
        { field_key: 'tags1', option_key: 'x', affected: 2 },
      ],
      removed_subtypes: [{ subtype_key: 'two', affected: 1 }],
      needs_force: false,
      as_job: false,
    });
    const { events, kinds } = await eventsBy(t, patch(type, body), 200);
    expect(kinds).toEqual({ 'card.updated': 3, 'card_type.updated': 1 });
    expect(events.at(-1)!.event_type).toBe('card_type.updated');
    const told = events.find((event) => event.card_id === full.id)!;
    expect(told.data.changes).toMatchObject({
      subtype: { old: 'two', new: null },
      'attributes.size': { old: 7, new: null },
      'attributes.state': { old: 'a', new: null },
      'attributes.tags1': { old: ['x', 'y'], new: ['y'] },
    });
    // what was a cost is one in the event as well
    expect(told.cost_keys).toEqual(['attributes.size']);
    expect(await storedCard(t, full.id)).toMatchObject({
      subtype: null,
      attributes: { tags1: ['y'], note: 'kept' },
      approval_status: 'APPROVED',
    });
    expect((await storedCard(t, last.id)).attributes).toEqual({ state: 'b' });
    expect((await storedCard(t, untouched.id)).attributes).toEqual({ state: 'b', tags1: ['y'] });
    // two of three fields, none of description, lifecycle and the two roles
    expect((await storedCard(t, full.id)).data_quality).toBe(28.6);
  });

  it('leave no trace in subtypes and sections that hide or order them', async () => {
    const type = await makeType(admin, [field('size', 'number'), field('note', 'text')], {
      subtypes: [{ key: 'one', label: 'One', hidden_fields: ['size', 'note'] }],
      section_config: { Facts: { hidden: true }, __order: ['Facts', 'tags'] },
    });
    const { body } = await patch(type, {
      fields_schema: [{ section: 'Other', fields: [field('note', 'text')] }],
    })();
    expect(body.subtypes[0].hidden_fields).toEqual(['note']);
    expect(body.section_config).toEqual({ __order: ['tags'] });
  });
});

describe('fields of another type', () => {
  it('convert what fits, and refuse the change while something does not', async () => {
    const type = await makeType(admin, [
      field('size', 'text'),
      field('state', 'text'),
      field('when', 'text'),
    ]);
    const good = await cardOf(type, { size: '12.5', state: 'Open', when: '2026-02-03' });
    const bad = await cardOf(type, { size: 'about 12', state: 'b', when: 'soon' });
    const fields_schema = schema(
      field('size', 'number'),
      field('state', 'single_select', { options: [{ key: 'open', label: 'Open' }, ...options('b')] }),
      field('when', 'date'),
    );
    const impact = await idle(patch(type, { fields_schema }, '?dry_run=true'));
    expect(impact.body).toMatchObject({ needs_force: true, cards: 2 });
    expect(impact.body.changed_fields[0]).toEqual({
      field_key: 'size',
      from: 'text',
      to: 'number',
      affected: 2,
      converted: 1,
      unconvertible: 1,
      examples: [{ id: bad.id, value: 'about 12' }],
    });
    const refusal = await refused(patch(type, { fields_schema }));
    expect(refusal).toMatchObject({ status: 409, code: 'values_do_not_fit' });
    expect(pluck(refusal.body.changed_fields, 'field_key')).toEqual(['size', 'when']);

    const { kinds } = await eventsBy(t, patch(type, { fields_schema }, '?force=true'));
    expect(kinds).toEqual({ 'card.updated': 2, 'card_type.updated': 1 });
    const { attributes } = await storedCard(t, good.id);
    expect(attributes).toEqual({ size: 12.5, state: 'open', when: '2026-02-03' });
    expect((await storedCard(t, bad.id)).attributes).toEqual({ state: 'b' });
    // and every card passes its own type
    for (const id of [good.id, bad.id]) {
      const { body } = await admin.get(`/api/v1/cards/${id}`);
      await ok(admin.patch(`/api/v1/cards/${id}`, { attributes: body.attributes }));
    }
  });

  it('show no values to administrators who do not see the cards or their costs', async () => {
    const type = await makeType(admin, [field('price', 'cost')]);
    const { id } = await cardOf(type, { price: 4711.5 });
    const body = { fields_schema: schema(field('price', 'boolean')) };
    const hidden = await (await t.holding('admin.metamodel')).patch(`${types}/${type}?dry_run=true`, body);
    expect(hidden.body.changed_fields[0]).toMatchObject({ unconvertible: 1, examples: [] });
    const cut = await (await t.holding('admin.metamodel', 'inventory.view')).patch(`${types}/${type}`, body);
    expect(cut.status).toBe(409);
    expect(cut.body.changed_fields[0].examples).toEqual([{ id }]);
    expect(cut.text).not.toContain('4711.5');
  });
});

describe('what counts for the data quality', () => {
  it('is counted anew for every card when weights change', async () => {
    const type = await makeType(admin, [field('size', 'number'), field('note', 'text')]);
    const { id } = await cardOf(type, { size: 1 });
    expect((await storedCard(t, id)).data_quality).toBe(16.7);
    const body = {
      fields_schema: schema(
        field('size', 'number', { weight: 2 }),
        field('note', 'text', { weight: 0, required: true }),
      ),
    };
    const impact = await idle(patch(type, body, '?dry_run=true'));
    expect(impact.body.required_fields).toEqual([{ field_key: 'note', missing: 1 }]);
    const { kinds } = await eventsBy(t, patch(type, body));
    expect(kinds).toEqual({ 'card.updated': 1, 'card_type.updated': 1 });
    expect((await storedCard(t, id)).data_quality).toBe(33.3);
    await patch(type, { section_config: { __dataQuality: { stakeholders: 0, lifecycle: 0 } } })();
    expect((await storedCard(t, id)).data_quality).toBe(66.7);
  });

  it('is left alone by what does not count', async () => {
    const type = await makeType(admin, [field('size', 'number')]);
    await cardOf(type, { size: 1 });
    const { kinds } = await eventsBy(
      t,
      patch(type, { fields_schema: schema(field('size', 'cost'), field('more', 'text', { weight: 0 })) }),
    );
    expect(kinds).toEqual({ 'card_type.updated': 1 });
  });

  it('follows the hiding of the type at the other end of a mandatory relation', async () => {
    const [one, other] = [await makeType(admin), await makeType(admin)];
    const { id } = await cardOf(one, {});
    await admin.patch(`/api/v1/cards/${id}`, { description: 'Said.' });
    expect((await storedCard(t, id)).data_quality).toBe(25);
    await makeRelationType(admin, one, other, { source_mandatory: true });
    expect((await storedCard(t, id)).data_quality).toBe(20);
    await patch(other, { is_hidden: true })();
    expect((await storedCard(t, id)).data_quality).toBe(25);
    await patch(other, { is_hidden: false })();
    expect((await storedCard(t, id)).data_quality).toBe(20);
  });
});

it('usage counts the cards of a field, a section and an option', async () => {
  const type = await makeType(admin, [
    field('size', 'number'),
    field('state', 'multiple_select', { options: options('a', 'b') }),
  ]);
  await cardOf(type, { size: 1, state: ['a'] });
  await cardOf(type, { state: ['a', 'b'] });
  await admin.post(`/api/v1/cards/${(await cardOf(type, { size: 2 })).id}/archive`);
  const url = `${types}/${type}`;
  const usage = (await admin.get(`${url}/field-usage?field_key=size`)).body;
  expect(usage).toEqual({ field_key: 'size', card_count: 1, archived_count: 1 });
  expect((await admin.get(`${url}/section-usage?field_keys=size,state`)).body).toEqual({
    card_count: 2,
    archived_count: 1,
    fields: [
      { field_key: 'size', card_count: 1, archived_count: 1 },
      { field_key: 'state', card_count: 2, archived_count: 0 },
    ],
  });
  const { body } = await admin.get(`${url}/option-usage?field_key=state&option_key=a`);
  expect(body).toEqual({ field_key: 'state', option_key: 'a', card_count: 2, archived_count: 0 });
  const status = async (rest: string) => (await admin.get(`${url}${rest}`)).status;
  expect(await status('/field-usage?field_key=other')).toBe(422);
  expect(await status('/field-usage')).toBe(422);
  expect(await status('/option-usage?field_key=state&option_key=c')).toBe(422);
  await expectProblem(admin.get(`${types}/Nothing/field-usage?field_key=a`), 404);
});

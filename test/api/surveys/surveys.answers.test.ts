import { randomUUID } from 'node:crypto';
import { expectInvalid, expectProblem, ok, openApp, pluck, type TestClient } from '../../support/harness.ts';
import { tablesOf } from '../../support/tables.ts';
import { openDesk, surveys as url } from './surveys.fixture.ts';

const { t, db } = await openApp();
const d = await openDesk(t);
const admin = d.admin;
const ann = await t.as('member', 'Ann');
const bob = await t.as('viewer', 'Bob');

const attributes = async (card: string) => (await admin.get(`/api/v1/cards/${card}`)).body.attributes;
const before = { businessCriticality: 'missionCritical', timeModel: 'tolerate', costTotalAnnual: 10 };

describe('an answer', () => {
  it('is given once, on a form with the present values', async () => {
    const card = await d.card({ name: 'Desk', subtype: 'microservice', attributes: before }, ann);
    const id = await d.sent([card], { message: 'Please.' });
    const form = `${url}/${id}/respond/${card}`;
    const read = await ann.get(form);
    expect(read.body).toMatchObject({
      response_status: 'pending',
      survey: { id, name: 'Owners?', message: 'Please.' },
      card: { id: card, name: 'Desk', type: 'Application', subtype: 'microservice' },
      fields: [
        { key: 'businessCriticality', action: 'confirm', current_value: 'missionCritical' },
        { key: 'timeModel', type: 'single_select', current_value: 'tolerate' },
        { key: 'costTotalAnnual', current_value: 10 },
      ],
      existing_responses: {},
    });
    const since = await admin.position();
    const given = await d.answer(ann, id, card, {
      businessCriticality: { confirmed: true },
      timeModel: { new_value: 'invest', current_value: 'tolerate' },
    });
    expect(given.body).toEqual({ status: 'completed', response_id: read.body.response_id });
    const [told] = await d.events(since, 'survey_response.updated');
    expect(told.card_id).toBe(card);
    expect(told.data.changes).toMatchObject({ status: { old: 'pending', new: 'completed' } });
    const answers = {
      businessCriticality: {
        current_value: 'missionCritical',
        new_value: 'missionCritical',
        confirmed: true,
      },
      timeModel: { current_value: 'tolerate', new_value: 'invest', confirmed: false },
    };
    const { body } = await ann.get(form);
    expect(body).toMatchObject({ response_status: 'completed', existing_responses: answers });
    expect(await d.responses(id)).toMatchObject([
      { status: 'completed', responses: answers, applied: false },
    ]);
    await expectProblem(d.answer(ann, id, card, {}), 409, 'wrong_state');
    expect(await attributes(card)).toEqual(before);
    const data = (await admin.get(`/api/v1/accounts/${ann.userId}/personal-data`)).body;
    expect(data.survey_answers).toContainEqual(
      expect.objectContaining({ survey_name: 'Owners?', card_id: card, status: 'completed' }),
    );
  });

  it('has to fit its fields', async () => {
    const card = await d.card({ attributes: before }, ann);
    const id = await d.sent([card]);
    const refused = (responses: unknown, ...fields: [string, ...string[]]) =>
      expectInvalid(d.answer(ann, id, card, responses), ...fields);
    await refused({ timeModel: { new_value: 'noSuch' } }, 'responses.timeModel.new_value unknown_option');
    await refused(
      { costTotalAnnual: { new_value: 'much' }, productName: { new_value: 'X' } },
      'responses.costTotalAnnual.new_value wrong_type',
      'responses.productName unknown_field',
    );
    await refused({ timeModel: {} }, 'responses.timeModel.new_value required');
    await refused(
      { timeModel: { confirmed: true, new_value: 'invest' } },
      'responses.timeModel.new_value contradiction',
    );
    await refused({ timeModel: { new_value: 'invest', more: 1 } }, 'responses.timeModel.more');
    await expectProblem(
      d.answer(ann, id, card, { timeModel: { new_value: 'invest', current_value: 'migrate' } }),
      409,
      'conflict',
    );
    await ok(d.answer(ann, id, card, { timeModel: { new_value: null } }));
  });

  it('is asked of nobody else, and about no card that is away', async () => {
    const card = await d.card({}, ann);
    const id = await d.sent([card]);
    await expectProblem(d.answer(bob, id, card, {}), 404, 'not_found');
    await expectProblem(ann.get(`${url}/${id}/respond/${await d.card()}`), 404, 'not_found');
    await admin.post(`/api/v1/cards/${card}/archive`);
    await expectProblem(d.answer(ann, id, card, {}), 409, 'wrong_state');
    expect((await ann.get(`${url}/my`)).text).not.toContain(card);
  });

  it('is about relations, too, and adds and removes them when it is applied', async () => {
    const key = 'relations.relAppToITC';
    const [a, b, c] = [
      await d.card({ type: 'ITComponent', name: 'A' }),
      await d.card({ type: 'ITComponent', name: 'B' }),
      await d.card({ type: 'ITComponent', name: 'C' }),
    ];
    const card = await d.card({}, ann);
    const relate = (target_id: string) =>
      admin.create('/api/v1/relations', { type: 'relAppToITC', source_id: card, target_id });
    for (const target of [a, b]) await relate(target);
    const fields = [{ key, action: 'confirm' }, { key: 'timeModel' }];
    const id = await d.sent([card], { fields });
    const form = (await ann.get(`${url}/${id}/respond/${card}`)).body;
    expect(form.fields[0]).toMatchObject({
      key,
      type: 'relation',
      section: 'Relations',
      relation: { type: 'relAppToITC', direction: 'outgoing', other_type_key: 'ITComponent' },
      current_value: [a, b].sort(),
    });
    expect(pluck(form.fields[0].current_cards, 'name').sort()).toEqual(['A', 'B']);
    const app = await d.card({ name: 'App' });
    const say = (responses: object) => d.answer(ann, id, card, responses);
    await expectInvalid(say({ [key]: { new_value: [app] } }), `responses.${key}.new_value.0 unknown_card`);
    await expectInvalid(say({ [key]: { new_value: 'A' } }), `responses.${key}.new_value wrong_type`);
    await expectInvalid(say({ [key]: { new_value: ['A'] } }), `responses.${key}.new_value.0 format`);
    await expectProblem(say({ [key]: { new_value: [c], current_value: [a] } }), 409, 'conflict');
    const answer = { new_value: [c.toUpperCase(), b], current_value: [b, a] };
    await ok(say({ [key]: answer, timeModel: { new_value: 'invest' } }));
    const [response] = await d.responses(id);
    expect(response.responses[key]).toEqual({
      current_value: [a, b].sort(),
      new_value: [b, c].sort(),
      confirmed: false,
    });
    const blind = await t.holding('surveys.manage', 'inventory.view', 'costs.view');
    expect(Object.keys((await blind.get(`${url}/${id}/responses`)).body.items[0].responses)).toEqual([
      'timeModel',
    ]);
    const told = async (client: TestClient) =>
      pluck((await client.get(`/api/v1/changes?card_id=${card}&limit=1000`)).body.items, 'event_type');
    expect(await told(admin)).toContain('survey_response.updated');
    expect(await told(blind)).not.toContain('survey_response.updated');
    const asked = { name: 'S', target_type_key: 'Application', fields };
    await expectProblem(blind.post(url, asked), 403, 'relations.view');
    const related = async () =>
      (await admin.get(`/api/v1/relations?card_id=${card}`)).body.items
        .map((relation: { target_id: string }) => relation.target_id)
        .sort();
    // all of an answer or nothing of it
    await ok(admin.post(`/api/v1/cards/${c}/archive`));
    const refused = (await d.apply(id, [response.id])).body;
    expect(refused).toMatchObject({ applied: 0, errors: [{ code: 'relation_refused', fields: [key] }] });
    expect([await related(), (await attributes(card)).timeModel]).toEqual([[a, b].sort(), undefined]);
    await ok(admin.post(`/api/v1/cards/${c}/restore`));
    expect((await d.apply(id, [response.id], { dry_run: true })).body.applied).toBe(1);
    expect(await related()).toEqual([a, b].sort());
    expect((await d.apply(id, [response.id])).body).toMatchObject({ applied: 1, errors: [] });
    expect([await related(), (await attributes(card)).timeModel]).toEqual([[b, c].sort(), 'invest']);
    await admin.undo();
    expect([await related(), (await attributes(card)).timeModel]).toEqual([[a, b].sort(), undefined]);
  });

  it('shows costs to those alone who see them', async () => {
    const card = await d.card({ attributes: { costTotalAnnual: 7300019 } }, bob);
    const id = await d.sent([card]);
    const asker = await t.holding('surveys.manage', 'inventory.view', 'relations.view', 'inventory.edit');
    // a role on the card shows its costs
    const form = `${url}/${id}/respond/${card}`;
    expect((await bob.get(form)).text).toContain('7300019');
    const since = await admin.position();
    await ok(d.answer(bob, id, card, { costTotalAnnual: { new_value: 7300020 } }));
    await db('stakeholders').where({ card_id: card }).delete();
    expect((await bob.get(form)).text).not.toMatch(/73000|costTotal/);
    const [response] = await d.responses(id);
    expect(response.responses.costTotalAnnual.new_value).toBe(7300020);
    const seen = await asker.get(`${url}/${id}/responses`);
    expect(seen.body.items).toMatchObject([{ status: 'completed', responses: {} }]);
    expect(await d.events(since, 'survey_response.updated', asker)).toHaveLength(1);
    expect(JSON.stringify(await d.events(since, 'survey_response.updated', asker))).not.toContain('73000');
    await expectProblem(asker.post(`${url}/${id}/apply`, { response_ids: [response.id] }), 403, 'costs.view');
    // who is asked, and who may be, is the stakeholders'
    await expectProblem(asker.post(`${url}/${id}/preview`), 403, 'stakeholders.view');
    expect((await d.apply(id, [response.id])).body.applied).toBe(1);
  });
});

describe('applying', () => {
  it('writes answers into the cards by the rules, the dry run telling the same', async () => {
    const [one, two] = [
      await d.card({ attributes: before }, ann),
      await d.card({ attributes: before }, ann, bob),
    ];
    await admin.post(`/api/v1/cards/${one}/approval-status?action=approve`);
    const id = await d.sent([one, two]);
    await d.answer(ann, id, one, {
      businessCriticality: { confirmed: true },
      timeModel: { new_value: 'invest' },
      costTotalAnnual: { new_value: null },
    });
    await d.answer(ann, id, two, { timeModel: { new_value: 'invest' } });
    await d.answer(bob, id, two, { timeModel: { new_value: 'migrate' } });
    const responses = await d.responses(id);
    const of = (card: string, user: TestClient) =>
      responses.find((response) => response.card_id === card && response.user_id === user.userId)
        .id as string;
    const unknown = randomUUID();
    const ids = [of(one, ann), of(two, ann), of(two, bob), unknown];
    const tables = await tablesOf(db);
    const tried = await d.apply(id, ids, { dry_run: true });
    expect(await tablesOf(db)).toEqual(tables);
    const since = await admin.position();
    const done = await d.apply(id, ids);
    expect(tried.body).toEqual({ ...done.body, dry_run: true });
    expect(done.body).toMatchObject({
      dry_run: false,
      applied: 2,
      errors: [
        { response_id: of(two, bob), card_id: two, code: 'changed_since', fields: ['timeModel'] },
        { response_id: unknown, card_id: null, code: 'not_found' },
      ],
    });
    const { costTotalAnnual: _, ...rest } = before;
    expect(await attributes(one)).toEqual({ ...rest, timeModel: 'invest' });
    expect((await admin.get(`/api/v1/cards/${one}`)).body.approval_status).toBe('BROKEN');
    expect(await attributes(two)).toEqual({ ...before, timeModel: 'invest' });
    const told = await d.events(since, 'card.updated');
    expect(told.map(({ card_id }) => card_id).sort()).toEqual([one, two].sort());
    const changes = told.find(({ card_id }) => card_id === two).data.changes['attributes.timeModel'];
    expect(changes).toEqual({ old: 'tolerate', new: 'invest' });
    expect(await d.events(since, 'survey_response.updated')).toHaveLength(2);
    const codes = pluck((await d.apply(id, ids)).body.errors, 'code');
    expect(codes).toEqual(['already_applied', 'already_applied', 'changed_since', 'not_found']);
    const { body } = await admin.get(`${url}/${id}`);
    expect(body).toMatchObject({ completed_responses: 3, applied_responses: 2 });
  });

  it('is refused where the card or its type has changed since, and where it may not be edited', async () => {
    const [moved, archived, waiting] = [
      await d.card({ attributes: before }, ann),
      await d.card({}, ann),
      await d.card({}, ann),
    ];
    const id = await d.sent([moved, archived, waiting], {
      fields: [{ key: 'timeModel' }, { key: 'hostingType' }],
    });
    await d.answer(ann, id, moved, { timeModel: { new_value: 'invest' } });
    await d.answer(ann, id, archived, { timeModel: { new_value: 'invest' } });
    await admin.patch(`/api/v1/cards/${moved}`, { attributes: { timeModel: 'eliminate' } });
    await admin.post(`/api/v1/cards/${archived}/archive`);
    const all = await d.responses(id);
    const codes = async () =>
      Object.fromEntries(
        pluck(
          (
            await d.apply(
              id,
              all.map((response) => response.id),
            )
          ).body.errors,
          'card_id',
          'code',
        ),
      );
    expect(await codes()).toEqual({
      [moved]: 'changed_since',
      [archived]: 'card_archived',
      [waiting]: 'not_completed',
    });
    // closed, it can still be applied
    await d.answer(ann, id, waiting, { hostingType: { new_value: 'hybrid' } });
    await admin.post(`${url}/${id}/close`);
    const sections = (await admin.get('/api/v1/metamodel/types/Application')).body.fields_schema.map(
      (section: { fields: { key: string; options?: { key: string }[] }[] }) => ({
        ...section,
        fields: section.fields.map((field) =>
          field.key === 'hostingType'
            ? { ...field, options: field.options!.filter((option) => option.key !== 'hybrid') }
            : field,
        ),
      }),
    );
    await ok(admin.patch('/api/v1/metamodel/types/Application', { fields_schema: sections }));
    expect((await codes())[waiting]).toBe('value_does_not_fit');
    const kept = (await d.responses(id)).find((response) => response.card_id === waiting);
    expect(kept.responses.hostingType.new_value).toBe('hybrid');

    const sender = await t.holding('surveys.manage', 'inventory.view');
    await expectProblem(
      sender.post(`${url}/${id}/apply`, { response_ids: [kept.id] }),
      403,
      'inventory.edit',
    );
    await expectProblem(d.apply(randomUUID(), [kept.id]), 404, 'not_found');
    await expectProblem(d.apply(id, []), 422, 'validation_failed');
  });
});

it('of two who send, answer or apply at once, one does it', async () => {
  const card = await d.card({ attributes: before }, ann);
  const id = await d.draft([card], { fields: [{ key: 'timeModel' }] });
  const statuses = async (acts: Promise<{ status: number }>[]) =>
    (await Promise.all(acts)).map(({ status }) => status).sort();
  const send = () => admin.post(`${url}/${id}/send`);
  expect(await statuses([send(), send(), send()])).toEqual([200, 409, 409]);
  expect(await d.responses(id)).toHaveLength(1);
  const give = (value: string) => d.answer(ann, id, card, { timeModel: { new_value: value } });
  expect(await statuses([give('invest'), give('migrate'), give('eliminate')])).toEqual([200, 409, 409]);
  const [{ id: response }] = await d.responses(id);
  const since = await admin.position();
  const reports = await Promise.all([d.apply(id, [response]), d.apply(id, [response])]);
  expect(reports.map(({ body }) => body.applied).sort()).toEqual([0, 1]);
  expect(await d.events(since, 'card.updated')).toHaveLength(1);
});

describe('questions', () => {
  it('follow a merged card, and leave with a deleted one or a deleted user', async () => {
    const carl = await t.as('viewer', `carl-${randomUUID()}`);
    const [kept, double, gone] = [await d.card({}, carl), await d.card({}, ann), await d.card({}, ann)];
    const id = await d.sent([kept, double, gone]);
    await ok(admin.post('/api/v1/cards/merge', { survivor_id: kept, merged_ids: [double] }));
    await ok(d.answer(ann, id, kept, { timeModel: { new_value: 'invest' } }));
    await expectProblem(ann.get(`${url}/${id}/respond/${double}`), 308, 'merged');
    const since = await admin.position();
    await admin.delete(`/api/v1/cards/${gone}`);
    await admin.delete(`/api/v1/users/${carl.userId}`);
    expect(await d.events(since, 'survey_response.deleted')).toHaveLength(2);
    await admin.delete(`/api/v1/users/${ann.userId}`);
    expect(await d.responses(id)).toMatchObject([
      { card_id: kept, user_id: ann.userId, user_display_name: null, status: 'completed' },
    ]);
  });

  it('are put once about a merged card, and answers are all kept, until the merge is undone', async () => {
    const [bea, cleo, dan] = await Promise.all(['Bea', 'Cleo', 'Dan'].map((name) => t.as('viewer', name)));
    const [kept, double] = [await d.card({}, bea!, cleo!, dan!), await d.card({}, bea!, cleo!, dan!)];
    const id = await d.sent([kept, double]);
    const give = (client: TestClient, card: string, value: string) =>
      d.answer(client, id, card, { timeModel: { new_value: value } });
    await give(cleo!, double, 'invest');
    await give(dan!, kept, 'invest');
    await give(dan!, double, 'migrate');
    const stands = async () =>
      (await d.responses(id))
        .map(({ card_id, user_id, status }) => `${user_id} ${status} ${card_id === kept}`)
        .sort();
    const start = await stands();
    expect(start).toHaveLength(6);
    const merged = await ok(admin.post('/api/v1/cards/merge', { survivor_id: kept, merged_ids: [double] }));
    expect(await stands()).toEqual(
      [
        `${bea!.userId} pending true`,
        `${cleo!.userId} completed true`,
        `${dan!.userId} completed true`,
        `${dan!.userId} completed true`,
      ].sort(),
    );
    await expectProblem(give(cleo!, kept, 'migrate'), 409, 'wrong_state');
    await ok(admin.post(`/api/v1/card-merges/${merged.merge_id}/undo`));
    expect(await stands()).toEqual(start);
  });

  it('and all that was done with them can be rolled back', async () => {
    const eve = await t.as('viewer', 'Eve');
    const card = await d.card({ attributes: before }, eve);
    const id = await d.draft([card], { fields: [{ key: 'timeModel' }] });
    const [kept, merged, deleted] = [await d.card({}, eve), await d.card({}, eve), await d.card({}, eve)];
    await d.answer(eve, await d.sent([kept, merged, deleted]), merged, {
      timeModel: { new_value: 'invest' },
    });
    await d.sent([kept, merged]);
    // the journal of a merge stays, as undone
    const state = async () => ({ ...(await tablesOf(db)), card_merges: null });
    const start = await state();
    const batch = (await admin.post('/api/v1/mutation-batches', { tool_name: 'Test' })).body.id;
    const header = { 'x-mutation-batch': batch };
    const act = async (client: TestClient, path: string, body?: unknown) => {
      const answer = await client.post(`${url}${path}`, body, header);
      expect(answer.status, answer.text).toBeLessThan(300);
      return answer.body;
    };
    const made = await act(admin, '', { name: 'New', target_type_key: 'Application' });
    await act(admin, `/${made.id}/preview`);
    await act(admin, `/${id}/send`);
    const [{ id: response }] = await d.responses(id);
    await db('mutation_batches').where({ id: batch }).update({ actor_user_id: eve.userId });
    await act(eve, `/${id}/respond/${card}`, { responses: { timeModel: { new_value: 'invest' } } });
    await db('mutation_batches').where({ id: batch }).update({ actor_user_id: admin.userId });
    await act(admin, `/${id}/apply`, { response_ids: [response] });
    await act(admin, `/${id}/close`);
    await ok(admin.post('/api/v1/cards/merge', { survivor_id: kept, merged_ids: [merged] }, header));
    await ok(admin.delete(`/api/v1/cards/${deleted}`, undefined, header));
    await ok(admin.post(`/api/v1/mutation-batches/${batch}/commit`, {}));
    await admin.undo(batch);
    expect(await state()).toEqual(start);
  });
});

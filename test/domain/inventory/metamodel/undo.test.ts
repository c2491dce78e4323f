import { undoSpecs } from '../../../../domain/app/resources.ts';
import { commandWith } from '../../../../domain/kernel/command.ts';
import {
  acceptedLanguages,
  canonicalLanguage,
  chooseLanguage,
  fallbacks,
} from '../../../../domain/kernel/metamodel/languages.ts';
import type { UndoneEvent, UndoRefusal } from '../../../../domain/kernel/undo/undo.types.ts';
import {
  field,
  makeRelationType,
  makeType,
  options,
  relationTypes,
  schema,
  types,
} from '../../../api/metamodel/metamodel.fixture.ts';
import { openApp, type TestResponse } from '../../../support/harness.ts';

const { t, db, admin } = await openApp(['admin']);
/** The tables of the metamodel, but for when rows were written last. */
async function state(): Promise<string> {
  const { rows } = await db.raw(`
    select json_build_array(
      (select json_agg(to_jsonb(c) - 'updated_at' order by key) from card_types c),
      (select json_agg(to_jsonb(r) - 'updated_at' order by key) from relation_types r),
      (select json_agg(to_jsonb(d) - 'updated_at' order by id) from stakeholder_role_definitions d))::text as state`);
  return rows[0].state;
}

const newest = async (): Promise<number> => {
  return (await db.raw('select coalesce(max(position), 0) as newest from events')).rows[0].newest;
};

/** Undoes what was written after the position, event by event, the newest first. @returns what could not be. */
async function undoAfter(position: number): Promise<UndoRefusal[]> {
  const written = await db('events').where('position', '>', position).orderBy('position', 'desc');
  const ctx = await t.ctx();
  return await commandWith(ctx, { changesMetamodel: true }, async (work) => {
    const refusals: UndoRefusal[] = [];
    for (const event of written) {
      const spec = undoSpecs.find(({ events }) => Object.values(events).flat().includes(event.event_type));
      if (!spec?.undo) continue;
      const refusal = await spec.undo(work, ctx, { ...event, id: event.data.id } as UndoneEvent);
      if (refusal) refusals.push(refusal);
    }
    return refusals;
  });
}

const deletable = async () => {
  const key = await makeType(admin, [field('a', 'text')]);
  await makeRelationType(admin, key, 'Application', { target_mandatory: true });
  return key;
};

async function changeProvider(): Promise<TestResponse> {
  const { body } = await admin.get(`${types}/Provider`);
  const added = { section: 'New', fields: [field('more', 'single_select', { options: options('a') })] };
  return await admin.patch(`${types}/Provider`, {
    label: 'Vendor',
    is_hidden: true,
    fields_schema: [...body.fields_schema.slice(1), added],
    subtypes: [{ key: 'one', label: 'One', hidden_fields: ['more'] }],
    section_config: { New: { hidden: true }, __dataQuality: { tags: 3 } },
    translations: { label: { de: 'Anbieter' } },
    stakeholder_roles: [
      { key: 'observer', label: 'Watcher' },
      { key: 'buyer', label: 'Buyer' },
    ],
  });
}

type Case = {
  what: string;
  prepare?: () => Promise<string>;
  act: (prepared: string) => Promise<TestResponse>;
};

const roles = `${types}/Application/stakeholder-roles`;
const relation = `${relationTypes}/relAppToITC`;
const cases: Case[] = [
  {
    what: 'the creation of a type',
    act: () => admin.post(types, { key: 'Undone', label: 'U', fields_schema: schema(field('a', 'text')) }),
  },
  { what: 'a change of fields, options, roles and everything else', act: changeProvider },
  {
    what: 'the deletion of a type with roles and relation types',
    prepare: deletable,
    act: (key) => admin.delete(`${types}/${key}`),
  },
  { what: 'the hiding of a built-in type', act: () => admin.delete(`${types}/Platform`) },
  {
    what: 'a change of a relation type',
    act: () => admin.patch(relation, { label: 'x', cardinality: '1:1', source_mandatory: true }),
  },
  { what: 'the hiding of a relation type', act: () => admin.delete(relation) },
  { what: 'a new role', act: () => admin.post(roles, { key: 'steward', label: 'S' }) },
  { what: 'the archiving of a role', act: () => admin.post(`${roles}/observer/archive`) },
];

it.each(cases)('$what is undone, and the undoing again', async ({ prepare, act }) => {
  const prepared = (await prepare?.()) ?? '';
  const before = await state();
  const start = await newest();
  const answer = await act(prepared);
  expect(answer.status, answer.text).toBeLessThan(300);
  const after = await state();
  expect(after).not.toBe(before);
  const changed = await newest();
  expect(await undoAfter(start)).toEqual([]);
  expect(await state()).toBe(before);
  // the undoing is a change like any other
  expect(await undoAfter(changed)).toEqual([]);
  expect(await state()).toBe(after);
});

it('what has come to be used since is not undone', async () => {
  const start = await newest();
  const key = await makeType(admin);
  await admin.post('/api/v1/cards', { type: key, name: 'In use' });
  expect(await undoAfter(start)).toContainEqual(expect.objectContaining({ code: 'cards_present' }));
  expect((await admin.get(`${types}/${key}`)).status).toBe(200);
});

it.each([
  [undefined, []],
  ['', []],
  ['de', ['de']],
  ['fr;q=0.5, DE-at, en;q=0.8', ['de-AT', 'en', 'fr']],
  ['de;q=0, fr', ['fr']],
  ['*', ['en']],
  ['de;q=0.5,*;q=0.7', ['en', 'de']],
  ['zh-hant-tw', ['zh-Hant-TW']],
  ['de;q=2, fr;q=x, it; q=0.1', ['it']],
  ['label, __proto__, 12, de_AT', []],
  [`${'x-'.repeat(5000)}, de`, ['de']],
  ['de, de;q=0.1', ['de']],
])('%j wants %j', (header, wanted) => expect(acceptedLanguages(header, 'en')).toEqual(wanted));

it.each([
  [['de-AT', 'fr'], ['de', 'fr'], 'de'],
  [['de-AT'], ['de-AT', 'de'], 'de-AT'],
  [['it', 'fr'], ['fr'], 'fr'],
  [['it', 'en', 'fr'], ['fr'], 'en'],
  [['en-GB', 'fr'], ['fr'], 'en'],
  [['en-GB', 'fr'], ['en-GB'], 'en-GB'],
  [['it'], ['fr'], 'en'],
  [[], ['fr'], 'en'],
])('%j of %j is answered in %s', (wanted, translated, language) => {
  expect(chooseLanguage(wanted, new Set(translated))).toBe(language);
});

it('falls back part by part, and spells tags in one way', () => {
  expect(fallbacks('zh-Hant-TW')).toEqual(['zh-Hant-TW', 'zh-Hant', 'zh']);
  expect(canonicalLanguage('PT-br')).toBe('pt-BR');
  expect(canonicalLanguage('deutsch')).toBeUndefined();
  expect(canonicalLanguage("de'}")).toBeUndefined();
});

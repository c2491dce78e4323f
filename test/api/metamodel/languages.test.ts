import { ok, openApp, pluck } from '../../support/harness.ts';
import { field, makeRelationType, makeType, options, relationTypes, types } from './metamodel.fixture.ts';

const { admin, viewer } = await openApp(['admin', 'viewer']);
const [first, second] = options('a', 'b');
const type = await makeType(
  admin,
  [
    field('state', 'single_select', {
      translations: { label: { de: 'Zustand', 'pt-br': 'Estado' } },
      options: [{ ...first, translations: { de: 'Erster' } }, second],
    }),
  ],
  {
    label: 'Site',
    description: 'A place.',
    translations: {
      label: { de: 'Standort', 'de-at': 'Platzerl', fr: 'Site (fr)' },
      description: { de: 'Ein Ort.' },
    },
    subtypes: [{ key: 'one', label: 'One', translations: { de: 'Eins' } }],
    stakeholder_roles: [{ key: 'owner', label: 'Owner', translations: { label: { de: 'Besitzer' } } }],
  },
);

const read = (language: string | undefined, url = `${types}/${type}`) =>
  viewer.get(url, language === undefined ? {} : { 'accept-language': language });

it('are answered in the language that is asked for, down to options and roles', async () => {
  const german = await read('de-DE, en;q=0.5');
  expect([german.headers['content-language'], german.headers.vary]).toEqual([
    'de',
    'Origin, Accept-Language',
  ]);
  expect(german.body).toMatchObject({
    label: 'Standort',
    description: 'Ein Ort.',
    subtypes: [{ key: 'one', label: 'Eins', hidden_fields: [] }],
    stakeholder_roles: [{ key: 'owner', label: 'Besitzer' }],
  });
  const [state] = german.body.fields_schema[0].fields;
  expect([state.label, pluck(state.options, 'label')]).toEqual(['Zustand', ['Erster', 'B']]);
  // what is not translated stays as it is; tags are kept in one spelling
  expect(state.translations).toEqual({ label: { de: 'Zustand', 'pt-BR': 'Estado' } });
});

it('fall back to the base language and then to the label as it is', async () => {
  const austrian = await read('de-AT');
  expect([austrian.body.label, austrian.body.description]).toEqual(['Platzerl', 'Ein Ort.']);
  const french = await read('fr');
  expect([french.body.label, french.body.description]).toEqual(['Site (fr)', 'A place.']);
  for (const language of [undefined, 'en', 'en-GB, de;q=0.9', 'it', '*', 'de;q=0', "de'--"]) {
    const answer = await read(language);
    expect([answer.body.label, answer.headers['content-language']]).toEqual(['Site', 'en']);
  }
});

it('are searched and sorted as they are shown, also page by page', async () => {
  const found = await read('de', `${types}?search=standort&fields=key,label`);
  expect(found.body.items).toEqual([{ key: type, label: 'Standort' }]);
  expect((await read(undefined, `${types}?search=standort`)).body.total).toBe(0);
  const page = await read('de', `${types}?sort_by=label&fields=label&cursor=&page_size=200`);
  const labels = pluck(page.body.items, 'label');
  expect(labels.indexOf('Standort')).toBeGreaterThan(labels.indexOf('Provider'));
});

it('have ETags of their own, which a change takes in the language in which it was read', async () => {
  const [german, plain] = [await read('de'), await read(undefined)];
  expect(german.headers.etag).not.toBe(plain.headers.etag);
  await ok(viewer.get(`${types}/${type}`, { 'accept-language': 'de', 'if-none-match': plain.headers.etag! }));
  const changed = await admin.patch(
    `${types}/${type}`,
    { icon: 'place' },
    { 'accept-language': 'de', 'if-match': german.headers.etag! },
  );
  expect([changed.status, changed.body.label]).toEqual([200, 'Standort']);
});

it('of relation types and roles are translated as well', async () => {
  const key = await makeRelationType(admin, type, 'Application', {
    reverse_label: 'runs at',
    translations: { label: { de: 'beherbergt' }, reverse_label: { de: 'läuft in' } },
  });
  const one = await read('de', `${relationTypes}/${key}`);
  expect([one.body.label, one.body.reverse_label]).toEqual(['beherbergt', 'läuft in']);
  const list = await read('de', `${relationTypes}?type_key=${type}&fields=label`);
  expect(list.body.items).toEqual([{ label: 'beherbergt' }]);
  const roles = await read('de', `${types}/${type}/stakeholder-roles?fields=label`);
  expect(roles.body.items).toEqual([{ label: 'Besitzer' }]);
  expect((await read('de', `${types}/${type}/stakeholder-roles/owner`)).body.label).toBe('Besitzer');
});

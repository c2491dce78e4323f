import { workbook } from '../../support/workbook.ts';
import { openMigrations } from './migration.fixture.ts';
import sheets from './migration.subscriptions.sheets.json' with { type: 'json' };

const { t, actions, applied, errorsOf, records, staged } = await openMigrations();
await t.services.db('users').insert({ email: 'ann@estate.example', display_name: 'Ann', role: 'member' });

const idOf = async (key: string): Promise<string> =>
  (await t.services.db('cards').where({ external_id: key }).first('id')).id;

it('people on cards may stand in a sheet of their own; nobody gets an account by that', async () => {
  const people = await t.services.db('users').orderBy('id').pluck('email');
  const made = await staged(await workbook(sheets));
  const shown = async (kind: string) =>
    (await records(made.id, kind)).map(({ sheet, row, display_name, action, error_message }) =>
      [sheet, row, display_name, action, error_message].filter((one) => one !== null).join(' | '),
    );
  expect(await shown('subscription')).toEqual([
    'Application | 2 | Books: responsible ann@estate.example | create',
    'Subscriptions | 2 | S-1:  Ann <ANN@estate.example> | skip | another row has the same content',
    'Subscriptions | 3 | Books: observer ann@estate.example | create',
    'Subscriptions | 3 | Books: observer new@estate.example | conflict | there is no user with this address',
    'Subscriptions | 4 | Sheets: responsible ann@estate.example | create',
    expect.stringMatching(
      /^Subscriptions \| 5 .* conflict \| role: “ACCOUNTABLE” is no role on cards of the type/,
    ),
    expect.stringMatching(/^Subscriptions \| 6 .* conflict \| person: contains no e-mail address$/),
    expect.stringMatching(/^Subscriptions \| 7 .* conflict \| role: is missing$/),
    expect.stringMatching(/^Subscriptions \| 8 .* skip \| its card is left out$/),
    expect.stringMatching(/^Subscriptions \| 9 .* conflict \| card: “Nowhere”: there is no such Application/),
  ]);
  expect(await shown('user')).toEqual([
    'Application | 2 | ann@estate.example | skip',
    'Subscriptions | 3 | new@estate.example | conflict | there is no user with this address',
  ]);
  expect((await actions(made.id, 'metamodel_type')).Users).toBe(
    'skip: describes the source workspace: 1 row',
  );
  await applied(made.id);
  const held = async (key: string) =>
    await t.services
      .db('stakeholders')
      .where({ card_id: await idOf(key) })
      .orderBy('role')
      .pluck('role');
  expect([await held('S-1'), await held('S-2')]).toEqual([['observer', 'responsible'], ['responsible']]);
  expect(await t.services.db('users').orderBy('id').pluck('email')).toEqual(people);
  expect((await errorsOf(made.id)).filter((line) => line.includes('ACCOUNTABLE'))).toHaveLength(1);

  // a person who is there already is not told of as a change
  const [first] = await records(made.id, 'subscription');
  expect(first).toMatchObject({ status: 'applied' });
});

import { changeSetting } from '../../../domain/app/settings/settings.change.ts';
import { password, person } from '../../support/accounts.ts';
import { answered, openApp } from '../../support/harness.ts';

const { t, db } = await openApp([]);

/** Logs in with a browser of some languages, and returns the language of the account. */
async function localeAfter(who: { id: string; email: string }, languages: string): Promise<string> {
  const body = { email: who.email, password };
  await answered(t.anonymous.post('/api/v1/auth/login', body, { 'accept-language': languages }));
  return await db('users')
    .where({ id: who.id })
    .first()
    .then(({ locale }) => locale);
}

test('the first login takes the language of the browser, later ones leave it', async () => {
  const who = await person(t, { role: 'member' });
  expect(await localeAfter(who, 'de-CH,de;q=0.9,en;q=0.5')).toBe('de');
  expect(await localeAfter(who, 'en')).toBe('de');
  const events = await db('events')
    .where({ event_type: 'user.updated' })
    .whereJsonPath('data', '$.id', '=', who.id);
  expect(events.map(({ data }) => data.changes)).toEqual([{ locale: { old: 'en', new: 'de' } }]);
});

test('a script that names no language does not fix it', async () => {
  const who = await person(t, { role: 'member' });
  await answered(t.anonymous.post('/api/v1/auth/login', { email: who.email, password }));
  // what Node's fetch sends
  expect(await localeAfter(who, '*')).toBe('en');
  expect(await localeAfter(who, 'de')).toBe('de');
  const english = await person(t, { role: 'member' });
  expect(await localeAfter(english, 'en')).toBe('en');
  expect(await localeAfter(english, 'de')).toBe('en');
});

test('a language that nobody prefers, was chosen before, or is not offered, stays', async () => {
  expect(await localeAfter(await person(t, { role: 'member' }), 'fr,en')).toBe('en');
  const chosen = await person(t, { role: 'member' });
  await db('users').where({ id: chosen.id }).update({ locale: 'de' });
  expect(await localeAfter(chosen, 'en')).toBe('de');
  await changeSetting(await t.ctx(), t.services.secrets, 'languages', { languages: ['en'] });
  expect(await localeAfter(await person(t, { role: 'member' }), 'de')).toBe('en');
});

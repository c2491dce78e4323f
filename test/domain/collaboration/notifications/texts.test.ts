import { cleanUp } from '../../../../domain/app/housekeeping.ts';
import { allPreferences } from '../../../../domain/collaboration/notifications/notifications.types.ts';
import { appUrl, formatDate, renderMail } from '../../../../domain/kernel/mail/mail.templates.ts';
import { closeAfterAll, createTestServices } from '../../../support/harness.ts';

describe('a mail', () => {
  it('says the same as text and as HTML, in which nothing of the users is markup', () => {
    const nasty = '<script>alert("x")</script> & \r\nBcc: eve';
    const { text, html } = renderMail({
      heading: nasty,
      paragraphs: [nasty],
      items: [{ title: nasty, text: nasty, url: 'https://estate.example/cards/1?a="b"' }],
      button: { label: nasty, url: 'https://estate.example/' },
      footer: [nasty],
    });
    expect(html).not.toContain('<script');
    expect(html.match(/&lt;script&gt;alert\(&quot;x&quot;\)&lt;\/script&gt; &amp; Bcc: eve/g)).toHaveLength(
      6,
    );
    expect(html).toContain('href="https://estate.example/cards/1?a=&quot;b&quot;"');
    expect(text.match(/<script>alert\("x"\)<\/script> & Bcc: eve/g)).toHaveLength(6);
    expect(text).toContain('\n-- \n');
  });

  it('leads only to web addresses', () => {
    expect(appUrl('https://estate.example/', '/cards/1')).toBe('https://estate.example/cards/1');
    expect(appUrl('http://localhost:8080/app', 'cards/1')).toBe('http://localhost:8080/app/cards/1');
    for (const base of ['', 'javascript:alert(1)//', 'https://a"><script>', 'estate.example'])
      expect(appUrl(base, '/cards/1'), base).toBeUndefined();
  });

  it('writes dates as the workspace does, in the language of the reader', () => {
    expect(formatDate('2026-03-05', 'DD MMM YYYY', 'en')).toBe('05 Mar 2026');
    expect(formatDate('2026-03-05T10:00:00.000Z', 'DD. MMMM YYYY', 'de')).toBe('05. März 2026');
    expect(formatDate('2026-03-05', 'MM/DD/YYYY', 'en')).toBe('03/05/2026');
    expect(formatDate('2026-03-05', 'MMM DD', 'no such language')).toBe('Mar 05');
    expect(formatDate('2026-11-30', 'DD MMM YYYY', 'de')).toBe('30.11.2026');
    expect(formatDate('2026-11-30', 'MMM D, YYYY', 'de-AT')).toBe('30.11.2026');
    expect(formatDate('2026-11-05', 'D/M/YY', 'de')).toBe('5/11/26');
    expect(formatDate('soon', 'YYYY', 'en')).toBe('soon');
  });
});

it('everybody is told everything in the application, and by mail what asks for something', () => {
  const { in_app, email } = allPreferences({ email: { card_updated: true, todo_assigned: false } });
  expect(Object.values(in_app)).not.toContain(false);
  const byMail = (Object.keys(email) as (keyof typeof email)[]).filter((type) => email[type]);
  expect(byMail).toEqual(expect.arrayContaining(['card_updated', 'survey_request', 'soaw_sign_requested']));
  expect(byMail).not.toEqual(expect.arrayContaining(['todo_assigned']));
  expect(byMail).not.toContain('comment_added');
});

const t = closeAfterAll(await createTestServices());
it('notifications go when the settings say, and mails after a month', async () => {
  const { db, blobs } = t.services;
  const [{ id }] = await db('users')
    .insert({ email: 'ann@estate.example', display_name: 'Ann', role: 'viewer' })
    .returning('id');
  const days = (count: number) => db.raw('now() - make_interval(days => ?::int)', [count]);
  const told = [1, 179, 181, 400].map((age) => ({
    user_id: id,
    type: 'card_updated',
    title: `${age}`,
    message: 'M',
    event_position: age,
    created_at: days(age),
  }));
  await db('notifications').insert(told);
  await db('mails').insert([29, 31].map((age) => ({ recipient: `a@${age}.example`, created_at: days(age) })));
  const signal = new AbortController().signal;
  expect(await cleanUp(db, blobs, signal)).toMatchObject({ notifications: 2, mails: 1 });
  expect((await db('notifications').pluck('title')).sort()).toEqual(['1', '179']);
  expect(await db('mails').pluck('recipient')).toEqual(['a@29.example']);
  await db('settings').insert({ key: 'workspace.retention', value: '{"notifications_days":30}' });
  expect(await cleanUp(db, blobs, signal)).toMatchObject({ notifications: 1, mails: 0 });
});

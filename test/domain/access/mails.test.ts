import { invitationMails, passwordResetMail } from '../../../domain/access/access.mails.ts';
import { changeSetting } from '../../../domain/app/settings/settings.change.ts';
import { closeAfterAll, createTestServices } from '../../support/harness.ts';

const t = closeAfterAll(await createTestServices());

it('mails with tokens hold no link but that to the page for the password', async () => {
  const { db, secrets } = t.services;
  const ctx = await t.ctx();
  await changeSetting(ctx, secrets, 'app_title', { app_title: 'Estate https://attacker.example/reset' });
  await changeSetting(ctx, secrets, 'email', { app_base_url: 'https://estate.example' });
  const to = {
    email: 'a@estate.example',
    display_name: 'Log in at attacker.example/now or www.attacker.example or attacker.example',
  };
  const mails = await invitationMails(db, [{ to, token: 'token' }]);
  for (const mail of [...mails, await passwordResetMail(db, to, 'token')]) {
    const { subject, text } = mail;
    expect(`${subject} ${text}`).not.toContain('attacker');
    expect(text).toContain('https://estate.example/');
    expect(text).toContain('Hello Log in at … or … or …,');
  }
  for (const display_name of ['Dr. A. Smith/Jones', 'J.R.R.Tolkien']) {
    const plain = { email: 'b@estate.example', display_name };
    const [mail] = await invitationMails(db, [{ to: plain, token: 'token' }]);
    expect(mail!.text).toContain(`Hello ${display_name},`);
  }
});

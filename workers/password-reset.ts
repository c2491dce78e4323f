import { sendPasswordReset } from '../domain/access/access.passwords.reset.ts';
import { processes } from '../domain/jobs/jobs.running.ts';
import { passwordResetJob } from '../domain/jobs/kinds/password-reset.ts';

/** Mails a link to who has forgotten the password. */
export const passwordResetProcessor = processes(passwordResetJob, async (job) => {
  await sendPasswordReset(job);
  return {};
});

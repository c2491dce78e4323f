import { sendPasswordReset } from '../domain/access/access.passwords.reset.ts';
import { passwordResetJob } from '../domain/access/password-reset.job.ts';
import { processes } from '../domain/kernel/jobs/jobs.running.ts';

/** Mails a link to who has forgotten the password. */
export const passwordResetProcessor = processes(passwordResetJob, async (job) => {
  await sendPasswordReset(job);
  return {};
});

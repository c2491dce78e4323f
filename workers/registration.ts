import { sendRegistration } from '../domain/access/access.register.confirm.ts';
import { registrationJob } from '../domain/access/registration.job.ts';
import { processes } from '../domain/kernel/jobs/jobs.running.ts';

/** Mails the token that confirms the address of a registration. */
export const registrationProcessor = processes(registrationJob, async (job) => {
  await sendRegistration(job);
  return {};
});

import { sendRegistration } from '../domain/access/access.register.confirm.ts';
import { processes } from '../domain/jobs/jobs.running.ts';
import { registrationJob } from '../domain/jobs/kinds/registration.ts';

/** Mails the token that confirms the address of a registration. */
export const registrationProcessor = processes(registrationJob, async (job) => {
  await sendRegistration(job);
  return {};
});

import { processes } from '../domain/jobs/jobs.running.ts';
import { mailJob } from '../domain/notifications/mail.job.ts';
import { runMail } from '../integrations/mail/mail.run.ts';

export const mailProcessor = processes(mailJob, runMail);

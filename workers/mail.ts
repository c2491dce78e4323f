import { processes } from '../domain/kernel/jobs/jobs.running.ts';
import { mailJob } from '../domain/kernel/mail/mail.enqueue.ts';
import { runMail } from '../integrations/mail/mail.run.ts';

export const mailProcessor = processes(mailJob, runMail);

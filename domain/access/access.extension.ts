import { deleteExpired, type Extension } from '../kernel/extensions.ts';
import { eraseUserJob } from './erasure/erasure.job.ts';
import { passwordResetJob } from './password-reset.job.ts';
import { registrationJob } from './registration.job.ts';

/** Accounts, logins and tokens. */
export const accessExtension: Extension = {
  jobs: [passwordResetJob, registrationJob, eraseUserJob],
  cleanups: {
    revoked_tokens: deleteExpired('revoked_tokens', 'expires_at < now()'),
    one_time_tokens: deleteExpired('one_time_tokens', 'expires_at < now()'),
    throttles: deleteExpired('throttles', `window_start < now() - interval '1 hour'`),
  },
};

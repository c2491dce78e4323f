import { CLEANUP_BATCH, type Extension } from '../../kernel/extensions.ts';
import { mailJob } from '../../kernel/mail/mail.job.ts';
import { removeOldMails, removeOldNotifications } from './notifications.retention.ts';
import { notificationUndo } from './notifications.undo.ts';

/** Notifications and mails. */
export const notificationsExtension: Extension = {
  undo: notificationUndo,
  jobs: [mailJob],
  cleanups: {
    notifications: (sql) => removeOldNotifications(sql, CLEANUP_BATCH),
    mails: (sql) => removeOldMails(sql, CLEANUP_BATCH),
  },
};

import { CLEANUP_BATCH, type Extension } from '../extensions.ts';
import { mailJob } from './mail.job.ts';
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

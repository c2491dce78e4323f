import { CLEANUP_BATCH, type Extension } from '../../kernel/extensions.ts';
import { mailJob } from '../../kernel/mail/mail.enqueue.ts';
import { personal } from '../../kernel/undo/undo.types.ts';
import { Notification } from './notifications.model.ts';
import { removeOldMails, removeOldNotifications } from './notifications.retention.ts';

/** Notifications and mails. */
export const notificationsExtension: Extension = {
  resources: [
    {
      model: Notification,
      name: 'notification',
      // undoing events that were notified does not withdraw their notifications
      events: { updated: ['notification.read'] },
      undo: { right: personal('notifications.manage') },
      transfer: { excluded: 'service', reason: 'They were notified in this installation.' },
    },
  ],
  jobs: [mailJob],
  cleanups: {
    notifications: (sql) => removeOldNotifications(sql, CLEANUP_BATCH),
    mails: (sql) => removeOldMails(sql, CLEANUP_BATCH),
  },
};

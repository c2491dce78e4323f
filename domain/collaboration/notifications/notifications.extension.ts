import { deleteExpired, type Extension } from '../../kernel/extensions.ts';
import { mailJob } from '../../kernel/mail/mail.enqueue.ts';
import { personal } from '../../kernel/undo/undo.types.ts';
import { Notification } from './notifications.model.ts';

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
    notifications: deleteExpired(
      'notifications',
      'created_at < now() - make_interval(days => ?)',
      ({ notifications_days }) => notifications_days,
    ),
    // like their jobs; their content is deleted when they are sent
    mails: deleteExpired('mails', `created_at < now() - interval '30 days'`),
  },
};

import { query, type Sql } from '../../../platform/database.ts';
import type { UserRow } from '../../access/users.model.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { enqueueMails, enqueueMessages, isMailAddress } from '../../kernel/mail/mail.enqueue.ts';
import { appUrl, type MailParts, renderMail } from '../../kernel/mail/mail.templates.ts';
import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import { readSetting } from '../../kernel/settings/settings.read.ts';
import { canSeeCard, hasPermission, readPeople } from './notifications.gather.ts';
import type { NotificationRow } from './notifications.model.ts';
import { hiddenTypes } from './notifications.rules.ts';

/** Users who get mails in one transaction. */
const USERS = 200;
/** Notifications that one mail lists; it states the number of the others. */
const LISTED = 30;
/** An open mutation batch delays mails for at most this time. */
const OPEN_BATCH_HOURS = 1;

interface Due
  extends Pick<NotificationRow, 'user_id' | 'type' | 'card_id' | 'is_read' | 'title' | 'message' | 'link'>,
    Pick<UserRow, 'email' | 'display_name'> {
  /** Whether the user is active and a person. */
  is_reached: boolean;
  by_mail: boolean;
  by_chat: boolean;
}

/**
 * The notifications to be sent now by mail or to channels, as a query of `columns`; its binding is the number of minutes between two mails to one
 * user. Those of running jobs and open batches are mailed after their end.
 */
export function sqlMailDue(columns: string): string {
  return `select ${columns} from notifications n left join notification_mailings m on m.user_id = n.user_id
    where (n.mail_pending or n.chat_pending) and (m.last_at is null or m.last_at <= now() - make_interval(mins => ?::int))
      and not exists (select from jobs j where j.id = n.batch_id and j.status in ('queued', 'running'))
      and not exists (select from mutation_batches b where b.id = n.batch_id and b.committed_at is null
                      and b.created_at > now() - interval '${OPEN_BATCH_HOURS} hours')`;
}

/**
 * Sends each user whose mail is due one mail of all pending notifications, except those that were read or that the user may
 * no longer see.
 */
export async function mailDueNotifications({ sql, metamodel }: Work, ctx: Ctx): Promise<void> {
  const minutes = await readSetting(sql, 'notification_digest_minutes');
  const { rows } = await sql.raw(
    `with due as (${sqlMailDue('n.id, n.user_id, n.mail_pending, n.chat_pending')}),
     chosen as (select distinct user_id from due order by user_id limit ${USERS}),
     done as (
       update notifications n set mail_pending = false, chat_pending = false from due join chosen using (user_id)
       where n.id = due.id returning n.*, due.mail_pending as by_mail, due.chat_pending as by_chat
     )
     select d.user_id, d.type, d.card_id, u.email, u.display_name, u.is_active and u.kind = 'person' as is_reached, d.by_mail, d.by_chat, d.is_read, d.title, d.message, d.link
     from done d join users u on u.id = d.user_id order by d.user_id, d.created_at, d.id`,
    [minutes],
  );
  const unread = (rows as Due[]).filter((due) => due.is_reached && !due.is_read);
  const wanted = await stillVisible(sql, metamodel, unread);
  if (wanted.length === 0) return;
  const email = await readSetting(sql, 'email');
  const name = (await readSetting(sql, 'app_title')) || 'Estate';
  const byUser = (chosen: Due[]) => Map.groupBy(chosen, ({ user_id }) => user_id);
  const digest = (due: Due[], sent: string) => digestOf(due, name, email.app_base_url, sent);
  // without a mail server pending mails are dropped
  if (email.smtp_host !== '') {
    const mailed = wanted.filter((due) => due.by_mail && isMailAddress(due.email));
    const mails = [...byUser(mailed).values()].map((due) => ({
      to: due[0]!.email,
      subject: subjectOf(due, name),
      ...renderMail(digest(due, 'mails')),
    }));
    await enqueueMails(sql, ctx, mails);
  }
  const chatted = byUser(wanted.filter((due) => due.by_chat));
  const channels = await query(sql).rows<{ id: string; owner_id: string }>`select id, owner_id from channels
    where notifies and status = 'active' and owner_id = any(${[...chatted.keys()]}::uuid[])`;
  const messages = channels.map(({ id, owner_id }) => ({
    channel: id,
    parts: digest(chatted.get(owner_id)!, 'messages'),
  }));
  await enqueueMessages(sql, ctx, messages);
  await query(sql).run`insert into notification_mailings (user_id, last_at)
    select unnest(${[...byUser(wanted).keys()]}::uuid[]), now()
     on conflict (user_id) do update set last_at = excluded.last_at`;
}

/** The notifications that the list of notifications still shows to their users. */
async function stillVisible(sql: Sql, metamodel: Metamodel, due: Due[]): Promise<Due[]> {
  if (due.length === 0) return due;
  const cards = due.flatMap(({ card_id }) => card_id ?? []);
  const users = due.map(({ user_id }) => user_id);
  const people = await readPeople(sql, [...new Set(cards)], users);
  return due.filter(({ user_id, type, card_id }) => {
    const person = people.users.get(user_id);
    if (!person || hiddenTypes((permission) => hasPermission(person, permission)).includes(type))
      return false;
    const card = card_id === null ? undefined : people.cards.get(card_id);
    return !card || canSeeCard(metamodel, people, person, card);
  });
}

/** A message with mentions replaced by names. */
const withNames = (message: string): string =>
  message.replace(/@\[([^\]\r\n]{1,200})\]\(user:[0-9a-f-]{36}\)/gi, '@$1');

const subjectOf = (due: Due[], app: string): string =>
  due.length === 1 ? due[0]!.title : `${due.length} notifications of ${app}`;

/** All pending notifications of a user. @param sent what of: mails or messages. */
function digestOf(due: Due[], app: string, base: string, sent: string): MailParts {
  const [first] = due;
  const single = due.length === 1;
  const url = (path: string | null) => (path === null ? undefined : appUrl(base, path));
  const target = url(single ? first!.link : null) ?? appUrl(base, '/notifications');
  const settings = appUrl(base, '/settings/notifications');
  const more = due.length - LISTED;
  return {
    heading: single ? first!.title : `${due.length} notifications`,
    paragraphs: [
      ...(single ? [withNames(first!.message)] : []),
      ...(more > 0 ? [`The first ${LISTED} of them, and ${more} more:`] : []),
    ],
    items: single
      ? []
      : due
          .slice(0, LISTED)
          .map((item) => ({ title: item.title, text: withNames(item.message), url: url(item.link) })),
    ...(target === undefined ? {} : { button: { label: `Open ${app}`, url: target } }),
    footer: [
      `${app} sends this to ${first!.display_name} as set in the notification preferences.`,
      settings === undefined
        ? `To get fewer ${sent}, switch kinds of notification off in the notification preferences.`
        : `To get fewer ${sent}, switch kinds of notification off: ${settings}`,
    ],
  };
}

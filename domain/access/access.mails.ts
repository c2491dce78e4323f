import type { Sql } from '../../platform/database.ts';
import type { Mail } from '../kernel/mail/mail.enqueue.ts';
import { readSetting } from '../kernel/settings/settings.read.ts';

interface Addressee {
  email: string;
  display_name: string;
}

/** The address by token of the page on which an invited user chooses a password; without a base URL only its path. */
export async function invitationLinks(sql: Sql): Promise<(token: string) => string> {
  const { base } = await readWorkspace(sql);
  return (token) => pageLink(base, 'set-password', token);
}

const pageLink = (base: string, page: string, token: string): string => `${base}/${page}?token=${token}`;

/** The mails with which invited users set their passwords. */
export async function invitationMails(
  sql: Sql,
  invited: readonly { to: Addressee; token: string }[],
): Promise<Mail[]> {
  const workspace = await readWorkspace(sql);
  return invited.map(({ to, token }) =>
    writeMail(workspace, to, (title, link) => [
      `You are invited to ${title}`,
      `You are invited to ${title}. Choose a password within seven days:`,
      link('set-password', token),
      'If you did not expect this, ignore it.',
    ]),
  );
}

/** The mail for a user who has forgotten the password. */
export const passwordResetMail = (sql: Sql, to: Addressee, token: string): Promise<Mail> =>
  accountMail(sql, to, (title, link) => [
    `A new password for ${title}`,
    `Somebody, probably you, asked for a new password for ${title}. Choose one within an hour:`,
    link('reset-password', token),
    'If it was not you, ignore this: your password stays as it is.',
  ]);

/** The mail that confirms the address of a new user. */
export const registrationMail = (sql: Sql, to: Addressee, token: string): Promise<Mail> =>
  accountMail(sql, to, (title, link) => [
    `Confirm your registration for ${title}`,
    `Somebody, probably you, registered for ${title} with this address. Confirm it within a day, with the password that you chose:`,
    link('confirm-registration', token),
    'If it was not you, ignore this: no account is made.',
  ]);

/** The mail for a registration with the address of an existing account. */
export const knownAddressMail = (sql: Sql, to: Addressee): Promise<Mail> =>
  accountMail(sql, to, (title) => [
    `You have an account for ${title}`,
    `Somebody, probably you, registered for ${title} with this address. It has an account already: log in, or ask for a new password if you forgot yours.`,
    'If it was not you, ignore this: your account stays as it is.',
  ]);

/** The mail for an administrator who has to activate an account. */
export const approvalMail = (sql: Sql, to: Addressee, { email }: Addressee): Promise<Mail> =>
  accountMail(sql, to, (title) => [
    `${email} waits for access to ${title}`,
    `${email} registered for ${title} and confirmed the address. The account is inactive until an administrator activates it.`,
  ]);

/** What mails say of the workspace. */
interface Workspace {
  title: string;
  /** Of its pages; empty without one. */
  base: string;
}

async function readWorkspace(sql: Sql): Promise<Workspace> {
  const title = withoutLinks((await readSetting(sql, 'app_title')) || 'Estate');
  const { app_base_url } = await readSetting(sql, 'email');
  return { title, base: app_base_url.replace(/\/+$/, '') };
}

/** The subject and the paragraphs of a mail. */
type Write = (title: string, link: (page: string, token: string) => string) => [string, ...string[]];

const accountMail = async (sql: Sql, to: Addressee, write: Write): Promise<Mail> =>
  writeMail(await readWorkspace(sql), to, write);

/**
 * A mail with a subject and paragraphs. They get the workspace's name and a function for the paragraph with a link;
 * without a base URL that contains only the token, for API clients.
 */
function writeMail({ title, base }: Workspace, to: Addressee, write: Write): Mail {
  const [subject, ...paragraphs] = write(title, (page, token) =>
    base ? pageLink(base, page, token) : `Your token: ${token}`,
  );
  const text = [`Hello ${personName(to.display_name)},`, ...paragraphs].join('\n\n');
  return { to: to.email, subject, text: `${text}\n` };
}

/**
 * A name without URLs: mail clients turn them into links, and a mail about a password must contain only one link.
 */
const withoutLinks = (name: string): string => name.replace(/\S*(?::\/\/|www\.|\.[a-z]{2,}\/)\S*/gi, '…');

/** Anyone can register any address with any name: host names in it would become links too. */
const personName = (name: string): string =>
  withoutLinks(name.replace(/\s+/g, ' ')).replace(/\S*[^\s.]{2}\.[a-z]{2,}\S*/gi, '…');

import type { Sql } from '../../platform/database.ts';
import type { Mail } from '../kernel/mail/mail.enqueue.ts';
import { readSetting } from '../kernel/settings/settings.read.ts';

interface Addressee {
  email: string;
  display_name: string;
}

/** The mail with which an invited user sets a password. */
export async function invitationMail(sql: Sql, to: Addressee, token: string): Promise<Mail> {
  const { title, way } = await surroundings(sql, 'set-password', token);
  return {
    to: to.email,
    subject: `You are invited to ${title}`,
    text: letter(to, [
      `You are invited to ${title}. Choose a password within seven days:`,
      way,
      'If you did not expect this, ignore it.',
    ]),
  };
}

/** The mail for a user who has forgotten the password. */
export async function passwordResetMail(sql: Sql, to: Addressee, token: string): Promise<Mail> {
  const { title, way } = await surroundings(sql, 'reset-password', token);
  return {
    to: to.email,
    subject: `A new password for ${title}`,
    text: letter(to, [
      `Somebody, probably you, asked for a new password for ${title}. Choose one within an hour:`,
      way,
      'If it was not you, ignore this: your password stays as it is.',
    ]),
  };
}

/** The mail that confirms the address of a new user. */
export async function registrationMail(sql: Sql, to: Addressee, token: string): Promise<Mail> {
  const { title, way } = await surroundings(sql, 'confirm-registration', token);
  return {
    to: to.email,
    subject: `Confirm your registration for ${title}`,
    text: letter(to, [
      `Somebody, probably you, registered for ${title} with this address. Confirm it within a day, with the password that you chose:`,
      way,
      'If it was not you, ignore this: no account is made.',
    ]),
  };
}

/** The mail for a registration with the address of an existing account. */
export async function knownAddressMail(sql: Sql, to: Addressee): Promise<Mail> {
  const title = await titleOf(sql);
  return {
    to: to.email,
    subject: `You have an account for ${title}`,
    text: letter(to, [
      `Somebody, probably you, registered for ${title} with this address. It has an account already: log in, or ask for a new password if you forgot yours.`,
      'If it was not you, ignore this: your account stays as it is.',
    ]),
  };
}

/** The mail for an administrator who has to activate an account. */
export async function approvalMail(sql: Sql, to: Addressee, registered: Addressee): Promise<Mail> {
  const title = await titleOf(sql);
  return {
    to: to.email,
    subject: `${registered.email} waits for access to ${title}`,
    text: letter(to, [
      `${registered.email} registered for ${title} and confirmed the address. The account is inactive until an administrator activates it.`,
    ]),
  };
}

/** The workspace's name, and the link; without a base URL only the token, for API clients. */
async function surroundings(sql: Sql, page: string, token: string): Promise<{ title: string; way: string }> {
  const title = await titleOf(sql);
  const { app_base_url: base } = await readSetting(sql, 'email');
  const way = base ? `${base.replace(/\/+$/, '')}/${page}?token=${token}` : `Your token: ${token}`;
  return { title, way };
}

async function titleOf(sql: Sql): Promise<string> {
  return withoutLinks((await readSetting(sql, 'app_title')) || 'Estate');
}

/**
 * A name without URLs: mail clients turn them into links, and a mail about a password must contain only one link.
 */
const withoutLinks = (name: string): string => name.replace(/\S*(?::\/\/|www\.|\.[a-z]{2,}\/)\S*/gi, '…');

/** Anyone can register any address with any name: host names in it would become links too. */
const personName = (name: string): string =>
  withoutLinks(name.replace(/\s+/g, ' ')).replace(/\S*[^\s.]{2}\.[a-z]{2,}\S*/gi, '…');

function letter({ display_name }: Addressee, paragraphs: string[]): string {
  return `${[`Hello ${personName(display_name)},`, ...paragraphs].join('\n\n')}\n`;
}

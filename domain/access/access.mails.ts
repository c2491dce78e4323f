import type { Sql } from '../../platform/database.ts';
import type { Mail } from '../notifications/mail.enqueue.ts';
import { readSetting } from '../settings/settings.read.ts';

interface Addressee {
  email: string;
  display_name: string;
}

/** The mail that brings somebody who was invited to a password. */
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

/** The mail for who has forgotten the password. */
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

/** How the workspace calls itself, and the link; without a base address the token alone, for the program that takes it. */
async function surroundings(sql: Sql, page: string, token: string): Promise<{ title: string; way: string }> {
  const title = (await readSetting(sql, 'app_title')) || 'Estate';
  const { app_base_url: base } = await readSetting(sql, 'email');
  const way = base ? `${base.replace(/\/+$/, '')}/${page}?token=${token}` : `Your token: ${token}`;
  return { title, way };
}

function letter({ display_name: name }: Addressee, paragraphs: string[]): string {
  return `${[`Hello ${name.replace(/\s+/g, ' ')},`, ...paragraphs].join('\n\n')}\n`;
}

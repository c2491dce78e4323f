import type { Services } from '../../../domain/kernel/services.ts';
import { readSecret, readSetting } from '../../../domain/kernel/settings/settings.read.ts';

/** The configured mail server and sender. */
export interface MailServer {
  host: string;
  port: number;
  /** Whether the connection must be encrypted: from its beginning on port 465, else by STARTTLS. */
  tls: boolean;
  login: { user: string; password: string } | undefined;
  from: { name: string; address: string };
}

/** The mail server of the settings; undefined if none is configured. */
export async function readMailServer({ db, secrets }: Services): Promise<MailServer | undefined> {
  const email = await readSetting(db, 'email');
  if (email.smtp_host === '') return undefined;
  const password = await readSecret(db, secrets, 'email');
  return {
    host: email.smtp_host,
    port: email.smtp_port,
    tls: email.smtp_tls,
    login: email.smtp_user === '' ? undefined : { user: email.smtp_user, password },
    from: { name: (await readSetting(db, 'app_title')) || 'Estate', address: email.smtp_from },
  };
}

import { randomUUID } from 'node:crypto';
import { sha256 } from '../../../platform/crypto.ts';
import { password, quickHash } from '../../support/accounts.ts';
import { useSmtp } from '../../support/smtp.ts';
import { type Row, row } from '../matrix.row.ts';
import type { World } from '../world.ts';

/** Lets people register; mails wait, as no worker runs. */
export async function openRegistration({ t }: World): Promise<void> {
  await t.services
    .db('settings')
    .insert({ key: 'workspace.registration_enabled', value: 'true' })
    .onConflict('key')
    .merge();
  await useSmtp(t.services, 25);
}

const newcomer = () => ({ email: `${randomUUID()}@estate.example`, display_name: 'New' });

/** Self-registration. */
export const registrationRows: Row[] = [
  // operation                              A B M V I P 0
  row('POST /auth/register', '+ + + + + + +', async (w) => {
    await openRegistration(w);
    return { body: { ...newcomer(), password }, apart: true };
  }),
  row('POST /auth/confirm-registration', '+ + + + + + +', async (w) => {
    await openRegistration(w);
    const token = randomUUID();
    await w.t.services.db('one_time_tokens').insert({
      hash: sha256(token),
      purpose: 'registration',
      data: JSON.stringify({ ...newcomer(), password_hash: quickHash(password) }),
      expires_at: new Date(Date.now() + 60_000),
    });
    return { body: { token, password }, apart: true };
  }),
];

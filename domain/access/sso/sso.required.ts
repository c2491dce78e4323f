import type { Sql } from '../../../platform/database.ts';
import { EstateError } from '../../../platform/errors.ts';
import { readSetting } from '../../kernel/settings/settings.read.ts';

/** Whether users can only log in through a provider. */
async function ssoRequired(sql: Sql): Promise<boolean> {
  const sso = await readSetting(sql, 'sso');
  return sso.enabled && sso.client_id !== '';
}

/** @throws EstateError `sso_required` if users log in through a provider. */
export async function refuseWithSso(sql: Sql): Promise<void> {
  if (await ssoRequired(sql)) {
    throw new EstateError(
      'sso_required',
      'People log in through the provider here; passwords are not taken.',
    );
  }
}

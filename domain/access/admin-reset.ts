import { hashPassword } from '../../platform/crypto.ts';
import { StartupError } from '../../platform/startup.ts';
import { command } from '../command.ts';
import type { Ctx } from '../context.ts';

/**
 * Gives an administrator a new password, unlocks and activates the account, and ends its sessions. For whoever
 * may start programs on the server.
 * @param email whose; absent: the oldest administrator.
 * @returns the e-mail address.
 * @throws StartupError when there is no such administrator.
 */
export async function resetAdministrator(
  ctx: Ctx,
  email: string | undefined,
  password: string,
): Promise<string> {
  const passwordHash = await hashPassword(password);
  return await command(ctx, async ({ sql, emit, raise }) => {
    const query = sql('users').where({ role: 'admin' }).orderBy(['created_at', 'id']);
    if (email !== undefined) query.whereRaw('lower(email) = lower(?)', [email]);
    const user = await query.forUpdate().first('id', 'email', 'token_version');
    if (!user) {
      throw new StartupError(
        email
          ? `There is no administrator ${email}.`
          : 'There is no administrator yet: start the service first.',
      );
    }
    await sql('users')
      .where({ id: user.id })
      .update({
        password_hash: passwordHash,
        is_active: true,
        failed_login_attempts: 0,
        locked_until: null,
        token_version: user.token_version + 1,
        updated_at: sql.fn.now(),
      });
    emit({ event_type: 'auth.password_changed', data: { user_id: user.id, by: 'admin:reset' } });
    raise('users');
    return user.email as string;
  });
}

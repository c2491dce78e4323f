import { StartupError } from '../../platform/startup.ts';
import { command } from '../kernel/command.ts';
import type { Ctx } from '../kernel/context.ts';
import { lockRow } from '../kernel/resources/rows.ts';
import { storePassword } from './passwords.store.ts';
import { User } from './users.model.ts';
import { updateUser } from './users.store.ts';

/**
 * Sets a new password for an administrator, unlocks and activates the account, removes its second factor, and ends its
 * logins. For operators who can start programs on the server.
 * @param email the administrator's address; absent: the oldest administrator.
 * @returns the e-mail address.
 * @throws StartupError if there is no such administrator.
 */
export async function resetAdministrator(
  ctx: Ctx,
  email: string | undefined,
  password: string,
): Promise<string> {
  const passwordHash = await ctx.passwords.hash(password);
  return await command(ctx, async (work) => {
    const { sql } = work;
    const query = sql('users').where({ role: 'admin', kind: 'person' }).orderBy(['created_at', 'id']);
    if (email !== undefined) query.whereRaw('lower(email) = lower(?)', [email]);
    const found = await query.first('id');
    const user = found && (await lockRow(sql, User, { id: found.id }));
    if (!user) {
      throw new StartupError(
        email
          ? `There is no administrator ${email}.`
          : 'There is no administrator yet: start the service first.',
      );
    }
    // The operator has access to the server, so the lost second factor is removed with the password.
    await sql('two_factor').where({ user_id: user.id }).delete();
    await sql('recovery_codes').where({ user_id: user.id }).delete();
    if (!user.is_active) {
      await updateUser(work, user, { is_active: true });
      await work.extensions.userRightsChanged(work, ctx, [user.id]);
    }
    await storePassword(work, user, passwordHash, 'admin:reset');
    // A way to log in if the single sign-on provider is unavailable or misconfigured.
    await sql('users')
      .where({ id: user.id })
      .update({ password_login_until: sql.raw(`now() + interval '1 hour'`) });
    return user.email;
  });
}

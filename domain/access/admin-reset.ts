import { StartupError } from '../../platform/startup.ts';
import { command } from '../kernel/command.ts';
import type { Ctx } from '../kernel/context.ts';
import { storePassword } from './passwords.store.ts';
import { lockUsers, updateUser } from './users.store.ts';

/**
 * Gives an administrator a new password, unlocks and activates the account, removes its second factor, and
 * ends its logins. For whoever
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
  const passwordHash = await ctx.passwords.hash(password);
  return await command(ctx, async (work) => {
    const { sql } = work;
    const query = sql('users').where({ role: 'admin', kind: 'person' }).orderBy(['created_at', 'id']);
    if (email !== undefined) query.whereRaw('lower(email) = lower(?)', [email]);
    const found = await query.first('id');
    const user = found && (await lockUsers(sql, [found.id])).get(found.id);
    if (!user) {
      throw new StartupError(
        email
          ? `There is no administrator ${email}.`
          : 'There is no administrator yet: start the service first.',
      );
    }
    // who may start programs here has lost the second factor together with the password
    await sql('two_factor').where({ user_id: user.id }).delete();
    await sql('recovery_codes').where({ user_id: user.id }).delete();
    if (!user.is_active) {
      await updateUser(work, user, { is_active: true });
      await work.extensions.userRightsChanged(work, ctx, [user.id]);
    }
    await storePassword(work, user, passwordHash, 'admin:reset');
    // the way in when the provider of single sign-on is away, or was set up wrongly
    await sql('users')
      .where({ id: user.id })
      .update({ password_login_until: sql.raw(`now() + interval '1 hour'`) });
    return user.email;
  });
}

import { hashPassword, verifyPassword } from '../../platform/crypto.ts';
import { EstateError } from '../../platform/errors.ts';
import { command } from '../command.ts';
import type { Ctx } from '../context.ts';
import { throttle } from './access.throttle.ts';

/** Wrong passwords in a row that lock an account, and for how long. */
const LOCK_AFTER = 5;
const LOCK_MINUTES = 15;

/** What a token is made from. */
export interface TokenSubject {
  userId: string;
  role: string;
  tokenVersion: number;
}

export interface LoginInput {
  email: string;
  password: string;
  /** The client's network address. */
  address: string;
}

// Hashed once, so that an unknown account costs the same time as a known one.
let decoy: Promise<string> | undefined;

/**
 * Checks a password. Wrong, locked and unknown answer alike.
 * @throws EstateError `invalid_credentials`, or `too_many_requests` beyond the throttle.
 */
export async function login(ctx: Ctx, input: LoginInput): Promise<TokenSubject> {
  await throttle(ctx.db, 'login', [`address ${input.address}`, `account ${input.email}`]);
  const user = await ctx
    .db('users')
    .whereRaw('lower(email) = lower(?)', [input.email])
    .first('id', 'password_hash', 'is_active', 'locked_until');
  decoy ??= hashPassword('no account has this password');
  const fits = await verifyPassword(input.password, user?.password_hash ?? (await decoy));
  const usable = user?.password_hash && user.is_active;
  const subject = await command(ctx, async ({ sql, emit }) => {
    const account = { email: input.email, address: input.address };
    if (!user || !usable) {
      emit({ event_type: 'auth.login_failed', data: { ...account, reason: user ? 'inactive' : 'unknown' } });
      return undefined;
    }
    const [now] = await sql('users')
      .where({ id: user.id })
      .forUpdate()
      .select('role', 'token_version', 'failed_login_attempts', sql.raw('locked_until > now() as locked'));
    if (now.locked) {
      emit({ event_type: 'auth.login_failed', user_id: user.id, data: { ...account, reason: 'locked' } });
      return undefined;
    }
    if (!fits) {
      const failures = now.failed_login_attempts + 1;
      const locks = failures >= LOCK_AFTER;
      await sql('users')
        .where({ id: user.id })
        .update({
          failed_login_attempts: locks ? 0 : failures,
          locked_until: locks ? sql.raw(`now() + interval '${LOCK_MINUTES} minutes'`) : null,
        });
      emit({ event_type: 'auth.login_failed', user_id: user.id, data: { ...account, reason: 'password' } });
      if (locks)
        emit({ event_type: 'auth.locked', user_id: user.id, data: { ...account, minutes: LOCK_MINUTES } });
      return undefined;
    }
    await sql('users')
      .where({ id: user.id })
      .update({ failed_login_attempts: 0, locked_until: null, last_login: sql.fn.now() });
    emit({ event_type: 'auth.login', user_id: user.id, data: account });
    return { userId: user.id, role: now.role, tokenVersion: now.token_version };
  });
  if (!subject)
    throw new EstateError('invalid_credentials', 'The e-mail address or the password is not right.');
  return subject;
}

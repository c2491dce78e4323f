import { isDeepStrictEqual } from 'node:util';
import { lockUsers, updateUser } from '../../access/users.store.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { checkIfMatch } from '../../kernel/etag.ts';
import {
  allPreferences,
  type NotificationType,
  notificationChannels,
  notificationTypeKeys,
  type StoredPreferences,
} from './notifications.types.ts';

/** Changed switches by channel and type; null resets all switches of a channel to the defaults. */
export type PreferencesPatch = {
  [channel in (typeof notificationChannels)[number]]?: Partial<Record<NotificationType, boolean>> | null;
};

const textOf = (preferences: unknown): string =>
  JSON.stringify(allPreferences(preferences as StoredPreferences));

/** The caller's switches for all channels and types. */
export async function readPreferences(ctx: Ctx): Promise<string> {
  const user = await ctx.db('users').where({ id: ctx.caller.userId }).first('notification_preferences');
  return textOf(user.notification_preferences);
}

/** Changes some of the caller's switches. @throws EstateError `precondition_failed`. */
export async function patchPreferences(ctx: Ctx, patch: PreferencesPatch): Promise<string> {
  return await command(ctx, async (work) => {
    const user = (await lockUsers(work.sql, [ctx.caller.userId!])).get(ctx.caller.userId!)!;
    const before = user.notification_preferences as StoredPreferences;
    checkIfMatch(ctx, textOf(before));
    const after = merged(before, patch);
    if (!isDeepStrictEqual(before, after)) {
      await updateUser(work, user, { notification_preferences: JSON.stringify(after) });
    }
    return textOf(after);
  });
}

/** The stored switches with the patch applied. */
function merged(before: StoredPreferences, patch: PreferencesPatch): StoredPreferences {
  const after: StoredPreferences = {};
  for (const channel of notificationChannels) {
    const change = patch[channel];
    const all = change === null ? {} : { ...before[channel], ...change };
    const set = Object.fromEntries(
      notificationTypeKeys.filter((type) => all[type] !== undefined).map((type) => [type, all[type]]),
    );
    if (Object.keys(set).length > 0) after[channel] = set;
  }
  return after;
}

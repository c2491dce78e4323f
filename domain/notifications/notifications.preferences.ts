import type { Sql } from '../../platform/database.ts';
import { command } from '../command.ts';
import type { Ctx } from '../context.ts';
import { checkIfMatch } from '../etag.ts';
import { rowChanges } from '../events/row-changes.ts';
import {
  allPreferences,
  type NotificationType,
  notificationChannels,
  notificationTypeKeys,
  type StoredPreferences,
} from './notifications.types.ts';

/** What is changed: switches by kind, for each way; null sets all of a way back to what holds for everybody. */
export type PreferencesPatch = {
  [channel in (typeof notificationChannels)[number]]?: Partial<Record<NotificationType, boolean>> | null;
};

async function stored(sql: Sql, userId: string, lock = false): Promise<StoredPreferences> {
  const query = sql('users').where({ id: userId }).first('notification_preferences');
  return (await (lock ? query.forUpdate() : query)).notification_preferences;
}

const textOf = (preferences: StoredPreferences): string => JSON.stringify(allPreferences(preferences));

/** The caller's switches, one for every kind of notification and way. */
export async function readPreferences(ctx: Ctx): Promise<string> {
  return textOf(await stored(ctx.db, ctx.caller.userId!));
}

/** Changes some of the caller's switches. @throws EstateError `precondition_failed`. */
export async function patchPreferences(ctx: Ctx, patch: PreferencesPatch): Promise<string> {
  const userId = ctx.caller.userId!;
  return await command(ctx, async ({ sql, emit, raise }) => {
    const before = await stored(sql, userId, true);
    checkIfMatch(ctx, textOf(before));
    const after = merged(before, patch);
    const changes = rowChanges({ notification_preferences: before }, { notification_preferences: after });
    if (Object.keys(changes).length > 0) {
      await sql('users')
        .where({ id: userId })
        .update({ notification_preferences: JSON.stringify(after), updated_at: sql.fn.now() });
      emit({ event_type: 'user.updated', data: { user_id: userId, changes } });
      raise('users');
    }
    return textOf(after);
  });
}

/** Keeps only what differs from the defaults' absence, in the order of the kinds, so that equal settings are equal text. */
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

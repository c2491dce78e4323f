import { isDeepStrictEqual } from 'node:util';
import { User } from '../../access/users.model.ts';
import { updateUser } from '../../access/users.store.ts';
import { command } from '../../kernel/command.ts';
import { type Ctx, checkIfMatch } from '../../kernel/context.ts';
import { requireRow } from '../../kernel/resources/rows.ts';
import types from './notifications.types.json' with { type: 'json' };

/**
 * The types of notifications, with the default of the mail switch. The default of the in-app switch is on, that of
 * chats is the mail switch.
 */
export const notificationTypes = types;

export type NotificationType = keyof typeof notificationTypes;

export const notificationTypeKeys = Object.keys(notificationTypes) as NotificationType[];

/** The ways of notifications; `chat`: to the user's own channels of Slack and Microsoft Teams. */
const notificationChannels = ['in_app', 'email', 'chat'] as const;
type NotificationChannel = (typeof notificationChannels)[number];

/** A switch for each channel and type of notification. */
export type NotificationPreferences = Record<NotificationChannel, Record<NotificationType, boolean>>;

/** The switches that a user has set; the others have their defaults. */
export type StoredPreferences = Partial<
  Record<NotificationChannel, Partial<Record<NotificationType, boolean>>>
>;

/** All switches of a user, given those that the user has set. */
export function allPreferences(stored: StoredPreferences): NotificationPreferences {
  const switches = (channel: NotificationChannel, byDefault: (type: NotificationType) => boolean) =>
    Object.fromEntries(
      notificationTypeKeys.map((type) => [type, stored[channel]?.[type] ?? byDefault(type)]),
    ) as Record<NotificationType, boolean>;
  const email = switches('email', (type) => notificationTypes[type].mail);
  // chats get what is mailed, unless told otherwise
  return { in_app: switches('in_app', () => true), email, chat: switches('chat', (type) => email[type]) };
}

/** Changed switches by channel and type; null resets all switches of a channel to the defaults. */
type PreferencesPatch = {
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
    const user = await requireRow(work.sql, User, 'user', { id: ctx.caller.userId! });
    const before = user.notification_preferences as StoredPreferences;
    checkIfMatch(ctx, textOf(before));
    const after = merged(before, patch);
    if (!isDeepStrictEqual(before, after)) {
      await updateUser(work, user, { notification_preferences: { ...after } });
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

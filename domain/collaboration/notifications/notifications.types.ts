import { isDeepStrictEqual } from 'node:util';
import { lockUsers, updateUser } from '../../access/users.store.ts';
import { command } from '../../kernel/command.ts';
import { type Ctx, checkIfMatch } from '../../kernel/context.ts';

/**
 * The types of notifications, with the default of the mail switch. The default of the in-app switch is on.
 */
export const notificationTypes = {
  adr_rejected: { label: 'A decision that you signed or wrote was rejected', mail: false },
  adr_sign_recalled: { label: 'A request to sign a decision was recalled', mail: false },
  adr_sign_requested: { label: 'You are asked to sign a decision', mail: true },
  adr_signed: { label: 'A decision was signed', mail: true },
  approval_status_changed: { label: 'A card that you follow was approved, rejected or reset', mail: false },
  card_updated: { label: 'A card that you follow was changed', mail: false },
  comment_added: { label: 'Somebody commented on a card that you follow', mail: false },
  compliance_scan_complete: { label: 'A compliance scan has ended', mail: false },
  extraction_failed: { label: 'A scheduled extraction has failed, was paused or works again', mail: true },
  itsm_attention: { label: 'A synchronisation needs a look, or works again', mail: true },
  mentioned: { label: 'Somebody mentioned you in a comment', mail: true },
  migration_ended: { label: 'A migration was made ready or applied, or has failed', mail: false },
  process_flow_approval_requested: { label: 'You are asked to approve a process flow', mail: true },
  process_flow_approved: { label: 'A process flow was approved', mail: false },
  process_flow_rejected: { label: 'A process flow was rejected', mail: false },
  risk_assigned: { label: 'A risk was assigned to you', mail: true },
  risk_status_changed: { label: 'The status of a risk has changed', mail: false },
  soaw_rejected: { label: 'A statement of architecture work was rejected', mail: false },
  soaw_sign_recalled: {
    label: 'A request to sign a statement of architecture work was recalled',
    mail: false,
  },
  soaw_sign_requested: { label: 'You are asked to sign a statement of architecture work', mail: true },
  soaw_signed: { label: 'A statement of architecture work was signed', mail: true },
  survey_request: { label: 'You are asked to answer a survey', mail: true },
  task_assigned: { label: 'A task was assigned to you', mail: true },
  todo_assigned: { label: 'A to-do was assigned to you', mail: true },
} as const;

export type NotificationType = keyof typeof notificationTypes;

export const notificationTypeKeys = Object.keys(notificationTypes) as NotificationType[];

/** The channels of notifications. */
const notificationChannels = ['in_app', 'email'] as const;
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
  return {
    in_app: switches('in_app', () => true),
    email: switches('email', (type) => notificationTypes[type].mail),
  };
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

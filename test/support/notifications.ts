import { followFeed } from '../../domain/collaboration/notifications/notifications.follow.ts';
import type { Services } from '../../domain/kernel/services.ts';

/** Lets notifications be made of everything in the feed, as a worker does. */
export async function tellAll(services: Services): Promise<void> {
  await followFeed(services, new AbortController().signal);
}

/** A row of `notifications`. */
export interface Told {
  id: string;
  user_id: string;
  type: string;
  title: string;
  message: string;
  link: string | null;
  card_id: string | null;
  actor_id: string | null;
  count: number;
  is_read: boolean;
  in_app: boolean;
  mail_pending: boolean;
}

/** What a user was told, oldest first. */
export const toldTo = async ({ db }: Services, userId: string): Promise<Told[]> =>
  await db('notifications').where({ user_id: userId }).orderBy(['created_at', 'id']);

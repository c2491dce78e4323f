import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import {
  call,
  countUnreadNotifications,
  type ListNotificationsResponse,
  listNotifications,
  readAllNotifications,
  readNotification,
} from '#client';

export type Notice = Required<ListNotificationsResponse['items'][number]>;

const PAGE = 30;

/** How many notifications the person has not read. */
export const unreadQuery = queryOptions({
  queryKey: ['notifications', 'unread'],
  queryFn: async ({ signal }) => (await call(countUnreadNotifications({ signal }))).count,
});

/** The person's notifications, newest first. */
export const noticesQuery = (isUnread: boolean) =>
  infiniteQueryOptions({
    queryKey: ['notifications', 'list', isUnread],
    queryFn: ({ signal, pageParam: cursor }) =>
      call(
        listNotifications({
          signal,
          query: { cursor, page_size: PAGE, ...(isUnread && { is_read: false }) },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
  });

/** Marks one notification as read, or without an id all of them. */
export function useMarkRead() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (id: string | undefined) => {
      if (id === undefined) await call(readAllNotifications());
      else await call(readNotification({ path: { id } }));
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['notifications'] }),
  });
}

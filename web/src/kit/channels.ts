import { queryOptions } from '@tanstack/react-query';
import { type Channel, call, listChannels } from '#client';

export type FullChannel = Required<Channel>;

/** The own channels of Slack and Microsoft Teams, and the shared ones. */
export const channelsQuery = queryOptions({
  queryKey: ['channels'],
  queryFn: async ({ signal }) =>
    (await call(listChannels({ signal, query: { page_size: 200 } }))).items as FullChannel[],
});

import { queryOptions } from '@tanstack/react-query';
import { call, listUsers } from '#client';

/** Names of the first people; more are not read, since a column of names needs few. */
const PAGES = 10;
const PAGE = 200;

/** Names of people by id. */
export const peopleQuery = queryOptions({
  queryKey: ['people'],
  queryFn: async ({ signal }) => {
    const names = new Map<string, string>();
    for (let page = 1; page <= PAGES; page += 1) {
      const query = { page, page_size: PAGE, include_inactive: true };
      const { items } = await call(listUsers({ signal, query }));
      for (const { id, display_name } of items) if (id) names.set(id, display_name ?? '?');
      if (items.length < PAGE) break;
    }
    return names;
  },
});

import { queryOptions } from '@tanstack/react-query';
import { call, listRoles, listUsers, readUser } from '#client';
import { schemes } from '../../../reports/kernel/charts/charts.tokens.ts';

/** Colours with a contrast of at least 4.5 to white. */
const colours = schemes.light.categorical.filter((_, at) => at !== 4 && at !== 5 && at !== 2);

/** The same colour for the same name, everywhere. */
export function categorical(name: string): string {
  let sum = 0;
  for (const letter of name) sum = (sum * 31 + letter.codePointAt(0)!) % 65_521;
  return colours[sum % colours.length]!;
}

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

/** An account, as far as everybody sees it. */
export const personQuery = (id: string) =>
  queryOptions({
    queryKey: ['people', 'one', id],
    queryFn: ({ signal }) => call(readUser({ signal, path: { id } })),
  });

/** The roles of the workspace. */
export const rolesQuery = queryOptions({
  queryKey: ['roles'],
  queryFn: ({ signal }) => call(listRoles({ signal, query: { page_size: PAGE } })),
});

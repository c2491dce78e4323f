import { queryOptions } from '@tanstack/react-query';
import { call, listTagGroups, type TagGroup } from '#client';

/** The groups of tags with their tags. */
export const tagGroupsQuery = queryOptions({
  queryKey: ['tag-groups'],
  queryFn: async ({ signal }) =>
    // lists without a projection of fields contain all members
    (await call(listTagGroups({ signal, query: { page_size: 200 } }))).items as Required<TagGroup>[],
});

/** The groups whose tags cards of a type may have; without a type all. */
export const groupsOfType = <G extends Pick<Required<TagGroup>, 'restrict_to_types'>>(
  groups: readonly G[],
  type: string | undefined,
): G[] => groups.filter(({ restrict_to_types: only }) => !only || type === undefined || only.includes(type));

import { useQuery } from '@tanstack/react-query';
import { groupsOfType, tagGroupsQuery } from '../../kit/tagGroups.ts';

/** The tags that cards of a type may have, by group, for the list of a control. */
export function useTagOptions(type: string | undefined) {
  const { data = [] } = useQuery(tagGroupsQuery);
  return groupsOfType(data, type).map(({ name, tags }) => ({
    group: name,
    items: tags.map((tag) => ({ value: tag.id, label: tag.name })),
  }));
}

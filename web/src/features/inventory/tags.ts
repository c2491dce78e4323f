import { useQuery } from '@tanstack/react-query';
import { call, listTagGroups, type TagGroup } from '#client';

/** The tags that cards of a type may have, by group, for the list of a control. */
export function useTagOptions(type: string | undefined) {
  const { data } = useQuery({
    queryKey: ['tag-groups'],
    queryFn: ({ signal }) => call(listTagGroups({ signal, query: { page_size: 200 } })),
  });
  return ((data?.items ?? []) as Required<TagGroup>[])
    .filter(({ restrict_to_types: only }) => !only || type === undefined || only.includes(type))
    .map(({ name, tags }) => ({
      group: name,
      items: tags.map((tag) => ({ value: tag.id, label: tag.name })),
    }));
}

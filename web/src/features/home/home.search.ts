export const homeTabs = ['overview', 'mine', 'people', 'admin'] as const;
export type HomeTab = (typeof homeTabs)[number];

/** What the address of the start page says. */
export interface HomeSearch {
  /** Without it the tab that the person begins with. */
  tab?: HomeTab;
  /** The person whose cards are shown. */
  person?: string;
  /** How the directory of people is sorted. */
  by?: 'role';
}

/** Reads the address; what is not understood is left out. */
export function readHomeSearch(search: Record<string, unknown>): HomeSearch {
  const tab = homeTabs.find((key) => key === search.tab);
  const { person } = search;
  return {
    ...(tab && { tab }),
    ...(typeof person === 'string' && /^[0-9a-f-]{36}$/.test(person) && { person }),
    ...(search.by === 'role' && { by: 'role' as const }),
  };
}

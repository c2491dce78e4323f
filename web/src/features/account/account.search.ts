export const accountTabs = ['profile', 'security', 'tokens', 'notifications', 'about'] as const;
export type AccountTab = (typeof accountTabs)[number];

/** The section of the account page that an address names. */
export function readAccountSearch(search: Record<string, unknown>): { tab?: AccountTab } {
  const tab = accountTabs.find((key) => key === search.tab);
  return tab && tab !== 'profile' ? { tab } : {};
}

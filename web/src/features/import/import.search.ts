export const kinds = ['cards', 'relations', 'costs', 'data_flows'] as const;
export type Kind = (typeof kinds)[number];

/** Reads the address of the page: the kind of rows, and the type of the cards. */
export function readImportSearch(search: Record<string, unknown>): { kind?: Kind; type?: string } {
  const kind = kinds.find((one) => one === search.kind);
  return {
    ...(kind && kind !== 'cards' && { kind }),
    ...(typeof search.type === 'string' && { type: search.type }),
  };
}

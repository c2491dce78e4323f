import { useMemo, useState } from 'react';
import { call, listCards } from '#client';
import type { InventorySearch } from './inventory.search.ts';
import { PAGE, selectionOf } from './rows.ts';

/** Cards that an action takes at most. */
export const MOST_SELECTED = 10_000;

interface Selected {
  id: string;
  name: string;
  type: string;
}

/** The selected cards of the inventory. */
export function useSelection() {
  const [byId, set] = useState<ReadonlyMap<string, Selected>>(new Map());
  return useMemo(() => {
    const select = (cards: readonly Selected[], isSelected: boolean) =>
      set((before) => {
        const after = new Map(before);
        for (const { id, name, type } of cards) {
          if (isSelected && after.size < MOST_SELECTED) after.set(id, { id, name, type });
          else after.delete(id);
        }
        return after;
      });
    return {
      ids: new Set(byId.keys()),
      cards: [...byId.values()],
      select,
      clear: () => set(new Map()),
      /** Selects all cards of an address. */
      async selectAll(search: InventorySearch): Promise<void> {
        let cursor: string | null | undefined = '';
        for (let read = 0; typeof cursor === 'string' && read < MOST_SELECTED; read += PAGE) {
          const query = { ...selectionOf(search), cursor, page_size: PAGE, fields: 'id,name,type' };
          const page: Awaited<ReturnType<typeof readPage>> = await readPage(query);
          select(page.items as Selected[], true);
          cursor = page.next_cursor;
        }
      },
    };
  }, [byId]);
}

const readPage = (query: NonNullable<Parameters<typeof listCards>[0]>['query']) => call(listCards({ query }));

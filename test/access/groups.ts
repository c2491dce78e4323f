import { globSync } from 'node:fs';
import type { Row } from './matrix.row.ts';
import type { CardRow } from './own-card.row.ts';

/** The rows of a group of operations. */
export interface Group {
  rows: Row[];
  /** What a role on a card allows. */
  cardRows: CardRow[];
}

/** Every file under matrix/: its `cardRows`, and all other exports whose names end with `Rows`. */
export const groups: Group[] = await Promise.all(
  globSync('matrix/*.data.ts', { cwd: import.meta.dirname })
    .sort()
    .map(async (file) => {
      const { cardRows = [], ...others }: Record<string, unknown[]> = await import(`./${file}`);
      const rows = Object.entries(others).filter(([name]) => name.endsWith('Rows'));
      return { rows: rows.flatMap(([, list]) => list as Row[]), cardRows: cardRows as CardRow[] };
    }),
);

import { meanCopyLine } from '../harness/database.ts';
import { type Row, within } from '../harness/rows.ts';
import type { Context } from '../harness/scenario.ts';

async function run({ loadLandscape, client, args }: Context): Promise<Row[]> {
  await loadLandscape();
  const { rows } = await client.query<{ cards: string; relations: string; archived: string }>(
    `select (select count(*) from cards) as cards,
            (select count(*) from relations) as relations,
            (select count(*) from cards where status = 'ARCHIVED') as archived`,
  );
  const { cards, relations, archived } = rows[0]!;
  return [
    within({ figure: 'cards', value: Number(cards), unit: '' }, args.cards, args.cards),
    within({ figure: 'relations', value: Number(relations), unit: '' }, args.relations, args.relations),
    within({ figure: 'archived', value: (Number(archived) / Number(cards)) * 100, unit: '%' }, 4, 6),
    within({ figure: 'mean COPY line', value: await meanCopyLine(client), unit: 'bytes' }, 550, 750),
  ];
}

/** Whether the landscape in the database has the shape that all other figures rest on. */
export const landscape = { name: 'landscape', run };

import { queryRows } from '../../../platform/database.ts';
import { loadCards } from '../../inventory/cards/cards.load.ts';
import { mergeCard } from './imports.cards.merge.ts';
import { turnsMacro } from './imports.cards.plan-structure.ts';
import type { CardPayload } from './imports.cards.types.ts';
import { attachedBy, readPeopleAndTags } from './imports.people.write.ts';
import { type Planning, refuse } from './imports.planning.ts';

const CHUNK = 1_000;

interface StructuralRow {
  line: number;
  card_id: string;
  is_new: false;
  type: string;
  parent: string | null;
  payload: CardPayload;
}

/**
 * Merges the rows that move, archive or restore existing cards, only to see whether they can be: other rows rely on
 * where those cards will lie. What the rest of the rows says about existing cards is checked when it is written.
 */
export async function checkStructuralRows(planning: Planning): Promise<void> {
  const { sql, jobId, leveled, pulse } = planning;
  for (let line = 0; ; ) {
    pulse();
    const rows = await queryRows<StructuralRow>(
      sql,
      `select p.line, p.card_id, p.is_new, p.type, p.parent, r.payload
       from plan_rows p join import_card_rows r on r.job_id = ? and r.line = p.line
       where p.line > ? and not p.failed and not p.is_new and (p.parent is distinct from p.stored_parent
         or p.status <> p.stored_status or (p.type = any(?::text[]) and ${turnsMacro}))
       order by p.line limit ${CHUNK}`,
      [jobId, line, leveled],
    );
    if (rows.length === 0) return;
    await checkRows(planning, rows);
    line = rows.at(-1)!.line;
  }
}

async function checkRows(planning: Planning, rows: StructuralRow[]): Promise<void> {
  const { sql, ctx, jobId } = planning;
  const stored = await loadCards(
    { sql, metamodel: ctx.metamodel },
    ctx,
    rows.map((row) => row.card_id),
  );
  const around = await readPeopleAndTags(sql, rows);
  const faults = rows.flatMap(({ line, card_id, type: key, parent, payload }) => {
    const before = stored.get(card_id);
    const type = ctx.metamodel.cardTypes.get(key);
    if (!before || !type) return [];
    const attached = attachedBy(card_id, payload, around);
    const row = { type, payload, parent_id: parent, level: null, archive_batch_id: jobId };
    return mergeCard(ctx, before, row, attached).faults.map((fault) => ({ line, ...fault }));
  });
  if (faults.length === 0) return;
  await refuse(
    planning,
    `select line, field, code, message
     from jsonb_to_recordset(?::jsonb) as v(line integer, field text, code text, message text)`,
    [JSON.stringify(faults)],
  );
}

import type { Knex } from 'knex';
import { queryRows } from '../../../platform/database.ts';
import { EstateError, type FieldError, invalidFields, notFound } from '../../../platform/errors.ts';
import { visibleCards } from '../../inventory/cards/cards.visible.ts';
import type { Ctx } from '../../kernel/context.ts';
import { lockRow } from '../../kernel/resources/rows.ts';
import { Diagram, type DiagramRow } from './diagrams.model.ts';
import { mayEdit } from './diagrams.visible.ts';

/**
 * A diagram that the caller sees and may change, locked.
 * @throws EstateError `not_found`, `forbidden` for one that is shared for reading only.
 */
export async function lockDiagram(sql: Knex.Transaction, ctx: Ctx, id: string): Promise<DiagramRow> {
  const row = await lockRow(sql, Diagram, { id: id.toLowerCase() });
  if (!row) throw notFound('diagram', id);
  if (mayEdit(ctx, row)) return row;
  if (!row.shared_with.some(({ user_id }) => user_id === ctx.caller.userId)) throw notFound('diagram', id);
  throw new EstateError('forbidden', 'The diagram is shared for reading only.', {
    extra: { permission: 'diagrams.manage' },
  });
}

/** A card as events of links contain it. */
export interface LinkedCard {
  id: string;
  type: string;
}

/**
 * Cards that are to be linked to a diagram, locked so that none is deleted before the transaction ends.
 * @throws EstateError `validation_failed` naming those that the caller does not see.
 */
export async function lockLinkedCards(
  sql: Knex.Transaction,
  ctx: Ctx,
  ids: string[],
  field: string,
): Promise<LinkedCard[]> {
  if (ids.length === 0) return [];
  const visible = visibleCards(ctx);
  const cards = await queryRows<LinkedCard>(
    sql,
    `select c.id, c.type from cards c where c.id = any(?::uuid[]) and ${visible.sql} order by c.id for key share of c`,
    [ids, ...visible.bindings],
  );
  const found = new Map(cards.map((card) => [card.id, card]));
  const faults = ids.flatMap((id, at): FieldError[] =>
    found.has(id) ? [] : [{ field: `${field}.${at}`, code: 'unknown_card', message: 'is no card' }],
  );
  if (faults.length > 0) throw invalidFields(faults);
  return ids.map((id) => found.get(id)!);
}

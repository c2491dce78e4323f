import type { Knex } from 'knex';
import { EstateError, type FieldError, invalidFields, notFound } from '../../platform/errors.ts';
import { visibleCards } from '../cards/cards.visible.ts';
import type { Ctx } from '../context.ts';
import { lockRow } from '../events/stored-rows.ts';
import type { DiagramRow } from './diagrams.types.ts';

/** A diagram that the caller sees, locked. @throws EstateError `not_found`. */
export async function lockDiagram(sql: Knex.Transaction, ctx: Ctx, id: string): Promise<DiagramRow> {
  const row = (await lockRow(sql, 'diagrams', { id: id.toLowerCase() })) as DiagramRow | undefined;
  if (!row || (row.private_to !== null && row.private_to !== ctx.caller.userId)) {
    throw notFound('diagram', id);
  }
  return row;
}

/** A card as a link's event names it. */
export interface LinkedCard {
  id: string;
  type: string;
}

/**
 * The cards of which a diagram is to be linked, held so that none is deleted before the transaction ends.
 * @throws EstateError `validation_failed` naming those that the caller does not see.
 */
export async function holdCards(
  sql: Knex.Transaction,
  ctx: Ctx,
  ids: string[],
  field: string,
): Promise<LinkedCard[]> {
  if (ids.length === 0) return [];
  const visible = visibleCards(ctx);
  const { rows } = await sql.raw(
    `select c.id, c.type from cards c where c.id = any(?::uuid[]) and ${visible.sql} order by c.id for key share of c`,
    [ids, ...visible.bindings] as never,
  );
  const found = new Map<string, LinkedCard>(rows.map((card: LinkedCard) => [card.id, card]));
  const faults = ids.flatMap((id, at): FieldError[] =>
    found.has(id) ? [] : [{ field: `${field}.${at}`, code: 'unknown_card', message: 'is no card' }],
  );
  if (faults.length > 0) throw invalidFields(faults);
  return ids.map((id) => found.get(id)!);
}

/** @throws EstateError `forbidden` for anybody but the maker. */
export function requireMaker(ctx: Ctx, row: DiagramRow): void {
  if (row.created_by === ctx.caller.userId) return;
  throw new EstateError('forbidden', 'Only its maker decides who sees a diagram.', {
    extra: { permission: 'diagrams.manage' },
  });
}

import { queryRows } from '../../../platform/database.ts';
import { EstateError, type FieldError, notFound } from '../../../platform/errors.ts';
import { requireActiveUser } from '../../collaboration/items.ts';
import { lockCards } from '../../inventory/cards/cards.load.ts';
import { visibleCards } from '../../inventory/cards/cards.visible.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { lockRow } from '../../kernel/resources/rows.ts';
import { Risk, type RiskRow } from './risks.model.ts';
import type { LinkedCard } from './risks.types.ts';

/** A risk, locked, with the cards that it is linked to. */
export interface LoadedRisk {
  row: RiskRow;
  cardIds: string[];
}

/** A risk, locked. @throws EstateError `not_found`. */
export async function lockRisk({ sql }: Work, id: string): Promise<LoadedRisk> {
  const row = await lockRow(sql, Risk, { id: id.toLowerCase() });
  if (!row) throw notFound('risk', id);
  return { row, cardIds: await linkedTo(sql, row.id) };
}

/** The ids of the cards that a risk is linked to. */
async function linkedTo(sql: Work['sql'], riskId: string): Promise<string[]> {
  return await sql('risk_cards').where({ risk_id: riskId }).orderBy('id').pluck('card_id');
}

/** @throws EstateError `wrong_state` for a closed risk. */
export function requireOpen({ status }: RiskRow): void {
  if (status !== 'closed') return;
  throw new EstateError('wrong_state', 'The risk is closed; open it again first.', {
    extra: { risk_status: status },
  });
}

/**
 * Cards to be linked, locked for sharing. Cards that the caller does not see are validation errors.
 * @param ids duplicates count once. @param field the field in validation errors.
 */
export async function lockLinkable(
  work: Work,
  ctx: Ctx,
  ids: readonly string[],
  faults: FieldError[],
  field = 'card_ids',
): Promise<LinkedCard[]> {
  const wanted = ids.map((id) => id.toLowerCase());
  if (wanted.length === 0) return [];
  await lockCards(work, new Set(wanted), 'share');
  const visible = visibleCards(ctx);
  const cards = await queryRows<LinkedCard>(
    work.sql,
    `select c.id, c.type from cards c where c.id = any(?::uuid[]) and (${visible.sql})`,
    [wanted, ...visible.bindings],
  );
  const found = new Map(cards.map((card) => [card.id, card]));
  for (const [n, id] of wanted.entries()) {
    if (!found.has(id)) faults.push({ field: `${field}.${n}`, code: 'unknown_card', message: 'is no card' });
  }
  return [...new Set(wanted)].flatMap((id) => found.get(id) ?? []);
}

/** Adds a validation error where an owner is unknown or not active. */
export async function checkOwner(work: Work, id: string, faults: FieldError[]): Promise<void> {
  try {
    await requireActiveUser(work.sql, id, 'owner_id');
  } catch (error) {
    if (!(error instanceof EstateError && error.errors)) throw error;
    faults.push(...error.errors);
  }
}

/** The trimmed title; a blank one is a validation error. */
export function checkTitle(title: string, faults: FieldError[]): string {
  const trimmed = title.trim();
  if (trimmed === '') faults.push({ field: 'title', code: 'required', message: 'must not be blank' });
  return trimmed;
}

import { EstateError, invalidFields } from '../../../../platform/errors.ts';
import { command } from '../../../kernel/command.ts';
import type { Ctx, Work } from '../../../kernel/context.ts';
import { forbidden, may, requirePermission } from '../../../kernel/permissions/policy.ts';
import { refuseHiddenCosts } from '../cards.costs.ts';
import { newCard, takeLevel } from '../cards.create.ts';
import { insertCards, newIds } from '../cards.insert.ts';
import { lockHierarchy, type StoredCard } from '../cards.load.ts';
import { guardUnique, takenKey } from '../cards.unique.ts';
import { LEVEL_FIELD } from '../rules/capability.ts';
import { cleanCardInput, validateCardInput } from '../rules/input.ts';
import { newCardValues } from '../rules/merge.ts';
import { lookAround } from './bulk.create.lookup.ts';
import { type FoundParent, findParent, type MadeCards, madeCards, noteMade } from './bulk.create.parents.ts';
import type { BulkCreateRow, Surroundings } from './bulk.create.types.ts';

export interface BulkCreateResult {
  row_index: number;
  status: 'created' | 'failed';
  id: string | null;
  /** Why a failed row failed. */
  error: string | null;
  code: string | null;
}

export interface BulkCreateAnswer {
  results: BulkCreateResult[];
  created: number;
  failed: number;
  dry_run: boolean;
}

/** How often rows are looked at again when others have taken their names meanwhile. */
const MAX_ATTEMPTS = 3;

/**
 * Creates many cards in one transaction, row after row by the rules of a single creation, in a fixed number of
 * statements. Rows may lie below earlier ones. A row that fails is reported and stops no other, but those below it.
 * @throws EstateError `forbidden` without `inventory.create`.
 */
export async function createCards(
  ctx: Ctx,
  rows: BulkCreateRow[],
  dryRun: boolean,
): Promise<BulkCreateAnswer> {
  requirePermission(ctx.caller, 'inventory.create');
  const results = await command(ctx, (work) => createCardsWithin(work, ctx, rows), { dryRun });
  const created = results.filter(({ status }) => status === 'created').length;
  return { results, created, failed: results.length - created, dry_run: dryRun };
}

/** {@link createCards} as a part of a greater command: one result for each row. */
export async function createCardsWithin(
  work: Work,
  ctx: Ctx,
  rows: BulkCreateRow[],
): Promise<BulkCreateResult[]> {
  if (rows.some((row) => row.parent_id || row.parent_path || row.parent_name)) {
    await lockHierarchy(work.sql, 'shared');
  }
  const ids = await newIds(work, rows.length);
  const clean = rows.map((row) => ({ ...row, ...cleanCardInput(row), name: row.name.trim() }));
  for (let attempt = 1; ; attempt += 1) {
    const around = await lookAround(work.sql, ctx, clean);
    const made = madeCards();
    const outcomes = clean.map((row, n) => outcomeOf(work, ctx, { row, n, id: ids[n]! }, around, made));
    const cards = outcomes.flatMap((outcome) => ('card' in outcome ? outcome.card : []));
    try {
      await guardUnique(work.sql, cards, (sql) => insertCards({ ...work, sql }, ctx, cards));
    } catch (error) {
      // somebody else was faster by a moment: their card is seen now
      const clash =
        error instanceof EstateError && ['sibling_name_taken', 'external_id_taken'].includes(error.code);
      if (clash && attempt < MAX_ATTEMPTS) continue;
      throw error;
    }
    return outcomes.map((outcome, n): BulkCreateResult => {
      const { row_index } = rows[n]!;
      return 'card' in outcome
        ? { row_index, status: 'created', id: outcome.card.id, error: null, code: null }
        : { row_index, status: 'failed', id: null, ...outcome };
    });
  }
}

type Outcome = { card: StoredCard } | { error: string; code: string };

interface NumberedRow {
  row: BulkCreateRow;
  n: number;
  id: string;
}

/** One row, against the inventory and the cards that the rows before have made. */
function outcomeOf(
  work: Work,
  ctx: Ctx,
  numbered: NumberedRow,
  around: Surroundings,
  made: MadeCards,
): Outcome {
  try {
    const parent = findParent(numbered.row, around, made);
    const card = cardOf(work, ctx, numbered, parent);
    refuseTaken(card, numbered.n, around, made);
    noteMade(made, card, parent, around);
    return { card };
  } catch (error) {
    if (!(error instanceof EstateError)) throw error;
    return { error: error.message, code: error.errors?.[0]?.code ?? error.code };
  }
}

function cardOf({ metamodel }: Work, ctx: Ctx, { row, id }: NumberedRow, parent: FoundParent): StoredCard {
  const faults = validateCardInput(metamodel, row.type, row, { creating: true });
  const type = metamodel.cardTypes.get(row.type);
  if (!type || faults.length > 0) throw invalidFields(faults);
  refuseHiddenCosts(type.costKeys, row.attributes, may(ctx.caller, 'costs.view'));
  const approval = row.approval_status ?? 'DRAFT';
  if (approval !== 'DRAFT' && !may(ctx.caller, 'inventory.approval_status')) {
    throw forbidden('inventory.approval_status');
  }
  const place = parent.under(type);
  const values = newCardValues(row);
  values.parent_id = parent.id;
  takeLevel(type, values, row.attributes?.[LEVEL_FIELD], place);
  return { ...newCard(type, id, values), approval_status: approval };
}

/** A name or an external id that a stored card or an earlier row has. */
function refuseTaken(card: StoredCard, n: number, around: Surroundings, made: MadeCards): void {
  const stored = around.taken.get(n) ?? {};
  const sibling = stored.sibling ?? made.below(card.type, card.parent_id, around.lower(card.name));
  if (sibling) throw takenKey('cards_sibling_name', sibling);
  const holder = stored.external_id ?? (card.external_id && made.byExternalId(card.type, card.external_id));
  if (holder) throw takenKey('cards_external_id', holder);
}

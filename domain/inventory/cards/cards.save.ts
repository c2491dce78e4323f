import { query, type Transaction } from '../../../platform/database.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import type { EventType } from '../../kernel/events/events.catalogue.ts';
import type { CardType } from '../../kernel/metamodel/metamodel.compile.ts';
import { insertRows } from '../../kernel/resources/rows.ts';
import { noRuns, type Runs, type Seeds, withLocalValues } from '../calculations/calculations.follow.ts';
import { lockCalculations } from '../calculations/calculations.lock.ts';
import { type Recalculated, recalculate, recordRuns } from '../calculations/recalculate.ts';
import { cardEvent, cardsTopic } from './cards.events.ts';
import { loadCards, lockCards, type StoredCard, typeOf } from './cards.load.ts';
import { Card } from './cards.model.ts';
import { rescored, summedKeys, withSums, writeCards } from './cards.rows.ts';
import { guardUnique } from './cards.unique.ts';
import { LEVEL_FIELD } from './rules/capability.ts';
import { type Changes, diffCard } from './rules/diff.ts';
import { approvalAfter, type FilledSlots } from './rules/quality.ts';

/** The card after a change of its content by a user: approval and data quality are updated. */
export function withDerivedValues(type: CardType, before: StoredCard, after: StoredCard): StoredCard {
  const changes = diffCard(before, after);
  return rescored(type, { ...after, approval_status: approvalAfter(after.approval_status, changes) });
}

/** One card's change. */
export interface CardWrite {
  before: StoredCard;
  after: StoredCard;
  /** `card.updated` unless given. */
  event?: EventType;
}

/** A stored change. */
export interface SavedCard extends CardWrite {
  changes: Changes;
}

/**
 * Writes changed cards in one statement, with an event for each; unchanged cards are skipped. Values that formulas
 * compute from a card are in the same event; other cards whose values depend on it get their own events. `seeds` are
 * formulas that have to run for other reasons.
 * @returns the writes of the given cards.
 * @throws EstateError `sibling_name_taken`, `external_id_taken`.
 */
export async function saveCards(
  work: Work,
  ctx: Ctx,
  writes: CardWrite[],
  { seeds = new Map(), runs = noRuns() }: { seeds?: Seeds; runs?: Runs } = {},
): Promise<SavedCard[]> {
  const changed = writes
    .map((write) => withComputed(work, write, runs))
    .filter((write) => Object.keys(write.changes).length > 0);
  if (changed.length === 0 && seeds.size === 0) return [];
  const after = changed.map((write) => write.after);
  const update = (sql: Transaction) => writeCards(sql, ctx, after);
  if (changed.some((write) => mayClash(write.changes))) await guardUnique(work.sql, after, update);
  else if (changed.length > 0) await update(work.sql);
  const computed = await recalculate(work, ctx, changed, seeds, runs);
  await recordRuns(work, runs);
  const saved = changed.map((write) => {
    const last = computed.get(write.after.id)?.after;
    return last ? { ...write, after: last, changes: diffCard(write.before, last) } : write;
  });
  for (const { before, after: card, changes, event } of saved) {
    computed.delete(card.id);
    const type = typeOf(work.metamodel, card);
    const more = { ...archiving(before, card, changes), ...rolledUp(type, card, changes) };
    work.emit(cardEvent(event ?? 'card.updated', type, card, changes, more));
    work.raise(cardsTopic(type.key));
  }
  emitComputed(work, computed.values());
  return saved;
}

/** A write with its sums and the results of the card's own formulas. */
function withComputed(work: Work, write: CardWrite, runs: Runs): SavedCard {
  const { before } = write;
  const type = typeOf(work.metamodel, write.after);
  const after = withSums(type, write.after);
  const computed = withLocalValues(work.metamodel, type, after, diffCard(before, after), runs);
  const scored = computed === write.after ? computed : rescored(type, computed);
  return { ...write, after: scored, changes: diffCard(before, scored) };
}

/** The events of cards whose computed values changed. */
export function emitComputed(work: Work, cards: Iterable<Recalculated>): void {
  for (const { before, after } of cards) {
    const changes = diffCard(before, after);
    if (Object.keys(changes).length === 0) continue;
    const type = typeOf(work.metamodel, after);
    work.emit(cardEvent('card.updated', type, after, changes));
    work.raise(cardsTopic(type.key));
  }
}

/** The id of the archiving operation that a change starts or ends, for an undo; both if one replaces the other. */
function archiving(before: StoredCard, after: StoredCard, changes: Changes): Record<string, string> {
  const [was, is] = [before.archive_batch_id, after.archive_batch_id];
  if (changes.status) return (is ?? was) ? { archive_batch_id: (is ?? was)! } : {};
  return was && is && was !== is ? { archive_batch_id: is, archive_batch_was: was } : {};
}

/** The fields of a change that result from lines or costs: a later one does not conflict with an earlier change. */
export function rolledUp(
  type: Pick<CardType, 'fields'>,
  card: Pick<StoredCard, 'sums'>,
  changes: Changes,
): { rolled_up?: string[] } {
  const fields = summedKeys(type, card)
    .map((key) => `attributes.${key}`)
    .filter((field) => field in changes);
  return fields.length > 0 ? { rolled_up: fields } : {};
}

/** Whether a change may violate a unique index. */
function mayClash(changes: Changes): boolean {
  return (
    ['name', 'parent_id', 'external_id'].some((field) => field in changes) || changes.status?.new === 'ACTIVE'
  );
}

/**
 * Recomputes the data quality of cards after a relation, tag or stakeholder has changed, in the transaction of that
 * change, and runs the formulas of `seeds`.
 */
export async function rescoreCards(
  work: Work,
  ctx: Ctx,
  ids: Iterable<string>,
  seeds: Seeds = new Map(),
): Promise<void> {
  const wanted = [...new Set(ids)];
  if (wanted.length === 0 && seeds.size === 0) return;
  await lockCards(work, wanted);
  const cards = await loadCards(work, ctx, wanted);
  await saveCards(
    work,
    ctx,
    [...cards.values()].map((card) => ({
      before: card,
      after: rescored(typeOf(work.metamodel, card), card),
    })),
    { seeds },
  );
}

/** The writes that set levels of capabilities; no user changed their content, so approvals remain. */
export function levelWrites(
  work: Work,
  cards: Map<string, StoredCard>,
  levels: Map<string, string>,
): CardWrite[] {
  return [...levels].flatMap(([id, level]) => {
    const card = cards.get(id);
    if (!card) return [];
    const attributes = { ...card.attributes, [LEVEL_FIELD]: level };
    return { before: card, after: rescored(typeOf(work.metamodel, card), { ...card, attributes }) };
  });
}

/** The relations, tags and stakeholders of a card that does not exist yet. */
export const noFilledSlots: FilledSlots = { relations: new Set(), tagGroups: new Set(), roles: new Set() };

/**
 * Writes new cards in one statement, with an event for each, computed values included. A unique violation is thrown as
 * PostgreSQL's error: callers use `guardUnique` or find the conflicting card themselves.
 */
export async function insertCards(work: Work, ctx: Ctx, given: StoredCard[]): Promise<void> {
  if (given.length === 0) return;
  await lockCalculations(work, new Set(given.map(({ type }) => type)));
  const runs = noRuns();
  const complete = given.map((card) => {
    const type = typeOf(work.metamodel, card);
    const computed = withLocalValues(work.metamodel, type, card, null, runs);
    return computed === card ? card : rescored(type, computed);
  });
  const { userId } = ctx.caller;
  const rows = complete.map((card) => ({
    ...card,
    // Without one, PostgreSQL gives the card the next number of its type.
    number: card.number!,
    created_by: userId,
    updated_by: userId,
  }));
  const stored = await insertRows(work.sql, Card, rows);
  const cards = complete.map((card, n) => ({ ...card, number: stored[n]!.number }));
  const written = cards.map((after) => ({ before: null, after, changes: {} }));
  const computed = await recalculate(work, ctx, written, new Map(), runs);
  await recordRuns(work, runs);
  for (const made of cards) {
    const card = computed.get(made.id)?.after ?? made;
    computed.delete(made.id);
    const type = typeOf(work.metamodel, card);
    work.emit(cardEvent('card.created', type, card, diffCard(null, card)));
    work.raise(cardsTopic(type.key));
  }
  emitComputed(work, computed.values());
}

/** New ids, each greater than the previous one. */
export async function newIds({ sql }: Pick<Work, 'sql'>, count: number): Promise<string[]> {
  if (count === 0) return [];
  return await query(sql).column<string>`select uuidv7() from generate_series(1, ${count})`;
}

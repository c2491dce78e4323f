import { forbidden, may } from '../../../domain/access/policy.ts';
import { createCardsWithin } from '../../../domain/cards/bulk/bulk.create.ts';
import {
  archiveEachWithin,
  type CardPatchRow,
  patchEachWithin,
  restoreEachWithin,
} from '../../../domain/cards/bulk/bulk.each.ts';
import type { CardInput } from '../../../domain/cards/rules/card.types.ts';
import type { Work } from '../../../domain/command.ts';
import type { Ctx } from '../../../domain/context.ts';
import { bulkRelationsOfLocked } from '../../../domain/relations/relations.bulk.ts';
import type { EstateError } from '../../../platform/errors.ts';
import { isUuid } from '../../../platform/uuid.ts';
import type { LocalWrite } from '../engine/apply.types.ts';
import type { Path } from '../engine/mapping.types.ts';
import { told, type Value } from '../engine/values.ts';
import { idsIn, relateWithin, type WantedRelated, withoutRelated } from './related.writes.ts';

/** What the inventory says to a write: the card that it is about, or why it is refused. */
export type LocalAnswer =
  /** `left`: paths of a new card that could not be written, and why. */
  { kind: 'done'; cardId: string | null; left?: Record<Path, string> } | { kind: 'refused'; message: string };

/** A write with its place among those that are carried out together. */
interface Numbered<K extends LocalWrite['kind']> {
  n: number;
  write: Extract<LocalWrite, { kind: K }>;
}

const texts: ReadonlySet<Path> = new Set(['name', 'alias', 'description', 'subtype', 'external_id']);

/**
 * Carries out writes of which no two are about the same card or relation, in few statements and by the rules that hold
 * for everybody's. The cards that they are about must be locked. What is refused of one stops no other.
 * @returns an answer for each, in their order.
 */
export async function writeInventory(
  work: Work,
  ctx: Ctx,
  writes: readonly LocalWrite[],
): Promise<LocalAnswer[]> {
  const answers: LocalAnswer[] = [];
  const of = <K extends LocalWrite['kind']>(...kinds: K[]): Numbered<K>[] =>
    writes.flatMap((write, n) => (kinds.includes(write.kind as K) ? [{ n, write } as Numbered<K>] : []));
  const note = (n: number, cardId: string | null, error: EstateError | null) => {
    answers[n] = error ? { kind: 'refused', message: why(error) } : { kind: 'done', cardId };
  };

  const created = readable(of('create'), answers);
  if (!may(ctx.caller, 'inventory.create')) {
    for (const { n } of created) note(n, null, forbidden('inventory.create'));
  } else if (created.length > 0) {
    const rows = created.map(({ n, write, input }) => ({
      ...input,
      row_index: n,
      type: write.cardType,
      name: input.name ?? '',
    }));
    for (const result of await createCardsWithin(work, ctx, rows)) {
      const { row_index: n, id, error } = result;
      answers[n] = error === null ? { kind: 'done', cardId: id } : { kind: 'refused', message: error };
    }
  }
  // relations before the rest of a card: what is refused of them leaves the card as it was
  const related = [...wantedRelated(created, answers), ...wantedRelated(of('update'), answers)];
  for (const [at, message] of await relateWithin(work, ctx, related)) {
    const { n, path } = related[at]!;
    const answer = answers[n];
    if (answer?.kind === 'done') answer.left = { ...answer.left, [path]: message };
    else answers[n] = { kind: 'refused', message: `${path}: ${message}` };
  }
  const updated = readable(of('update'), answers).filter(({ n }) => answers[n] === undefined);
  if (updated.length > 0) {
    const rows = updated.map(({ write, input }): CardPatchRow => ({ card_id: write.cardId, patch: input }));
    const errors = await patchEachWithin(work, ctx, rows);
    for (const [k, { n, write }] of updated.entries()) note(n, write.cardId, errors[k]!);
  }
  for (const [kind, act] of [
    ['archive', archiveEachWithin],
    ['restore', restoreEachWithin],
  ] as const) {
    const chosen = of(kind);
    const errors = await act(
      work,
      ctx,
      chosen.map(({ write }) => write.cardId),
    );
    for (const [k, { n, write }] of chosen.entries()) note(n, write.cardId, errors[k]!);
  }
  const told = of('relate', 'unrelate');
  if (told.length > 0) {
    const operations = told.map(({ n, write }) => ({
      row_index: n,
      action: write.kind === 'relate' ? ('upsert' as const) : ('delete' as const),
      type: write.relationType,
      source: { id: write.source! },
      target: { id: write.target! },
    }));
    for (const { row_index: n, error } of await bulkRelationsOfLocked(work, ctx, operations)) {
      answers[n] = error === null ? { kind: 'done', cardId: null } : { kind: 'refused', message: error };
    }
  }
  return answers;
}

/** Whether the writes move, archive or restore cards, or only put new ones below others; null: neither. */
export function hierarchyUse(writes: readonly LocalWrite[]): 'exclusive' | 'shared' | null {
  const alone = writes.some(
    (write) =>
      write.kind === 'archive' ||
      write.kind === 'restore' ||
      (write.kind === 'update' && 'parent_id' in write.values),
  );
  if (alone) return 'exclusive';
  return writes.some((write) => write.kind === 'create' && write.values.parent_id) ? 'shared' : null;
}

/** Ids of the cards that the writes are about, both ends of relations among them. */
export const cardsOf = (writes: readonly LocalWrite[]): string[] =>
  writes.flatMap((write) => {
    if (write.kind === 'relate' || write.kind === 'unrelate')
      return [write.source, write.target].filter((id) => id !== null);
    const others =
      'values' in write ? Object.values(withoutRelated(write.values).related).flatMap(idsIn) : [];
    return 'cardId' in write ? [write.cardId, ...others] : others;
  });

/** The relations that cards are to have which are there, or have just been made. */
const wantedRelated = (
  writes: readonly { n: number; write: Extract<LocalWrite, { kind: 'create' | 'update' }> }[],
  answers: readonly LocalAnswer[],
): WantedRelated[] =>
  writes.flatMap(({ n, write }) => {
    const answer = answers[n];
    const cardId = write.kind === 'update' ? write.cardId : answer?.kind === 'done' ? answer.cardId : null;
    if (cardId === null) return [];
    return Object.entries(withoutRelated(write.values).related).map(([path, value]) => ({
      n,
      cardId,
      path,
      value,
    }));
  });

const why = ({ message, errors }: EstateError): string =>
  errors === undefined
    ? message
    : errors.map(({ field, message: fault }) => `${field} ${fault}`).join('; ') || message;

/** The writes whose values can be put into a card at all; the others are answered. */
function readable<K extends 'create' | 'update'>(
  writes: Numbered<K>[],
  answers: LocalAnswer[],
): (Numbered<K> & { input: CardInput })[] {
  return writes.flatMap((one) => {
    const input = inputOf(withoutRelated((one.write as { values: Record<Path, Value> }).values).own);
    if (typeof input !== 'string') return [{ ...one, input }];
    answers[one.n] = { kind: 'refused', message: input };
    return [];
  });
}

/** Values by path as a card takes them, or what is wrong with one. */
function inputOf(values: Record<Path, Value>): CardInput | string {
  const input: CardInput = {};
  for (const [path, value] of Object.entries(values)) {
    if (path === 'parent_id') {
      if (value !== null && (typeof value !== 'string' || !isUuid(value))) {
        return `parent_id ${told(value)} is no card.`;
      }
      input.parent_id = value;
    } else if (texts.has(path)) {
      if (typeof value === 'object' && value !== null) return `'${path}' takes no list.`;
      (input as Record<string, unknown>)[path] = value === null ? null : String(value);
    } else {
      const dot = path.indexOf('.');
      const object = path.slice(0, dot) === 'lifecycle' ? 'lifecycle' : 'attributes';
      input[object] = { ...input[object], [path.slice(dot + 1)]: value };
    }
  }
  return input;
}

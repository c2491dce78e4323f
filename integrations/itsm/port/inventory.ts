import { relatedPath } from '../../../domain/exchange/itsm/mappings.rules.ts';
import type { Value } from '../../../domain/exchange/itsm/mappings.types.ts';
import { createCardsWithin } from '../../../domain/inventory/cards/bulk/bulk.create.ts';
import {
  archiveEachWithin,
  type CardPatchRow,
  patchEachWithin,
  restoreEachWithin,
} from '../../../domain/inventory/cards/bulk/bulk.each.ts';
import type { CardInput } from '../../../domain/inventory/cards/rules/card.types.ts';
import {
  type BulkOperation,
  bulkRelationsOfLocked,
  bulkRelationsWithin,
} from '../../../domain/inventory/relations/relations.bulk.ts';
import type { Ctx, Work } from '../../../domain/kernel/context.ts';
import { forbidden, may } from '../../../domain/kernel/permissions/policy.ts';
import type { EstateError } from '../../../platform/errors.ts';
import { isUuid } from '../../../platform/uuid.ts';
import type { Path } from '../engine/model.types.ts';
import type { LocalWrite } from '../engine/plan.types.ts';
import { formatValue } from '../engine/values.ts';
import { type RelatedField, relatedFields } from './local.cards.ts';

/** What the inventory says to a write: the card that it is about, or why it is refused. */
type LocalAnswer =
  /** `unwritten`: paths that could not be written, and why. */
  | { kind: 'done'; cardId: string | null; unwritten?: Record<Path, string> }
  | { kind: 'refused'; message: string };

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

  const created = of('create').map((one) => readable(one));
  if (!may(ctx.caller, 'inventory.create')) {
    for (const { n } of created) note(n, null, forbidden('inventory.create'));
  } else await createCards(work, ctx, created, answers);
  // relations before the rest of a card
  const updated = of('update').map((one) => readable(one));
  const related = [...wantedRelated(created, answers), ...wantedRelated(updated, answers)];
  const unrelated = new Map<number, Record<Path, string>>();
  for (const [at, message] of await relateWithin(work, ctx, related)) {
    const { n, path } = related[at]!;
    unrelated.set(n, { ...unrelated.get(n), [path]: message });
  }
  await patchCards(work, ctx, updated, answers);
  for (const { n, write, unwritten } of [...created, ...updated]) {
    const answer = answers[n]!;
    const all = { ...unwritten, ...(answer.kind === 'done' && answer.unwritten), ...unrelated.get(n) };
    if (answer.kind !== 'done' || Object.keys(all).length === 0) continue;
    const isAll = write.kind === 'update' && Object.keys(all).length === Object.keys(write.values).length;
    answers[n] = isAll ? { kind: 'refused', message: reasonsOf(all) } : { ...answer, unwritten: all };
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

type NewCard = Readable<Numbered<'create'>>;
type ChangedCard = Readable<Numbered<'update'>>;

/** What of a new card may go without it being another one. */
const besides: readonly (keyof CardInput)[] = ['parent_id', 'lifecycle', 'attributes'];

/** Makes cards; one that is refused is made without what may follow, and then gets that value by value. */
async function createCards(
  work: Work,
  ctx: Ctx,
  created: readonly NewCard[],
  answers: LocalAnswer[],
): Promise<void> {
  const rowOf = ({ n, write, input }: NewCard) => ({
    ...input,
    row_index: n,
    type: write.cardType,
    name: input.name ?? '',
  });
  const make = async (cards: readonly NewCard[]) => {
    if (cards.length === 0) return;
    for (const { row_index: n, id, error } of await createCardsWithin(work, ctx, cards.map(rowOf))) {
      answers[n] = error === null ? { kind: 'done', cardId: id } : { kind: 'refused', message: error };
    }
  };
  await make(created);
  const refused = created.filter(
    ({ n, input }) => answers[n]?.kind === 'refused' && besides.some((member) => input[member] != null),
  );
  const bare = ({ parent_id: _, lifecycle: __, attributes: ___, ...input }: CardInput) => input;
  const why = new Map(refused.map(({ n }) => [n, answers[n]!]));
  await make(refused.map((one) => ({ ...one, input: bare(one.input) })));
  const made = refused.flatMap((one) => {
    const answer = answers[one.n]!;
    if (answer.kind !== 'done' || answer.cardId === null) {
      answers[one.n] = why.get(one.n)!;
      return [];
    }
    return [{ n: one.n, cardId: answer.cardId, values: withoutTexts(one.values) }];
  });
  await patchEachValue(work, ctx, made, answers);
}

/** Changes cards; where a change is refused, each value by itself, so that one stops no other. */
async function patchCards(
  work: Work,
  ctx: Ctx,
  updated: readonly ChangedCard[],
  answers: LocalAnswer[],
): Promise<void> {
  if (updated.length === 0) return;
  const rows = updated.map(({ write, input }): CardPatchRow => ({ card_id: write.cardId, patch: input }));
  const errors = await patchEachWithin(work, ctx, rows);
  const again: ValuesOf[] = [];
  for (const [k, { n, write, values }] of updated.entries()) {
    const error = errors[k]!;
    const done: LocalAnswer = { kind: 'done', cardId: write.cardId };
    if (error && Object.keys(write.values).length > 1) {
      answers[n] = done;
      again.push({ n, cardId: write.cardId, values });
    } else answers[n] = error ? { kind: 'refused', message: why(error) } : done;
  }
  await patchEachValue(work, ctx, again, answers);
}

/** Values of a card that are written one after the other. */
interface ValuesOf {
  n: number;
  cardId: string;
  values: Record<Path, Value>;
}

async function patchEachValue(
  work: Work,
  ctx: Ctx,
  cards: readonly ValuesOf[],
  answers: LocalAnswer[],
): Promise<void> {
  for (const path of new Set(cards.flatMap(({ values }) => Object.keys(values)))) {
    const having = cards.filter(({ values }) => Object.hasOwn(values, path));
    const rows = having.map(
      ({ cardId, values }): CardPatchRow => ({ card_id: cardId, patch: inputOf({ [path]: values[path]! }) }),
    );
    const errors = await patchEachWithin(work, ctx, rows);
    for (const [k, { n }] of having.entries()) {
      const answer = answers[n]!;
      if (errors[k] && answer.kind === 'done')
        answers[n] = { ...answer, unwritten: { ...answer.unwritten, [path]: why(errors[k]) } };
    }
  }
}

const withoutTexts = (values: Record<Path, Value>): Record<Path, Value> =>
  Object.fromEntries(Object.entries(values).filter(([path]) => !texts.has(path)));

const reasonsOf = (unwritten: Record<Path, string>): string =>
  Object.values(unwritten).length === 1
    ? Object.values(unwritten)[0]!
    : Object.entries(unwritten)
        .map(([path, reason]) => `${path}: ${reason}`)
        .join('; ');

/** A write with those of its own values that a card can take at all; `unwritten`: why it cannot take the others. */
type Readable<T> = T & { values: Record<Path, Value>; input: CardInput; unwritten: Record<Path, string> };

function readable<T extends { write: { values: Record<Path, Value> } }>(one: T): Readable<T> {
  const values: Record<Path, Value> = {};
  const unwritten: Record<Path, string> = {};
  for (const [path, value] of Object.entries(withoutRelated(one.write.values).own)) {
    const fault = faultIn(path, value);
    if (fault === undefined) values[path] = value;
    else unwritten[path] = fault;
  }
  return { ...one, values, unwritten, input: inputOf(values) };
}

function faultIn(path: Path, value: Value): string | undefined {
  if (path === 'parent_id' && value !== null && (typeof value !== 'string' || !isUuid(value)))
    return `${formatValue(value)} is no card.`;
  if (texts.has(path) && typeof value === 'object' && value !== null) return 'It takes no list.';
  return undefined;
}

/** Values by path as a card takes them. */
function inputOf(values: Record<Path, Value>): CardInput {
  const input: CardInput = {};
  for (const [path, value] of Object.entries(values)) {
    if (path === 'parent_id') input.parent_id = value as string | null;
    else if (texts.has(path)) {
      (input as Record<string, unknown>)[path] = value === null ? null : String(value);
    } else {
      const dot = path.indexOf('.');
      const object = path.slice(0, dot) === 'lifecycle' ? 'lifecycle' : 'attributes';
      input[object] = { ...input[object], [path.slice(dot + 1)]: value };
    }
  }
  return input;
}

/** Relations that a card is to have: exactly those to the cards of the value. */
interface WantedRelated {
  /** The write that it belongs to. */
  n: number;
  cardId: string;
  path: Path;
  value: Value;
}

/** Values of a write that are the card's own, and those that are its relations. */
function withoutRelated(values: Record<Path, Value>): {
  own: Record<Path, Value>;
  related: Record<Path, Value>;
} {
  const own: Record<Path, Value> = {};
  const related: Record<Path, Value> = {};
  for (const [path, value] of Object.entries(values)) (relatedPath(path) ? related : own)[path] = value;
  return { own, related };
}

/** Ids of cards in a value of relations. */
const idsIn = (value: Value): string[] =>
  (Array.isArray(value) ? value : [value]).filter((id): id is string => typeof id === 'string' && id !== '');

interface Present {
  type: string;
  source_id: string;
  target_id: string;
  attributes: Record<string, unknown>;
  description: string | null;
}

/**
 * Leads the relations of cards to where they are wanted, by the rules that hold for everybody's. What is refused of one card
 * leaves its relations as they were, and stops no other.
 * @returns by place in `wanted`, why it was refused.
 */
async function relateWithin(
  work: Work,
  ctx: Ctx,
  wanted: readonly WantedRelated[],
): Promise<Map<number, string>> {
  const refused = new Map<number, string>();
  if (wanted.length === 0) return refused;
  const steps = await stepsOf(work, wanted);
  const operations = steps.map(({ operation }, row_index): BulkOperation => ({ ...operation, row_index }));
  for (const { row_index, error } of await bulkRelationsWithin(work, ctx, operations)) {
    const { at } = steps[row_index]!;
    if (error !== null && !refused.has(at)) refused.set(at, error);
  }
  // what went to make room comes back
  const back = steps
    .filter(({ at, before }) => before !== undefined && refused.has(at))
    .map(({ operation, before }, row_index): BulkOperation => {
      const { attributes, description } = before!;
      return { ...operation, row_index, action: 'upsert', attributes, description } as BulkOperation;
    });
  if (back.length > 0) await bulkRelationsWithin(work, ctx, back);
  return refused;
}

interface Step {
  at: number;
  operation: Omit<BulkOperation, 'row_index'>;
  /** What a step takes away. */
  before?: Present;
}

/** First what goes, then what comes, so that there is room for it. */
async function stepsOf({ sql }: Work, wanted: readonly WantedRelated[]): Promise<Step[]> {
  const gone: Step[] = [];
  const come: Step[] = [];
  for (const [path, ofPath] of Map.groupBy(
    wanted.map((one, at) => ({ ...one, at })),
    ({ path }) => path,
  )) {
    const field = relatedFields([path])[0]!;
    const { relationType: type, own, other } = field;
    const { rows } = await sql.raw(
      `select type, source_id, target_id, attributes, description from relations
       where type = ? and ${own} = any(?::uuid[]) order by id`,
      [type, ofPath.map(({ cardId }) => cardId)],
    );
    const present = Map.groupBy(rows as Present[], (row) => row[own]);
    for (const { at, cardId, value } of ofPath) {
      const there = present.get(cardId) ?? [];
      const ids = new Set(idsIn(value));
      for (const before of there) {
        if (!ids.has(before[other]))
          gone.push({ at, operation: operationOf('delete', field, cardId, before[other]), before });
      }
      for (const id of ids) {
        if (!there.some((row) => row[other] === id))
          come.push({ at, operation: operationOf('upsert', field, cardId, id) });
      }
    }
  }
  return [...gone, ...come];
}

function operationOf(
  action: BulkOperation['action'],
  { relationType: type, own }: RelatedField,
  cardId: string,
  otherId: string,
): Step['operation'] {
  const [source, target] = own === 'source_id' ? [cardId, otherId] : [otherId, cardId];
  return { action, type, source: { id: source }, target: { id: target } };
}

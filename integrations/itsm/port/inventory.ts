import { parseRelationPath } from '../../../domain/exchange/itsm/mappings.rules.ts';
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
import { formatValue } from '../engine/fields.ts';
import type { Path } from '../engine/model.types.ts';
import type { LocalWrite } from '../engine/plan.types.ts';
import { type RelatedField, relatedFields } from './local.cards.ts';

/** The result of a write: the card, or why it was refused. */
type LocalWriteResult =
  /** `unwritten`: paths that could not be written, and why. */
  | { kind: 'done'; cardId: string | null; unwritten?: Record<Path, string> }
  | { kind: 'refused'; message: string };

/** A write with its index. */
interface Numbered<K extends LocalWrite['kind']> {
  n: number;
  write: Extract<LocalWrite, { kind: K }>;
}

const textFields: ReadonlySet<Path> = new Set(['name', 'alias', 'description', 'subtype', 'external_id']);

/**
 * Executes independent writes with the bulk operations of the inventory, which check the same rules as the API. The cards must be
 * locked. A refused write does not affect the others.
 * @returns the results in the order of the writes.
 */
export async function writeInventory(
  work: Work,
  ctx: Ctx,
  writes: readonly LocalWrite[],
): Promise<LocalWriteResult[]> {
  const results: LocalWriteResult[] = [];
  const writesOf = <K extends LocalWrite['kind']>(...kinds: K[]): Numbered<K>[] =>
    writes.flatMap((write, n) => (kinds.includes(write.kind as K) ? [{ n, write } as Numbered<K>] : []));
  const setResult = (n: number, cardId: string | null, error: EstateError | null) => {
    results[n] = error ? { kind: 'refused', message: describeError(error) } : { kind: 'done', cardId };
  };

  const creations = writesOf('create').map((one) => withInput(one));
  if (!may(ctx.caller, 'inventory.create')) {
    for (const { n } of creations) setResult(n, null, forbidden('inventory.create'));
  } else await createCards(work, ctx, creations, results);
  // relations are written before the other values of a card
  const updates = writesOf('update').map((one) => withInput(one));
  const related = [...relationValues(creations, results), ...relationValues(updates, results)];
  const unwrittenRelations = new Map<number, Record<Path, string>>();
  for (const [at, message] of await writeRelations(work, ctx, related)) {
    const { n, path } = related[at]!;
    unwrittenRelations.set(n, { ...unwrittenRelations.get(n), [path]: message });
  }
  await patchCards(work, ctx, updates, results);
  for (const { n, write, unwritten } of [...creations, ...updates]) {
    const result = results[n]!;
    const all = {
      ...unwritten,
      ...(result.kind === 'done' && result.unwritten),
      ...unwrittenRelations.get(n),
    };
    if (result.kind !== 'done' || Object.keys(all).length === 0) continue;
    const isAll = write.kind === 'update' && Object.keys(all).length === Object.keys(write.values).length;
    results[n] = isAll ? { kind: 'refused', message: joinReasons(all) } : { ...result, unwritten: all };
  }
  for (const [kind, act] of [
    ['archive', archiveEachWithin],
    ['restore', restoreEachWithin],
  ] as const) {
    const chosen = writesOf(kind);
    const errors = await act(
      work,
      ctx,
      chosen.map(({ write }) => write.cardId),
    );
    for (const [k, { n, write }] of chosen.entries()) setResult(n, write.cardId, errors[k]!);
  }
  const relations = writesOf('relate', 'unrelate');
  if (relations.length > 0) {
    const operations = relations.map(({ n, write }) => ({
      row_index: n,
      action: write.kind === 'relate' ? ('upsert' as const) : ('delete' as const),
      type: write.relationType,
      source: { id: write.source! },
      target: { id: write.target! },
    }));
    for (const { row_index: n, error } of await bulkRelationsOfLocked(work, ctx, operations)) {
      results[n] = error === null ? { kind: 'done', cardId: null } : { kind: 'refused', message: error };
    }
  }
  return results;
}

/** The lock of the card hierarchy: exclusive to move, archive or restore cards, shared to create children; null: none. */
export function hierarchyLockOf(writes: readonly LocalWrite[]): 'exclusive' | 'shared' | null {
  const isExclusive = writes.some(
    (write) =>
      write.kind === 'archive' ||
      write.kind === 'restore' ||
      (write.kind === 'update' && 'parent_id' in write.values),
  );
  if (isExclusive) return 'exclusive';
  return writes.some((write) => write.kind === 'create' && write.values.parent_id) ? 'shared' : null;
}

/** Ids of the cards that the writes affect, including both ends of relations. */
export const affectedCards = (writes: readonly LocalWrite[]): string[] =>
  writes.flatMap((write) => {
    if (write.kind === 'relate' || write.kind === 'unrelate')
      return [write.source, write.target].filter((id) => id !== null);
    const others = 'values' in write ? Object.values(splitValues(write.values).related).flatMap(idsIn) : [];
    return 'cardId' in write ? [write.cardId, ...others] : others;
  });

/** The relation values of existing and of just created cards. */
const relationValues = (
  writes: readonly { n: number; write: Extract<LocalWrite, { kind: 'create' | 'update' }> }[],
  results: readonly LocalWriteResult[],
): RelationValue[] =>
  writes.flatMap(({ n, write }) => {
    const result = results[n];
    const cardId = write.kind === 'update' ? write.cardId : result?.kind === 'done' ? result.cardId : null;
    if (cardId === null) return [];
    return Object.entries(splitValues(write.values).related).map(([path, value]) => ({
      n,
      cardId,
      path,
      value,
    }));
  });

const describeError = ({ message, errors }: EstateError): string =>
  errors === undefined
    ? message
    : errors.map(({ field, message: text }) => `${field} ${text}`).join('; ') || message;

type NewCard = WithInput<Numbered<'create'>>;
type ChangedCard = WithInput<Numbered<'update'>>;

/** Members of a new card that can be written separately after its creation. */
const separable: readonly (keyof CardInput)[] = ['parent_id', 'lifecycle', 'attributes'];

/** Creates cards. A refused card is created without its separable members, which are then written value by value. */
async function createCards(
  work: Work,
  ctx: Ctx,
  created: readonly NewCard[],
  results: LocalWriteResult[],
): Promise<void> {
  const rowOf = ({ n, write, input }: NewCard) => ({
    ...input,
    row_index: n,
    type: write.cardType,
    name: input.name ?? '',
  });
  const create = async (cards: readonly NewCard[]) => {
    if (cards.length === 0) return;
    for (const { row_index: n, id, error } of await createCardsWithin(work, ctx, cards.map(rowOf))) {
      results[n] = error === null ? { kind: 'done', cardId: id } : { kind: 'refused', message: error };
    }
  };
  await create(created);
  const refused = created.filter(
    ({ n, input }) => results[n]?.kind === 'refused' && separable.some((member) => input[member] != null),
  );
  const withoutSeparable = ({ parent_id: _, lifecycle: __, attributes: ___, ...input }: CardInput) => input;
  const refusals = new Map(refused.map(({ n }) => [n, results[n]!]));
  await create(refused.map((one) => ({ ...one, input: withoutSeparable(one.input) })));
  const values = refused.flatMap((one) => {
    const result = results[one.n]!;
    if (result.kind !== 'done' || result.cardId === null) {
      results[one.n] = refusals.get(one.n)!;
      return [];
    }
    return [{ n: one.n, cardId: result.cardId, values: withoutTextFields(one.values) }];
  });
  await patchEachValue(work, ctx, values, results);
}

/** Updates cards. If an update is refused, each value is written by itself. */
async function patchCards(
  work: Work,
  ctx: Ctx,
  updated: readonly ChangedCard[],
  results: LocalWriteResult[],
): Promise<void> {
  if (updated.length === 0) return;
  const rows = updated.map(({ write, input }): CardPatchRow => ({ card_id: write.cardId, patch: input }));
  const errors = await patchEachWithin(work, ctx, rows);
  const refused: CardValues[] = [];
  for (const [k, { n, write, values }] of updated.entries()) {
    const error = errors[k]!;
    const done: LocalWriteResult = { kind: 'done', cardId: write.cardId };
    if (error && Object.keys(write.values).length > 1) {
      results[n] = done;
      refused.push({ n, cardId: write.cardId, values });
    } else results[n] = error ? { kind: 'refused', message: describeError(error) } : done;
  }
  await patchEachValue(work, ctx, refused, results);
}

/** Values of a card that are written separately. */
interface CardValues {
  n: number;
  cardId: string;
  values: Record<Path, Value>;
}

async function patchEachValue(
  work: Work,
  ctx: Ctx,
  cards: readonly CardValues[],
  results: LocalWriteResult[],
): Promise<void> {
  for (const path of new Set(cards.flatMap(({ values }) => Object.keys(values)))) {
    const withPath = cards.filter(({ values }) => Object.hasOwn(values, path));
    const rows = withPath.map(
      ({ cardId, values }): CardPatchRow => ({ card_id: cardId, patch: inputOf({ [path]: values[path]! }) }),
    );
    const errors = await patchEachWithin(work, ctx, rows);
    for (const [k, { n }] of withPath.entries()) {
      const result = results[n]!;
      if (errors[k] && result.kind === 'done')
        results[n] = { ...result, unwritten: { ...result.unwritten, [path]: describeError(errors[k]) } };
    }
  }
}

const withoutTextFields = (values: Record<Path, Value>): Record<Path, Value> =>
  Object.fromEntries(Object.entries(values).filter(([path]) => !textFields.has(path)));

const joinReasons = (unwritten: Record<Path, string>): string =>
  Object.values(unwritten).length === 1
    ? Object.values(unwritten)[0]!
    : Object.entries(unwritten)
        .map(([path, reason]) => `${path}: ${reason}`)
        .join('; ');

/** A write with its valid values as card input; `unwritten`: why the others are invalid. */
type WithInput<T> = T & { values: Record<Path, Value>; input: CardInput; unwritten: Record<Path, string> };

function withInput<T extends { write: { values: Record<Path, Value> } }>(one: T): WithInput<T> {
  const values: Record<Path, Value> = {};
  const unwritten: Record<Path, string> = {};
  for (const [path, value] of Object.entries(splitValues(one.write.values).own)) {
    const error = findValueError(path, value);
    if (error === undefined) values[path] = value;
    else unwritten[path] = error;
  }
  return { ...one, values, unwritten, input: inputOf(values) };
}

function findValueError(path: Path, value: Value): string | undefined {
  if (path === 'parent_id' && value !== null && (typeof value !== 'string' || !isUuid(value)))
    return `${formatValue(value)} is not a card.`;
  if (textFields.has(path) && typeof value === 'object' && value !== null)
    return 'A text must not be a list.';
  return undefined;
}

/** Converts values by path to card input. */
function inputOf(values: Record<Path, Value>): CardInput {
  const input: CardInput = {};
  for (const [path, value] of Object.entries(values)) {
    if (path === 'parent_id') input.parent_id = value as string | null;
    else if (textFields.has(path)) {
      (input as Record<string, unknown>)[path] = value === null ? null : String(value);
    } else {
      const dot = path.indexOf('.');
      const object = path.slice(0, dot) === 'lifecycle' ? 'lifecycle' : 'attributes';
      input[object] = { ...input[object], [path.slice(dot + 1)]: value };
    }
  }
  return input;
}

/** A relation value: the card gets exactly the relations to the cards of the value. */
interface RelationValue {
  /** The index of its write. */
  n: number;
  cardId: string;
  path: Path;
  value: Value;
}

/** Splits values into those of the card itself and those of its relations. */
function splitValues(values: Record<Path, Value>): {
  own: Record<Path, Value>;
  related: Record<Path, Value>;
} {
  const own: Record<Path, Value> = {};
  const related: Record<Path, Value> = {};
  for (const [path, value] of Object.entries(values)) (parseRelationPath(path) ? related : own)[path] = value;
  return { own, related };
}

/** The card ids in a relation value. */
const idsIn = (value: Value): string[] =>
  (Array.isArray(value) ? value : [value]).filter((id): id is string => typeof id === 'string' && id !== '');

interface StoredRelation {
  type: string;
  source_id: string;
  target_id: string;
  attributes: Record<string, unknown>;
  description: string | null;
}

/**
 * Writes relation values with the bulk operation of the inventory. The relations of a refused value remain unchanged, and the
 * others are not affected. @returns by index in `wanted`, why it was refused.
 */
async function writeRelations(
  work: Work,
  ctx: Ctx,
  wanted: readonly RelationValue[],
): Promise<Map<number, string>> {
  const refused = new Map<number, string>();
  if (wanted.length === 0) return refused;
  const steps = await planRelationSteps(work, wanted);
  const operations = steps.map(({ operation }, row_index): BulkOperation => ({ ...operation, row_index }));
  for (const { row_index, error } of await bulkRelationsWithin(work, ctx, operations)) {
    const { at } = steps[row_index]!;
    if (error !== null && !refused.has(at)) refused.set(at, error);
  }
  // restore what was removed for refused relations
  const restored = steps
    .filter(({ at, before }) => before !== undefined && refused.has(at))
    .map(({ operation, before }, row_index): BulkOperation => {
      const { attributes, description } = before!;
      return { ...operation, row_index, action: 'upsert', attributes, description } as BulkOperation;
    });
  if (restored.length > 0) await bulkRelationsWithin(work, ctx, restored);
  return refused;
}

interface RelationStep {
  at: number;
  operation: Omit<BulkOperation, 'row_index'>;
  /** The relation that a step removes. */
  before?: StoredRelation;
}

/** The removals, then the additions, which can depend on them by limits on the number of relations. */
async function planRelationSteps({ sql }: Work, wanted: readonly RelationValue[]): Promise<RelationStep[]> {
  const removals: RelationStep[] = [];
  const additions: RelationStep[] = [];
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
    const present = Map.groupBy(rows as StoredRelation[], (row) => row[own]);
    for (const { at, cardId, value } of ofPath) {
      const existing = present.get(cardId) ?? [];
      const ids = new Set(idsIn(value));
      for (const before of existing) {
        if (!ids.has(before[other]))
          removals.push({ at, operation: operationOf('delete', field, cardId, before[other]), before });
      }
      for (const id of ids) {
        if (!existing.some((row) => row[other] === id))
          additions.push({ at, operation: operationOf('upsert', field, cardId, id) });
      }
    }
  }
  return [...removals, ...additions];
}

function operationOf(
  action: BulkOperation['action'],
  { relationType: type, own }: RelatedField,
  cardId: string,
  otherId: string,
): RelationStep['operation'] {
  const [source, target] = own === 'source_id' ? [cardId, otherId] : [otherId, cardId];
  return { action, type, source: { id: source }, target: { id: target } };
}

import { parseRelationPath } from '../../../../domain/exchange/itsm/mappings.rules.ts';
import type { Value } from '../../../../domain/exchange/itsm/mappings.types.ts';
import { createCardsWithin } from '../../../../domain/inventory/cards/bulk/bulk.create.ts';
import {
  archiveEachWithin,
  type CardPatchRow,
  patchEachWithin,
  restoreEachWithin,
} from '../../../../domain/inventory/cards/bulk/bulk.each.ts';
import type { CardInput } from '../../../../domain/inventory/cards/rules/diff.ts';
import {
  type BulkOperation,
  bulkRelationsOfLocked,
  bulkRelationsWithin,
} from '../../../../domain/inventory/relations/relations.bulk.ts';
import type { StoredRelation } from '../../../../domain/inventory/relations/relations.model.ts';
import type { Ctx, Work } from '../../../../domain/kernel/context.ts';
import { forbidden, may } from '../../../../domain/kernel/permissions/policy.ts';
import { embed, query } from '../../../../platform/database.ts';
import type { EstateError } from '../../../../platform/errors.ts';
import { isUuid } from '../../../../platform/uuid.ts';
import { formatValue } from '../engine/fields.ts';
import type { Path } from '../engine/model.types.ts';
import type { LocalWrite } from '../engine/plan.types.ts';
import { type RelatedField, relatedFields } from './local.cards.ts';

/** The result of a write: the card, or why it was refused. */
type LocalWriteResult =
  /** `unwritten`: paths that could not be written, and why. */
  | { kind: 'done'; cardId: string | null; unwritten?: Record<Path, string> }
  | { kind: 'refused'; message: string };

/** A write and its outcome so far. */
interface Entry<K extends LocalWrite['kind'] = LocalWrite['kind']> {
  write: LocalWrite & { kind: K };
  /** Null if no card is written, or it does not exist yet. */
  cardId: string | null;
  refusal: string | null;
  /** By path, why values were not written. */
  unwritten: Record<Path, string>;
}

/** A write of card values: the valid ones of the card itself, and those that are its relations. */
type ValueEntry<K extends 'create' | 'update' = 'create' | 'update'> = Entry<K> & {
  own: Record<Path, Value>;
  related: Record<Path, Value>;
};

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
  const entries = writes.map(
    (write): Entry => ({
      write,
      cardId: 'cardId' in write ? write.cardId : null,
      refusal: null,
      unwritten: {},
    }),
  );
  const entriesOf = <K extends LocalWrite['kind']>(...kinds: K[]) =>
    entries.filter(({ write }) => (kinds as string[]).includes(write.kind)) as Entry<K>[];

  const creations = entriesOf('create').map(withValidValues);
  const updates = entriesOf('update').map(withValidValues);
  if (may(ctx.caller, 'inventory.create')) await createCards(work, ctx, creations);
  else for (const one of creations) one.refusal = forbidden('inventory.create').message;
  // relations are written before the other values of a card
  const accepted = [...creations, ...updates].filter(({ refusal }) => refusal === null);
  await writeRelations(work, ctx, accepted);
  await patchCards(work, ctx, updates);
  for (const one of updates) {
    const isAll = Object.keys(one.unwritten).length === Object.keys(one.write.values).length;
    if (isAll && one.refusal === null && Object.keys(one.unwritten).length > 0)
      one.refusal = joinReasons(one.unwritten);
  }
  for (const [kind, act] of [
    ['archive', archiveEachWithin],
    ['restore', restoreEachWithin],
  ] as const) {
    const chosen = entriesOf(kind);
    const ids = chosen.map(({ write }) => write.cardId);
    for (const [n, error] of (await act(work, ctx, ids)).entries())
      if (error) chosen[n]!.refusal = describeError(error);
  }
  const relations = entriesOf('relate', 'unrelate');
  if (relations.length > 0) {
    const operations = relations.map(({ write }, row_index) => ({
      row_index,
      action: write.kind === 'relate' ? ('upsert' as const) : ('delete' as const),
      type: write.relationType,
      source: { id: write.source },
      target: { id: write.target },
    }));
    for (const { row_index, error } of await bulkRelationsOfLocked(work, ctx, operations))
      relations[row_index]!.refusal = error;
  }
  return entries.map(({ cardId, refusal, unwritten }) =>
    refusal === null ? { kind: 'done', cardId, unwritten } : { kind: 'refused', message: refusal },
  );
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
    if (write.kind === 'relate' || write.kind === 'unrelate') return [write.source, write.target];
    const others = 'values' in write ? Object.values(splitValues(write.values).related).flatMap(idsIn) : [];
    return 'cardId' in write ? [write.cardId, ...others] : others;
  });

const describeError = ({ message, errors }: EstateError): string =>
  errors === undefined
    ? message
    : errors.map(({ field, message: text }) => `${field} ${text}`).join('; ') || message;

/** Members of a new card that can be written separately after its creation. */
const separable: readonly (keyof CardInput)[] = ['parent_id', 'lifecycle', 'attributes'];

/** Creates cards. A refused card is created without its separable members, which are then written value by value. */
async function createCards(work: Work, ctx: Ctx, cards: readonly ValueEntry<'create'>[]): Promise<void> {
  const create = async (some: readonly ValueEntry<'create'>[], inputFor: (one: ValueEntry) => CardInput) => {
    if (some.length === 0) return;
    const rows = some.map((one, row_index) => {
      const input = inputFor(one);
      return { ...input, row_index, type: one.write.cardType, name: input.name ?? '' };
    });
    for (const { row_index, id, error } of await createCardsWithin(work, ctx, rows))
      Object.assign(some[row_index]!, { cardId: id, refusal: error });
  };
  await create(cards, ({ own }) => inputOf(own));
  const refused = cards.filter(
    ({ refusal, own }) => refusal !== null && separable.some((member) => inputOf(own)[member] != null),
  );
  const refusals = refused.map(({ refusal }) => refusal);
  await create(refused, ({ own }) => {
    const { parent_id: _, lifecycle: __, attributes: ___, ...input } = inputOf(own);
    return input;
  });
  for (const [n, one] of refused.entries()) if (one.refusal !== null) one.refusal = refusals[n]!;
  const created = refused.filter(({ refusal }) => refusal === null);
  await patchEachValue(work, ctx, created, (path) => !textFields.has(path));
}

/** Updates cards. If an update is refused, each value is written by itself. */
async function patchCards(work: Work, ctx: Ctx, cards: readonly ValueEntry<'update'>[]): Promise<void> {
  if (cards.length === 0) return;
  const rows = cards.map(({ write, own }): CardPatchRow => ({ card_id: write.cardId, patch: inputOf(own) }));
  const refused: ValueEntry[] = [];
  for (const [n, error] of (await patchEachWithin(work, ctx, rows)).entries()) {
    const one = cards[n]!;
    if (error && Object.keys(one.write.values).length > 1) refused.push(one);
    else if (error) one.refusal = describeError(error);
  }
  await patchEachValue(work, ctx, refused, () => true);
}

async function patchEachValue(
  work: Work,
  ctx: Ctx,
  cards: readonly ValueEntry[],
  isWritten: (path: Path) => boolean,
): Promise<void> {
  for (const path of new Set(cards.flatMap(({ own }) => Object.keys(own)).filter(isWritten))) {
    const withPath = cards.filter(({ own }) => Object.hasOwn(own, path));
    const rows = withPath.map(
      ({ cardId, own }): CardPatchRow => ({ card_id: cardId!, patch: inputOf({ [path]: own[path]! }) }),
    );
    for (const [n, error] of (await patchEachWithin(work, ctx, rows)).entries())
      if (error) withPath[n]!.unwritten[path] = describeError(error);
  }
}

const joinReasons = (unwritten: Record<Path, string>): string =>
  Object.values(unwritten).length === 1
    ? Object.values(unwritten)[0]!
    : Object.entries(unwritten)
        .map(([path, reason]) => `${path}: ${reason}`)
        .join('; ');

/** Splits the values of a write; invalid ones are not written. */
function withValidValues<E extends Entry<'create' | 'update'>>(
  one: E,
): E & Pick<ValueEntry, 'own' | 'related'> {
  const { own, related } = splitValues(one.write.values);
  for (const [path, value] of Object.entries(own)) {
    const error = findValueError(path, value);
    if (error === undefined) continue;
    one.unwritten[path] = error;
    delete own[path];
  }
  return Object.assign(one, { own, related });
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

/**
 * Writes relation values with the bulk operation of the inventory: a card gets exactly the relations to the cards of the value. The
 * relations of a refused value remain unchanged, and the others are not affected.
 */
async function writeRelations(work: Work, ctx: Ctx, cards: readonly ValueEntry[]): Promise<void> {
  const wanted = cards.flatMap((entry) =>
    Object.entries(entry.related).map(([path, value]): RelationValue => ({ entry, path, value })),
  );
  if (wanted.length === 0) return;
  const steps = await planRelationSteps(work, wanted);
  const operations = steps.map(({ operation }, row_index): BulkOperation => ({ ...operation, row_index }));
  for (const { row_index, error } of await bulkRelationsWithin(work, ctx, operations)) {
    const { entry, path } = steps[row_index]!.of;
    if (error !== null) entry.unwritten[path] ??= error;
  }
  // restore what was removed for refused relations
  const restored = steps
    .filter(({ of: { entry, path }, before }) => before !== undefined && path in entry.unwritten)
    .map(({ operation, before }, row_index): BulkOperation => {
      const { attributes, description } = before!;
      return { ...operation, row_index, action: 'upsert', attributes, description } as BulkOperation;
    });
  if (restored.length > 0) await bulkRelationsWithin(work, ctx, restored);
}

interface RelationValue {
  entry: ValueEntry;
  path: Path;
  value: Value;
}

interface RelationStep {
  of: RelationValue;
  operation: Omit<BulkOperation, 'row_index'>;
  /** The relation that a step removes. */
  before?: Omit<StoredRelation, 'id'>;
}

/** The removals, then the additions, which can depend on them by limits on the number of relations. */
async function planRelationSteps({ sql }: Work, wanted: readonly RelationValue[]): Promise<RelationStep[]> {
  const removals: RelationStep[] = [];
  const additions: RelationStep[] = [];
  for (const [path, ofPath] of Map.groupBy(wanted, (one) => one.path)) {
    const field = relatedFields([path])[0]!;
    const { relationType: type, own, other } = field;
    const rows = await query(sql)
      .rows`select type, source_id, target_id, attributes, description from relations
       where type = ${type} and ${embed(own)} = any(${ofPath.map(({ entry }) => entry.cardId)}::uuid[]) order by id`;
    const present = Map.groupBy(rows as Omit<StoredRelation, 'id'>[], (row) => row[own]);
    for (const of of ofPath) {
      const cardId = of.entry.cardId!;
      const existing = present.get(cardId) ?? [];
      const ids = new Set(idsIn(of.value));
      for (const before of existing) {
        if (!ids.has(before[other]))
          removals.push({ of, operation: operationOf('delete', field, cardId, before[other]), before });
      }
      for (const id of ids) {
        if (!existing.some((row) => row[other] === id))
          additions.push({ of, operation: operationOf('upsert', field, cardId, id) });
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

import { embed, query, type Sql } from '../../../../platform/database.ts';
import { EstateError, type FieldError, invalidField } from '../../../../platform/errors.ts';
import { cleanName } from '../../../../platform/storable.ts';
import { commandWith } from '../../../kernel/command.ts';
import type { Ctx, Work } from '../../../kernel/context.ts';
import type { CardType } from '../../../kernel/metamodel/metamodel.compile.ts';
import { requirePermission } from '../../../kernel/permissions/policy.ts';
import { type CardRef, resolveRefs } from '../../relations/relations.load.ts';
import { lockHierarchy, type StoredCard } from '../cards.load.ts';
import { visibleCards } from '../cards.projection.ts';
import { insertCards, newIds } from '../cards.save.ts';
import { type ParentCard, readParents, requireFittingParent } from '../cards.tree.ts';
import { findTaken, guardUnique, siblingOf, type TakenKeys, takenKeyError } from '../cards.unique.ts';
import { newCard, requireCreatable } from '../cards.write.ts';
import { LEVEL_FIELD, MACRO, type Place } from '../rules/capability.ts';
import type { ApprovalStatus, CardInput } from '../rules/diff.ts';
import { cleanCardInput, presentInput } from '../rules/values.ts';

interface BulkCreateResult {
  row_index: number;
  status: 'created' | 'failed';
  id: string | null;
  /** Why a row failed. */
  error: string | null;
  code: string | null;
  /** The errors of its members. */
  errors?: readonly FieldError[];
}

/** How often rows are checked again if concurrent writers have taken their names. */
const MAX_ATTEMPTS = 3;

/**
 * Creates many cards in one transaction and a fixed number of statements; each row is checked like a single creation. A
 * row's parent may be an earlier row. A failed row is reported; other rows are created, except its descendants.
 * @throws EstateError `forbidden` without `inventory.create`.
 */
export async function createCards(ctx: Ctx, rows: BulkCreateRow[], dryRun: boolean) {
  requirePermission(ctx.caller, 'inventory.create');
  const results = await commandWith(ctx, { dryRun }, (work) => createCardsWithin(work, ctx, rows));
  const created = results.filter(({ status }) => status === 'created').length;
  return { results, created, failed: results.length - created, dry_run: dryRun };
}

/** {@link createCards} within another command: one result for each row. */
export async function createCardsWithin(
  work: Work,
  ctx: Ctx,
  rows: BulkCreateRow[],
): Promise<BulkCreateResult[]> {
  if (rows.some((row) => row.parent_id || row.parent_path || row.parent_name)) {
    await lockHierarchy(work.sql, 'shared');
  }
  const ids = await newIds(work, rows.length);
  const clean = rows.map((row) => {
    const cleaned = { ...row, ...cleanCardInput(row), name: cleanName(row.name) };
    return presentInput(work.metamodel, row.type, cleaned);
  });
  for (let attempt = 1; ; attempt += 1) {
    const around = await readContext(work.sql, ctx, clean);
    const made = createdCards();
    const outcomes = clean.map((row, n) => outcomeOf(work, ctx, { row, n, id: ids[n]! }, around, made));
    const cards = outcomes.flatMap((outcome) => ('card' in outcome ? outcome.card : []));
    try {
      await guardUnique(work.sql, cards, (sql) => insertCards({ ...work, sql }, ctx, cards));
    } catch (error) {
      // A concurrent writer has created the card meanwhile: it is visible now.
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

type Outcome = { card: StoredCard } | { error: string; code: string; errors?: readonly FieldError[] };

interface NumberedRow {
  row: BulkCreateRow;
  n: number;
  id: string;
}

/** Checks one row against the inventory and the cards of earlier rows. */
function outcomeOf(
  work: Work,
  ctx: Ctx,
  numbered: NumberedRow,
  around: Surroundings,
  made: CreatedCards,
): Outcome {
  try {
    const parent = findParent(numbered.row, around, made);
    const card = cardOf(work, ctx, numbered, parent);
    refuseTaken(work, card, numbered.n, around, made);
    addCreated(made, card, parent, around);
    return { card };
  } catch (error) {
    if (!(error instanceof EstateError)) throw error;
    const { errors } = error;
    return { error: error.message, code: errors?.[0]?.code ?? error.code, ...(errors && { errors }) };
  }
}

function cardOf(work: Work, ctx: Ctx, { row, id }: NumberedRow, parent: FoundParent): StoredCard {
  const type = requireCreatable(work, ctx, row);
  const approval_status = row.approval_status ?? 'DRAFT';
  if (approval_status !== 'DRAFT') requirePermission(ctx.caller, 'inventory.approval_status');
  return { ...newCard(type, id, row, parent.id, parent.under(type)), approval_status };
}

/** A name or external id that a stored card or an earlier row already uses. */
function refuseTaken(
  work: Work,
  card: StoredCard,
  n: number,
  around: Surroundings,
  made: CreatedCards,
): void {
  const stored = around.taken.get(n) ?? {};
  const sibling = stored.sibling ?? refusedBy(work, card, around, made);
  if (sibling) throw takenKeyError('cards_sibling_name', sibling);
  const holder = stored.external_id ?? (card.external_id && made.byExternalId(card.type, card.external_id));
  if (holder) throw takenKeyError('cards_external_id', holder);
}

/** The card of an earlier row that has the name and does not allow another one to have it. */
function refusedBy(
  { metamodel }: Work,
  card: StoredCard,
  around: Surroundings,
  made: CreatedCards,
): string | undefined {
  const siblings = made.below(card.type, card.parent_id, around.lower(card.name));
  if (!metamodel.cardTypes.get(card.type)?.allow_same_name) return siblings[0]?.id;
  return siblings.find((other) => !card.external_id || !other.external_id)?.id;
}

/** Reads what is needed to check the rows. */
async function readContext(sql: Sql, ctx: Ctx, rows: BulkCreateRow[]): Promise<Surroundings> {
  const names = rows.flatMap((row) => [row.name, ...pathOf(row)]);
  const lowered = await lowerCase(sql, names);
  const lower = (text: string) => lowered.get(text) ?? text;
  const keyOf = (type: string, name: string, id: string | null = null) => JSON.stringify([type, name, id]);

  const refs = new Map<string, CardRef>();
  for (const row of rows) {
    if (row.parent_id) refs.set(keyOf(row.type, '', row.parent_id), { id: row.parent_id });
    else if (!row.parent_path && row.parent_name)
      refs.set(keyOf(row.type, row.parent_name), { type: row.type, name: row.parent_name });
  }
  const resolved = await resolveRefs(sql, ctx, [...refs.values()]);
  const found = new Map([...refs.keys()].map((key, n) => [key, resolved[n]!]));
  const idAt = (key: string): string | undefined => {
    const ref = found.get(key);
    return ref && 'id' in ref ? ref.id : undefined;
  };
  const onPaths = rows.filter((row) => row.parent_path);
  const paths = await readPaths(sql, ctx, onPaths, lower);
  const ids = resolved.flatMap((ref) => ('id' in ref ? ref.id : []));
  const parents = await readParents(sql, [...new Set([...ids, ...paths.ids])]);

  // The parent is a row of this request, so no stored card can conflict.
  const parentOf = (row: BulkCreateRow): string | null | undefined => {
    if (row.parent_id) return idAt(keyOf(row.type, '', row.parent_id));
    if (row.parent_path) return paths.endOf(row);
    return row.parent_name ? idAt(keyOf(row.type, row.parent_name)) : null;
  };
  const NOWHERE = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
  const taken = await findTaken(
    sql,
    rows.map((row) => {
      const parent_id = parentOf(row);
      const { type, name } = row;
      return {
        type,
        name,
        parent_id: parent_id === undefined ? NOWHERE : parent_id,
        external_id: row.external_id ?? null,
      };
    }),
  );
  return {
    lower,
    childrenNamed: paths.childrenNamed,
    named(type, name) {
      const ref = found.get(keyOf(type, name));
      if (!ref) return [];
      if ('id' in ref) return [ref.id];
      return ref.error === 'ambiguous' ? ['', ''] : [];
    },
    parents,
    taken,
  };
}

/**
 * Reads the visible cards on the paths of the rows, level by level from the roots, as far as cards are stored.
 * @returns their ids; the child of a name; and the card at the end of a row's path: null for an empty path, undefined if none.
 */
async function readPaths(sql: Sql, ctx: Ctx, rows: BulkCreateRow[], lower: (text: string) => string) {
  const visible = embed(visibleCards(ctx));
  const children = new Map<string, string[]>();
  const keyOf = (type: string, parent: string | null, name: string) => JSON.stringify([type, parent, name]);
  const childrenNamed: Surroundings['childrenNamed'] = (...place) => children.get(keyOf(...place)) ?? [];
  // an ambiguous step is refused before its card is used
  const childNamed = (...place: Parameters<typeof childrenNamed>) => childrenNamed(...place)[0];
  let walks = rows.map((row) => ({
    type: row.type,
    at: null as string | null,
    names: pathOf(row).map(lower),
  }));
  for (let level = 0; ; level += 1) {
    walks = walks.filter(({ names }) => names.length > level);
    if (walks.length === 0) break;
    const column = (value: (walk: (typeof walks)[number]) => string | null) => walks.map(value);
    const found = await query(sql).rows<{ type: string; at: string | null; name: string; id: string }>`
      select distinct v.type, v.at, v.name, o.id
      from unnest(${column(({ type }) => type)}::text[], ${column(({ at }) => at)}::uuid[],
        ${column(({ names }) => names[level]!)}::text[]) as v(type, at, name)
      join cards o on ${embed(siblingOf('v.type', 'v.at', 'v.name'))}
      where exists (select from cards c where c.id = o.id and (${visible}))`;
    for (const { type, at, name, id } of found)
      children.set(keyOf(type, at, name), [...childrenNamed(type, at, name), id]);
    walks = walks.flatMap((walk) => {
      const at = childNamed(walk.type, walk.at, walk.names[level]!);
      return at === undefined ? [] : { ...walk, at };
    });
  }
  return {
    ids: [...new Set([...children.values()].flat())],
    childrenNamed,
    endOf: (row: BulkCreateRow) =>
      pathOf(row).reduce<string | null | undefined>(
        (at, step) => (at === undefined ? undefined : childNamed(row.type, at, lower(step))),
        null,
      ),
  };
}

/** Texts in lower case as PostgreSQL computes it for the unique indexes, which can differ from JavaScript. */
async function lowerCase(sql: Sql, texts: string[]): Promise<Map<string, string>> {
  const wanted = [...new Set(texts)];
  const rows = await query(sql).rows`select lower(trim(v.text)) as lowered
    from unnest(${wanted}::text[]) with ordinality as v(text, n) order by n`;
  return new Map(rows.map((row: { lowered: string }, n: number) => [wanted[n]!, row.lowered]));
}

/** The parent that a row names. */
interface FoundParent {
  id: string | null;
  /** The place of a card of the type below the parent. @throws EstateError if it is not allowed there. */
  under(type: CardType): Place;
}

/** The cards created by earlier rows. */
interface CreatedCards {
  parents: Map<string, ParentCard>;
  /** The cards with the name below a parent: several only in types with `allow_same_name`. */
  below(type: string, parent: string | null, lowerName: string): readonly StoredCard[];
  /** All cards with the name, below any parent. */
  named(type: string, lowerName: string): string[];
  byExternalId(type: string, externalId: string): string | undefined;
  add(card: StoredCard, lowerName: string, parents: ParentCard): void;
}

function createdCards(): CreatedCards {
  const parents = new Map<string, ParentCard>();
  const children = new Map<string, StoredCard[]>();
  const names = new Map<string, string[]>();
  const keys = new Map<string, string>();
  const key = (...parts: (string | null)[]) => JSON.stringify(parts);
  return {
    parents,
    below: (type, parent, name) => children.get(key(type, parent, name)) ?? [],
    named: (type, name) => names.get(key(type, name)) ?? [],
    byExternalId: (type, externalId) => keys.get(key(type, externalId)),
    add(card, name, parent) {
      parents.set(card.id, parent);
      const place = key(card.type, card.parent_id, name);
      children.set(place, [...(children.get(place) ?? []), card]);
      names.set(key(card.type, name), [...(names.get(key(card.type, name)) ?? []), card.id]);
      if (card.external_id) keys.set(key(card.type, card.external_id), card.id);
    },
  };
}

/** Registers the card of a row for later rows. */
function addCreated(made: CreatedCards, card: StoredCard, parent: FoundParent, around: Surroundings): void {
  const above =
    parent.id === null ? undefined : (made.parents.get(parent.id) ?? around.parents.get(parent.id));
  const place: Place = above
    ? { depth: above.place.depth + 1, underMacro: above.place.underMacro }
    : { depth: 2, underMacro: card.attributes[LEVEL_FIELD] === MACRO };
  made.add(card, around.lower(card.name), { id: card.id, type: card.type, status: 'ACTIVE', place });
}

/**
 * Finds the parent that a row names, in the inventory or among the cards of earlier rows.
 * @throws EstateError naming `parent_id`, `parent_path` or `parent_name`.
 */
function findParent(row: BulkCreateRow, around: Surroundings, made: CreatedCards): FoundParent {
  const id = idOf(row, around, made);
  return {
    id,
    under(type) {
      if (id === null) return { depth: 1, underMacro: false };
      const parent = made.parents.get(id) ?? around.parents.get(id);
      requireFittingParent(type, parent);
      return parent!.place;
    },
  };
}

function idOf(row: BulkCreateRow, around: Surroundings, made: CreatedCards): string | null {
  if (row.parent_id) return row.parent_id;
  if (row.parent_path) return walk(row, around, made);
  if (!row.parent_name) return null;
  const stored = around.named(row.type, row.parent_name);
  const candidates = [...stored, ...made.named(row.type, around.lower(row.parent_name))];
  if (candidates.length === 1) return candidates[0]!;
  throw candidates.length === 0
    ? invalidField('parent_name', 'unknown_parent', `there is no card of the type ${row.type} of this name`)
    : invalidField('parent_name', 'ambiguous_parent', 'several cards have this name; give their path');
}

/** Follows the path from its root. */
function walk(row: BulkCreateRow, around: Surroundings, made: CreatedCards): string | null {
  let at: string | null = null;
  for (const [index, step] of pathOf(row).entries()) {
    const name = around.lower(step);
    const stored = around.childrenNamed(row.type, at, name);
    const found: string[] = [...stored, ...made.below(row.type, at, name).map(({ id }) => id)];
    if (found.length > 1) {
      const message = `several cards have the name of step ${index + 1}; give the parent_id`;
      throw invalidField('parent_path', 'ambiguous_path', message);
    }
    at = found[0] ?? missing(index + 1);
  }
  return at;
}

function missing(step: number): never {
  throw invalidField('parent_path', 'unknown_parent', `there is no card at step ${step} of the path`);
}

/** A card to be created, with its parent. */
interface BulkCreateRow extends CardInput {
  row_index: number;
  type: string;
  name: string;
  /** Names from the root to the parent or, if `parent_name` is given, to the parent's parent. */
  parent_path?: string[] | null;
  parent_name?: string | null;
  approval_status?: ApprovalStatus | null;
}

/** The names of a row's ancestors from the root; the parent is last. */
function pathOf({ parent_path, parent_name }: BulkCreateRow): string[] {
  return [...(parent_path ?? []), ...(parent_name ? [parent_name] : [])];
}

/** The stored data that rows are checked against, read in a fixed number of statements. */
interface Surroundings {
  /** A text in lower case, as PostgreSQL computes it. */
  lower(text: string): string;
  /** The stored cards of a name in lower case below a parent, or among the roots. */
  childrenNamed(type: string, parent: string | null, lowerName: string): readonly string[];
  /** The stored cards with a name; two mean "more than one". */
  named(type: string, name: string): string[];
  /** Visible stored parents, by id. */
  parents: ReadonlyMap<string, ParentCard>;
  /** The stored cards that conflict with a row, by the row's index. */
  taken: ReadonlyMap<number, TakenKeys>;
}

import type { TProperties } from 'typebox';
import { embed, fragment, query, type Sql } from '../../../platform/database.ts';
import { EstateError, notFound } from '../../../platform/errors.ts';
import { asPartOf, type CardWithAccess, findCard } from '../../collaboration/cards.access.ts';
import { lockCards } from '../../inventory/cards/cards.load.ts';
import { invisibleCardError } from '../../inventory/cards/cards.projection.ts';
import { command } from '../../kernel/command.ts';
import { type Ctx, checkIfMatch, type Work } from '../../kernel/context.ts';
import { differingMembers, type EventDraft, rowEvent } from '../../kernel/events/row-changes.ts';
import { columnMembers, readItem, runList } from '../../kernel/lists/lists.run.ts';
import type { Condition, JsonText, ListParams, ListSpec, SortField } from '../../kernel/lists/lists.types.ts';
import { forbidden, requirePermission, seesCosts } from '../../kernel/permissions/policy.ts';
import { insertRow, lockRow, type RowModel, updateRow } from '../../kernel/resources/rows.ts';
import { INITIATIVE, PPM_TOPIC } from './ppm.model.ts';

/** @throws EstateError `forbidden`. */
export function requirePpmReader(ctx: Ctx): void {
  requirePermission(ctx.caller, 'ppm.view');
}

/** @throws EstateError `forbidden`. */
export function requirePpmWriter(ctx: Ctx): void {
  requirePermission(ctx.caller, 'ppm.manage');
}

/** An initiative that the caller sees. @throws EstateError `not_found`, also for a card of another type; `forbidden`. */
export async function requireInitiative(sql: Sql, ctx: Ctx, id: string): Promise<CardWithAccess> {
  return visibleInitiative(ctx, id, await findCard(sql, ctx, id));
}

/**
 * The same, locked so that it is neither deleted nor merged before the transaction ends.
 * @param exclusive excludes other such writes, and allows to write the card itself.
 */
export async function lockInitiative(
  work: Work,
  ctx: Ctx,
  id: string,
  exclusive: boolean,
): Promise<CardWithAccess> {
  if (exclusive) await lockCards(work, [id]);
  return visibleInitiative(ctx, id, await findCard(work.sql, ctx, id, { lock: true }));
}

function visibleInitiative(ctx: Ctx, id: string, card: CardWithAccess | undefined): CardWithAccess {
  const none = notFound('initiative', id);
  if (!card?.isVisible) throw invisibleCardError(ctx, none);
  if (card.type !== INITIATIVE || ctx.metamodel.cardTypes.get(card.type)?.is_hidden) throw none;
  return card;
}

/** What the rows of all kinds have. */
export interface PpmRow {
  id: string;
  /** The initiative. */
  card_id: string;
  [column: string]: unknown;
}

/** A command that writes rows of an initiative, which is locked. */
export interface PpmScope {
  work: Work;
  ctx: Ctx;
  initiative: CardWithAccess;
}

/** A write to a row; `before` is null for a new row. */
export interface PpmWrite<Row extends PpmRow = PpmRow> extends PpmScope {
  before: Row | null;
}

/** A write that has been executed; `after` is null when the row was deleted. */
export interface PpmChange<Row extends PpmRow = PpmRow> extends PpmWrite<Row> {
  after: Row | null;
}

type Members = ListSpec['members'];

/** One kind of rows that initiatives have: what its commands, lists and events need, declared once. */
export interface PpmKind<Row extends PpmRow = PpmRow> {
  model: RowModel;
  /** The first part of its event types. */
  entity:
    | 'ppm_report'
    | 'ppm_cost_line'
    | 'ppm_budget_line'
    | 'ppm_risk'
    | 'ppm_wbs'
    | 'ppm_task'
    | 'ppm_task_comment'
    | 'ppm_dependency';
  /** What messages call it. */
  what: string;
  /** How many an initiative may have; absent where something else limits them. */
  limit?: number;
  /** Columns that hold costs; only users who see the initiative's costs may write such rows. */
  costs?: readonly string[];
  /** Writes lock the initiative exclusively, because rows depend on each other. */
  exclusive?: true;
  /** Members of its events besides the id. */
  eventMembers?: readonly string[];
  /** The sort fields of its list besides `created_at`. */
  sorts?: Readonly<Record<string, SortField>>;
  /** `created_at` by default. */
  defaultSort?: string;
  defaultDir?: 'desc';
  search?: string;
  filters?: ListSpec['filters'];
  /** Columns that answers do not show. */
  hidden?: readonly string[];
  /** The members of its list besides the columns. */
  members?(sql: Sql, ctx: Ctx, cardId: string): Members | Promise<Members>;
  /** @throws EstateError where the caller may write rows of the kind, but not this one. */
  authorize?(row: Row, ctx: Ctx): void;
  /**
   * Checks the columns that are to be written; may change them.
   * @throws EstateError `validation_failed`.
   */
  check?(values: Partial<Row>, write: PpmWrite<Row>): Promise<void> | void;
  /** Deletes what depends on a row that is about to be deleted, with an event for each row. */
  beforeDelete?(row: Row, write: PpmWrite<Row>): Promise<void>;
  /** Writes derived values before the event of the change, because undo runs backwards. */
  afterWrite?(change: PpmChange<Row>): Promise<void>;
}

const CREATED: Record<string, SortField> = {
  created_at: { sql: 't.created_at', type: 'timestamptz', immutable: true },
};

/** The sort fields of a kind's list. */
export const ppmSorts = ({ sorts }: PpmKind): Record<string, SortField> => ({ ...sorts, ...CREATED });

type Columns = Pick<PpmKind, 'model' | 'hidden'>;

/** The columns of a kind that answers show; the card is called the initiative. */
export function ppmColumns({ model, hidden = [] }: Columns): TProperties {
  return Object.fromEntries(
    Object.entries(model.columns)
      .filter(([column]) => !hidden.includes(column))
      .map(([column, schema]) => [column === 'card_id' ? 'initiative_id' : column, schema]),
  );
}

/** These columns as members of a list. */
export function ppmMembers(kind: Columns): Record<string, string> {
  const { initiative_id, ...members } = columnMembers('t', { columns: ppmColumns(kind) });
  return initiative_id === undefined ? members : { ...members, initiative_id: 't.card_id' };
}

/** The list of a kind, over the alias `t`. */
async function ppmList(sql: Sql, ctx: Ctx, kind: PpmKind, cardId: string): Promise<ListSpec> {
  const { model, entity, defaultSort = 'created_at', defaultDir = 'asc', search, filters = {} } = kind;
  return {
    name: entity,
    from: `${model.tableName} t`,
    id: 't.id',
    sorts: ppmSorts(kind),
    defaultSort,
    defaultDir,
    filters,
    ...(search ? { search } : {}),
    members: { ...ppmMembers(kind), ...(await kind.members?.(sql, ctx, cardId)) },
  };
}

/** The name of the user in a column, over the alias `t`. */
export const nameOf = (column: string): string =>
  `(select u.display_name from users u where u.id = t.${column})`;

/** How many rows of a table have a value in a column. */
export async function countRows(
  sql: Sql,
  { tableName }: RowModel,
  where: Partial<Record<'card_id' | 'task_id', string>>,
): Promise<number> {
  const [column, value] = Object.entries(where)[0]!;
  const [row] = await query(sql).rows<{ n: number }>`select count(*)::int as n from ${embed(tableName)}
    where ${embed(column)} = ${value}::uuid`;
  return row!.n;
}

/** The event of one written row, in the history of its initiative. Without `before` it was created, without `after` deleted. */
export function ppmEvent(
  { entity, costs, eventMembers = [] }: Pick<PpmKind, 'entity' | 'costs' | 'eventMembers'>,
  card: { id: string; type: string; name: string },
  before: PpmRow | null,
  after: PpmRow | null,
): EventDraft {
  const row = (after ?? before)!;
  const members = Object.fromEntries(eventMembers.map((member) => [member, row[member] ?? null]));
  return {
    ...rowEvent(entity, before, after, { id: row.id, card_name: card.name, ...members }),
    card_id: card.id,
    card_type: card.type,
    cost_keys: costs ? [...costs] : null,
  };
}

/**
 * The rows of an initiative.
 * @param conditions further ones.
 * @throws EstateError `forbidden`, `not_found`.
 */
export async function listPpm(
  ctx: Ctx,
  kind: PpmKind,
  initiativeId: string,
  params: ListParams,
  conditions: Condition[] = [],
): Promise<JsonText> {
  requirePpmReader(ctx);
  const { id } = await requireInitiative(ctx.db, ctx, initiativeId);
  const where = [fragment`t.card_id = ${id}`, ...conditions];
  return await runList(ctx, await ppmList(ctx.db, ctx, kind, id), where, params);
}

/** Adds a row to an initiative. @throws EstateError `forbidden`, `not_found`, `validation_failed`, `limit_reached`. */
export async function createPpm(
  ctx: Ctx,
  kind: PpmKind,
  initiativeId: string,
  input: Partial<PpmRow>,
): Promise<JsonText> {
  requirePpmWriter(ctx);
  return await command(ctx, async (work) => {
    // alone where rows are counted, so that no two concurrent requests exceed the limit together
    const alone = kind.exclusive || kind.limit !== undefined;
    const initiative = await lockFor(work, ctx, kind, initiativeId, alone);
    return await insertPpm({ work, ctx, initiative }, kind, input);
  });
}

/** {@link createPpm} where the initiative is locked already. */
export async function insertPpm(scope: PpmScope, kind: PpmKind, input: Partial<PpmRow>): Promise<JsonText> {
  const { sql } = scope.work;
  const values = { ...input, card_id: scope.initiative.id };
  await kind.check?.(values, { ...scope, before: null });
  const { limit, model } = kind;
  if (limit !== undefined && (await countRows(sql, model, { card_id: values.card_id })) >= limit) {
    throw new EstateError('limit_reached', `An initiative can have at most ${limit} of this kind.`);
  }
  const row = (await insertRow(sql, model, values)) as object as PpmRow;
  await recordChange(scope, kind, null, row);
  return await textOf(scope, kind, row);
}

/**
 * Changes the given columns.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `validation_failed`.
 */
export async function patchPpm(
  ctx: Ctx,
  kind: PpmKind,
  id: string,
  input: Partial<PpmRow>,
): Promise<JsonText> {
  requirePpmWriter(ctx);
  return await command(ctx, async (work) => {
    const { scope, row } = await lockPpm(work, ctx, kind, id);
    const values = { ...input };
    await kind.check?.(values, { ...scope, before: row });
    const changed = differingMembers(row, values);
    if (Object.keys(changed).length > 0) {
      const after = (await updateRow(work.sql, kind.model, { id: row.id }, changed)) as object as PpmRow;
      await recordChange(scope, kind, row, after);
    }
    return await textOf(scope, kind, row);
  });
}

/** Deletes a row with what depends on it. @throws EstateError `forbidden`, `not_found`, `precondition_failed`. */
export async function deletePpm(ctx: Ctx, kind: PpmKind, id: string): Promise<void> {
  requirePpmWriter(ctx);
  await command(ctx, async (work) => {
    const { scope, row } = await lockPpm(work, ctx, kind, id);
    await deleteLocked(scope, kind, row);
  });
}

/** {@link deletePpm} of a row that is locked. */
export async function deleteLocked(scope: PpmScope, kind: PpmKind, row: PpmRow): Promise<void> {
  await kind.beforeDelete?.(row, { ...scope, before: row });
  await scope.work.sql(kind.model.tableName).where({ id: row.id }).delete();
  await recordChange(scope, kind, row, null);
}

/** Emits the event of a write, after writing derived values. */
export async function recordChange(
  scope: PpmScope,
  kind: PpmKind,
  before: PpmRow | null,
  after: PpmRow | null,
): Promise<void> {
  await kind.afterWrite?.({ ...scope, before, after });
  scope.work.emit(ppmEvent(kind, scope.initiative, before, after));
  scope.work.raise(PPM_TOPIC);
}

async function lockFor(
  work: Work,
  ctx: Ctx,
  kind: PpmKind,
  id: string,
  alone = kind.exclusive ?? false,
): Promise<CardWithAccess> {
  const initiative = await lockInitiative(work, ctx, id, alone);
  if (kind.costs && !seesCosts(ctx, initiative)) throw forbidden('costs.view');
  return initiative;
}

/** A row with its initiative, both locked. @throws EstateError `not_found`, `forbidden`, `precondition_failed`. */
async function lockPpm(
  work: Work,
  ctx: Ctx,
  kind: PpmKind,
  id: string,
): Promise<{ scope: PpmScope; row: PpmRow }> {
  const known = await work.sql(kind.model.tableName).where({ id }).first('card_id');
  if (!known) throw notFound(kind.what, id);
  const initiative = await asPartOf(kind.what, id, lockFor(work, ctx, kind, known.card_id));
  const row = (await lockRow(work.sql, kind.model, { id: id.toLowerCase() })) as PpmRow | undefined;
  // a merge may have moved it in the meantime
  if (row?.card_id !== initiative.id) throw notFound(kind.what, id);
  kind.authorize?.(row, ctx);
  const scope = { work, ctx, initiative };
  if (ctx.ifMatch) checkIfMatch(ctx, await textOf(scope, kind, row));
  return { scope, row };
}

async function textOf({ work: { sql }, ctx }: PpmScope, kind: PpmKind, row: PpmRow): Promise<JsonText> {
  return await readItem(sql, await ppmList(sql, ctx, kind, row.card_id), kind.what, row.id);
}

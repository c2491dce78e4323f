import { EstateError, notFound } from '../../../platform/errors.ts';
import type { CardWithAccess } from '../../collaboration/cards.access.ts';
import { itemText } from '../../collaboration/items.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { checkIfMatch } from '../../kernel/etag.ts';
import { differing } from '../../kernel/events/row-changes.ts';
import { runList } from '../../kernel/lists/lists.run.ts';
import type { Condition, JsonText, ListParams } from '../../kernel/lists/lists.types.ts';
import { forbidden, seesCosts } from '../../kernel/permissions/policy.ts';
import { insertRow, lockRow, updateRow } from '../../kernel/resources/rows.ts';
import { lockInitiative, requireInitiative, requirePpmReader, requirePpmWriter } from './initiatives.ts';
import { ppmEvent } from './ppm.events.ts';
import { countRows, type PpmKind, type PpmRow, ppmList } from './ppm.kinds.ts';
import { PPM_TOPIC } from './ppm.types.ts';

/**
 * The rows of an initiative.
 * @param filter columns with the values that they must have.
 * @throws EstateError `forbidden`, `not_found`.
 */
export async function listPpm(
  ctx: Ctx,
  kind: PpmKind,
  initiativeId: string,
  params: ListParams,
  filter: Record<string, unknown> = {},
): Promise<JsonText> {
  requirePpmReader(ctx);
  const { id } = await requireInitiative(ctx.db, ctx, initiativeId);
  const where: Condition[] = Object.entries({ card_id: id, ...filter })
    .filter(([, value]) => value !== undefined)
    .map(([column, value]) => ({ sql: `t.${column} = ?`, bindings: [value] }));
  const spec = await ppmList(ctx.db, ctx, kind, id);
  return await runList(ctx.db, spec, where, params, { owner: ctx.caller.userId });
}

/** Adds a row to an initiative. @throws EstateError `forbidden`, `not_found`, `validation_failed`, `limit_reached`. */
export async function createPpm<Row extends PpmRow>(
  ctx: Ctx,
  kind: PpmKind<Row>,
  initiativeId: string,
  input: Partial<Row>,
): Promise<JsonText> {
  requirePpmWriter(ctx);
  return await command(ctx, async (work) => {
    const initiative = await lockFor(work, ctx, kind, initiativeId);
    return await insertPpm(work, ctx, kind, initiative, input);
  });
}

/** {@link createPpm} where the initiative is locked already. */
export async function insertPpm<Row extends PpmRow>(
  work: Work,
  ctx: Ctx,
  kind: PpmKind<Row>,
  initiative: CardWithAccess,
  input: Partial<Row>,
): Promise<JsonText> {
  const values: Partial<Row> = { ...input, card_id: initiative.id };
  await kind.check?.(values, { work, ctx, initiative, before: null });
  const { limit } = kind;
  if (limit !== undefined && (await countRows(work.sql, kind.model, { card_id: initiative.id })) >= limit) {
    throw new EstateError('limit_reached', `An initiative can have at most ${limit} of this kind.`);
  }
  const row = (await insertRow(work.sql, kind.model, values)) as Row;
  await recordChange(work, ctx, kind, initiative, null, row);
  return await textOf(work, ctx, kind, row);
}

/**
 * Changes what the patch names.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `validation_failed`.
 */
export async function patchPpm<Row extends PpmRow>(
  ctx: Ctx,
  kind: PpmKind<Row>,
  id: string,
  input: Partial<Row>,
): Promise<JsonText> {
  requirePpmWriter(ctx);
  return await command(ctx, async (work) => {
    const { initiative, row } = await lockPpm(work, ctx, kind, id);
    const values: Partial<Row> = { ...input };
    await kind.check?.(values, { work, ctx, initiative, before: row });
    const changed = differing(row, values);
    if (Object.keys(changed).length > 0) {
      const after = (await updateRow(work.sql, kind.model, { id: row.id }, changed)) as Row;
      await recordChange(work, ctx, kind, initiative, row, after);
    }
    return await textOf(work, ctx, kind, row);
  });
}

/** Deletes a row with what depends on it. @throws EstateError `forbidden`, `not_found`, `precondition_failed`. */
export async function deletePpm(ctx: Ctx, kind: PpmKind, id: string): Promise<void> {
  requirePpmWriter(ctx);
  await command(ctx, async (work) => {
    const { initiative, row } = await lockPpm(work, ctx, kind, id);
    await deleteLocked(work, ctx, kind, initiative, row);
  });
}

/** {@link deletePpm} of a row that is locked. */
export async function deleteLocked<Row extends PpmRow>(
  work: Work,
  ctx: Ctx,
  kind: PpmKind<Row>,
  initiative: CardWithAccess,
  row: Row,
): Promise<void> {
  await kind.beforeDelete?.(row, { work, ctx, initiative, before: row });
  await work.sql(kind.model.tableName).where({ id: row.id }).delete();
  await recordChange(work, ctx, kind, initiative, row, null);
}

/** Emits the event of a write, after writing what follows from it. */
export async function recordChange<Row extends PpmRow>(
  work: Work,
  ctx: Ctx,
  kind: PpmKind<Row>,
  initiative: CardWithAccess,
  before: Row | null,
  after: Row | null,
): Promise<void> {
  await kind.afterWrite?.({ work, ctx, initiative, before, after });
  work.emit(ppmEvent(kind, initiative, before, after));
  work.raise(PPM_TOPIC);
}

async function lockFor(work: Work, ctx: Ctx, kind: PpmKind, id: string): Promise<CardWithAccess> {
  const initiative = await lockInitiative(work, ctx, id, kind.exclusive ?? false);
  if (kind.costs && !seesCosts(ctx, initiative)) throw forbidden('costs.view');
  return initiative;
}

/** A row with its initiative, both locked. @throws EstateError `not_found`, `forbidden`, `precondition_failed`. */
async function lockPpm<Row extends PpmRow>(
  work: Work,
  ctx: Ctx,
  kind: PpmKind<Row>,
  id: string,
): Promise<{ initiative: CardWithAccess; row: Row }> {
  const known = await work.sql(kind.model.tableName).where({ id }).first('card_id');
  if (!known) throw notFound(kind.what, id);
  const initiative = await lockFor(work, ctx, kind, known.card_id).catch((error: unknown) => {
    throw error instanceof EstateError && error.code === 'not_found' ? notFound(kind.what, id) : error;
  });
  const row = (await lockRow(work.sql, kind.model, { id: id.toLowerCase() })) as Row | undefined;
  // a merge may have moved it in the meantime
  if (row?.card_id !== initiative.id) throw notFound(kind.what, id);
  kind.authorize?.(row, ctx);
  if (ctx.ifMatch) checkIfMatch(ctx, await textOf(work, ctx, kind, row));
  return { initiative, row };
}

async function textOf({ sql }: Work, ctx: Ctx, kind: PpmKind, row: PpmRow): Promise<JsonText> {
  return (await itemText(sql, await ppmList(sql, ctx, kind, row.card_id), row.id))!;
}

import { EstateError, notFound } from '../../../platform/errors.ts';
import type { CardWithAccess } from '../../collaboration/cards.access.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { checkIfMatch } from '../../kernel/etag.ts';
import { differingMembers } from '../../kernel/events/row-changes.ts';
import { readItem, runList } from '../../kernel/lists/lists.run.ts';
import type { Condition, JsonText, ListParams } from '../../kernel/lists/lists.types.ts';
import { forbidden, seesCosts } from '../../kernel/permissions/policy.ts';
import { insertRow, lockRow, updateRow } from '../../kernel/resources/rows.ts';
import { lockInitiative, requireInitiative, requirePpmReader, requirePpmWriter } from './initiatives.ts';
import { countRows, type PpmKind, type PpmRow, type PpmScope, ppmEvent, ppmList } from './ppm.kinds.ts';
import { PPM_TOPIC } from './ppm.model.ts';

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
  const initiative = await lockFor(work, ctx, kind, known.card_id).catch((error: unknown) => {
    throw error instanceof EstateError && error.code === 'not_found' ? notFound(kind.what, id) : error;
  });
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

import { EstateError, notFound } from '../../../platform/errors.ts';
import type { AttendedCard } from '../../collaboration/attended.card.ts';
import { itemText } from '../../collaboration/items.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { checkIfMatch } from '../../kernel/etag.ts';
import { differing } from '../../kernel/events/row-changes.ts';
import { insertRow, lockRow, updateRow } from '../../kernel/events/stored-rows.ts';
import { runList } from '../../kernel/lists/lists.run.ts';
import type { Condition, JsonText, ListParams } from '../../kernel/lists/lists.types.ts';
import { forbidden, seesCosts } from '../../kernel/permissions/policy.ts';
import { holdInitiative, requireInitiative, requirePpmReader, requirePpmWriter } from './initiatives.ts';
import { ppmEvent } from './ppm.events.ts';
import { countRows, type PpmKind } from './ppm.kinds.ts';
import { PPM_TOPIC, type PpmRow } from './ppm.types.ts';

/** What an initiative has of a kind. @throws EstateError `forbidden`, `not_found`. */
export async function listPpm(
  ctx: Ctx,
  kind: PpmKind,
  initiativeId: string,
  params: ListParams,
  filter: Record<string, unknown> = {},
): Promise<JsonText> {
  requirePpmReader(ctx);
  const { id } = await requireInitiative(ctx.db, ctx, initiativeId);
  const spec = await kind.list(ctx.db, ctx, id);
  const ofInitiative: Condition = { sql: 't.card_id = ?::uuid', bindings: [id] };
  const where = [ofInitiative, ...(kind.asked?.(filter) ?? [])];
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
    const initiative = await hold(work, ctx, kind, initiativeId);
    return await insertPpm(work, ctx, kind, initiative, input);
  });
}

/** {@link createPpm} where the initiative is held already. */
export async function insertPpm(
  work: Work,
  ctx: Ctx,
  kind: PpmKind,
  initiative: AttendedCard,
  input: Partial<PpmRow>,
): Promise<JsonText> {
  const values = { ...input, card_id: initiative.id };
  await kind.check?.(values, { work, ctx, initiative, before: null });
  const { most } = kind;
  if (most !== undefined && (await countRows(work.sql, kind.table, initiative.id)) >= most) {
    throw new EstateError('limit_reached', `An initiative holds at most ${most} of this kind.`);
  }
  const row = (await insertRow(work.sql, kind.table, values)) as PpmRow;
  await told(work, ctx, kind, initiative, null, row);
  return await textOf(work, ctx, kind, row);
}

/**
 * Changes what the patch names.
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
    const { initiative, row } = await lockPpm(work, ctx, kind, id);
    const values = { ...input };
    await kind.check?.(values, { work, ctx, initiative, before: row });
    const changed = differing(row, values);
    if (Object.keys(changed).length > 0) {
      const after = (await updateRow(
        work.sql,
        kind.table,
        { column: 'id', value: row.id },
        changed,
      )) as PpmRow;
      await told(work, ctx, kind, initiative, row, after);
    }
    return await textOf(work, ctx, kind, row);
  });
}

/** Deletes a row with what hangs on it. @throws EstateError `forbidden`, `not_found`, `precondition_failed`. */
export async function deletePpm(ctx: Ctx, kind: PpmKind, id: string): Promise<void> {
  requirePpmWriter(ctx);
  await command(ctx, async (work) => {
    const { initiative, row } = await lockPpm(work, ctx, kind, id);
    await removePpm(work, ctx, kind, initiative, row);
  });
}

/** {@link deletePpm} of a row that is locked. */
export async function removePpm(
  work: Work,
  ctx: Ctx,
  kind: PpmKind,
  initiative: AttendedCard,
  row: PpmRow,
): Promise<void> {
  await kind.release?.(row, { work, ctx, initiative, before: row });
  await work.sql(kind.table).where({ id: row.id }).delete();
  await told(work, ctx, kind, initiative, row, null);
}

/** The event of a write with what follows from it. */
export async function told(
  work: Work,
  ctx: Ctx,
  kind: PpmKind,
  initiative: AttendedCard,
  before: PpmRow | null,
  after: PpmRow | null,
): Promise<void> {
  await kind.follow?.({ work, ctx, initiative, before, after });
  work.emit(ppmEvent(kind, initiative, before, after));
  work.raise(PPM_TOPIC);
}

async function hold(work: Work, ctx: Ctx, kind: PpmKind, id: string): Promise<AttendedCard> {
  const initiative = await holdInitiative(work, ctx, id, kind.alone ?? false);
  if (kind.costs && !seesCosts(ctx, initiative)) throw forbidden('costs.view');
  return initiative;
}

/** A row with its initiative, both locked. @throws EstateError `not_found`, `forbidden`, `precondition_failed`. */
async function lockPpm(
  work: Work,
  ctx: Ctx,
  kind: PpmKind,
  id: string,
): Promise<{ initiative: AttendedCard; row: PpmRow }> {
  const known = await work.sql(kind.table).where({ id }).first('card_id');
  if (!known) throw notFound(kind.what, id);
  const initiative = await hold(work, ctx, kind, known.card_id).catch((error: unknown) => {
    throw error instanceof EstateError && error.code === 'not_found' ? notFound(kind.what, id) : error;
  });
  const row = (await lockRow(work.sql, kind.table, { id: id.toLowerCase() })) as PpmRow | undefined;
  // a merge may have moved it meanwhile
  if (row?.card_id !== initiative.id) throw notFound(kind.what, id);
  kind.guard?.(row, ctx);
  if (ctx.ifMatch) checkIfMatch(ctx, await textOf(work, ctx, kind, row));
  return { initiative, row };
}

async function textOf({ sql }: Work, ctx: Ctx, kind: PpmKind, row: PpmRow): Promise<JsonText> {
  return (await itemText(sql, await kind.list(sql, ctx, row.card_id), row.id))!;
}

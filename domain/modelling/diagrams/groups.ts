import {
  embed,
  fragment,
  query,
  type Sql,
  type Transaction,
  unlessTaken,
} from '../../../platform/database.ts';
import { EstateError, invalidField, invalidFields, notFound, requireText } from '../../../platform/errors.ts';
import { checkLine } from '../../inventory/cards/rules/values.ts';
import { command } from '../../kernel/command.ts';
import { type Ctx, checkIfMatch, type Work } from '../../kernel/context.ts';
import { defineList, listFor } from '../../kernel/lists/lists.define.ts';
import { columnMembers, columnSorts, findItem, readItem } from '../../kernel/lists/lists.run.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { changeRow, createRow, lockItem, removeRow } from '../../kernel/resources/items.ts';
import { deleteRows } from '../../kernel/resources/rows.ts';
import { diagramText } from './diagrams.list.ts';
import {
  Diagram,
  DiagramFavorite,
  type DiagramFavoriteRow,
  DiagramGroup,
  type DiagramGroupRow,
  type DiagramRow,
  diagramEvent,
  favoriteEvent,
  groupEvent,
  lockDiagram,
  MAX_NAME,
  visibleDiagrams,
} from './diagrams.load.ts';

interface GroupInput {
  name?: string;
  color?: string | null;
  sort_order?: number | null;
}

/** All groups; each counts the diagrams that the caller sees. */
export const diagramGroupList = defineList({
  name: 'diagram-groups',
  permission: 'diagrams.view',
  from: 'diagram_groups g',
  id: 'g.id',
  sorts: {
    ...columnSorts('g', DiagramGroup, 'sort_order', 'created_at'),
    name: { sql: 'lower(g.name)', type: 'text', filled: true },
  },
  defaultSort: 'sort_order',
  search: 'fold(g.name)',
  members: {
    ...columnMembers('g', DiagramGroup),
    diagram_count: (ctx) => fragment`(select count(*)::int from diagrams d
      where d.group_ids @> array[g.id] and ${embed(visibleDiagrams(ctx))})`,
  },
});

const groupText = (sql: Sql, ctx: Ctx, id: string): Promise<JsonText> =>
  readItem(sql, listFor(ctx, diagramGroupList), 'diagram group', id);

/** @throws EstateError `forbidden`, `validation_failed`, `name_taken`. */
export async function createGroup(ctx: Ctx, input: GroupInput): Promise<JsonText> {
  requirePermission(ctx.caller, 'diagrams.manage');
  return await command(ctx, async (work) => {
    const write = createRow(work, DiagramGroup, checked(input), groupEvent);
    const row = await unlessTaken(write, nameTaken(input.name));
    return await groupText(work.sql, ctx, row.id);
  });
}

/** @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `validation_failed`, `name_taken`. */
export async function patchGroup(ctx: Ctx, id: string, input: GroupInput): Promise<JsonText> {
  requirePermission(ctx.caller, 'diagrams.manage');
  return await command(ctx, async (work) => {
    const write = changeRow(work, DiagramGroup, await lockGroup(work, ctx, id), checked(input), groupEvent);
    await unlessTaken(write, nameTaken(input.name));
    return await groupText(work.sql, ctx, id);
  });
}

/** Deletes a group; its diagrams stay. @throws EstateError `forbidden`, `not_found`, `precondition_failed`. */
export async function deleteGroup(ctx: Ctx, id: string): Promise<void> {
  requirePermission(ctx.caller, 'diagrams.manage');
  await command(ctx, async (work) => {
    const group = await lockGroup(work, ctx, id);
    const diagrams = await query(work.sql).rows<Record<'before' | 'after', DiagramRow>>`with old as (
         select d.* from diagrams d where d.group_ids @> array[${group.id}::uuid] order by d.id
         for no key update
       ), written as (
         update diagrams d set group_ids = array_remove(old.group_ids, ${group.id}::uuid),
         updated_at = clock_timestamp()
         from old where d.id = old.id returning to_jsonb(old) as before, to_jsonb(d) as after, d.id
       ) select before, after from written order by id`;
    for (const { before, after } of diagrams) work.emit(diagramEvent(before, after));
    await removeRow(work, DiagramGroup, group, groupEvent);
  });
}

/** Sets all groups of a diagram. @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `validation_failed`. */
export async function setDiagramGroups(ctx: Ctx, id: string, given: string[]): Promise<JsonText> {
  requirePermission(ctx.caller, 'diagrams.manage');
  return await command(ctx, async (work) => {
    const group_ids = await lockGroups(work.sql, given);
    const before = await lockDiagram(work.sql, ctx, id);
    if (ctx.ifMatch) checkIfMatch(ctx, await diagramText(work.sql, ctx, id));
    await changeRow(work, Diagram, before, { group_ids }, diagramEvent);
    return await diagramText(work.sql, ctx, id);
  });
}

/** Existing groups, locked so that none is deleted before the transaction ends. @throws EstateError `validation_failed`. */
async function lockGroups(sql: Transaction, given: string[]): Promise<string[]> {
  const ids = [...new Set(given.map((id) => id.toLowerCase()))].sort();
  const groups = await query(sql).rows<{ id: string }>`select id from diagram_groups
    where id = any(${ids}::uuid[]) order by id for key share`;
  const found = new Set(groups.map((group) => group.id));
  const errors = given.flatMap((id, n) =>
    found.has(id.toLowerCase())
      ? []
      : [{ field: `group_ids.${n}`, code: 'unknown_group', message: 'is no group of diagrams' }],
  );
  if (errors.length > 0) throw invalidFields(errors);
  return ids;
}

async function lockGroup(work: Work, ctx: Ctx, id: string): Promise<DiagramGroupRow> {
  return await lockItem(work, ctx, DiagramGroup, { id }, 'diagram group', (of) =>
    groupText(work.sql, ctx, of),
  );
}

function checked({ sort_order, name, ...input }: GroupInput): Partial<DiagramGroupRow> {
  const values = sort_order === undefined ? input : { ...input, sort_order: sort_order ?? 0 };
  if (name === undefined) return values;
  const trimmed = requireText(name, 'name');
  const error = checkLine('name', trimmed, MAX_NAME);
  if (error) throw invalidField(error.field, error.code, error.message);
  return { ...values, name: trimmed };
}

/** The error of a write that violates the unique index on names. */
const nameTaken = (name?: string) => () =>
  new EstateError('name_taken', `There is a group named ${name?.trim()} already.`);

/** The caller's favourite diagrams, as far as they are still visible. */
export const favoriteList = defineList({
  name: 'diagram-favorites',
  permission: 'diagrams.view',
  from: 'diagram_favorites f join diagrams d on d.id = f.diagram_id',
  id: 'f.id',
  sorts: {
    ...columnSorts('f', DiagramFavorite, 'created_at'),
    name: { sql: 'lower(d.name)', type: 'text', filled: true },
  },
  defaultSort: 'created_at',
  defaultDir: 'desc',
  search: 'fold(d.name)',
  members: { diagram_id: 'f.diagram_id', name: 'd.name', created_at: 'utc(f.created_at)' },
  where: (ctx) => [fragment`f.user_id = ${ctx.caller.userId}::uuid`, visibleDiagrams(ctx)],
});

/** Makes a diagram a favourite of the caller, unless it is one already. @throws EstateError `forbidden`, `not_found`. */
export async function starDiagram(ctx: Ctx, id: string): Promise<JsonText> {
  requirePermission(ctx.caller, 'diagrams.view');
  return await command(ctx, async ({ sql, emit }) => {
    const [diagram] = await query(sql).rows<{ id: string }>`select d.id from diagrams d
      where d.id = ${id}::uuid and ${embed(visibleDiagrams(ctx))} for key share of d`;
    if (!diagram) throw notFound('diagram', id);
    const key = { user_id: ctx.caller.userId, diagram_id: diagram.id };
    const [inserted] = await query(sql).rows<{ row: DiagramFavoriteRow }>`
         insert into diagram_favorites as f (user_id, diagram_id) values (${key.user_id}::uuid, ${key.diagram_id}::uuid)
       on conflict (user_id, diagram_id) do nothing returning to_jsonb(f) as row`;
    if (inserted) emit(favoriteEvent(null, inserted.row));
    const favorite = inserted?.row ?? (await sql('diagram_favorites').where(key).first('id'));
    return (await findItem(sql, favoriteList, favorite!.id))!;
  });
}

/** Removes a favourite of the caller. @throws EstateError `forbidden`, `not_found`. */
export async function unstarDiagram(ctx: Ctx, id: string): Promise<void> {
  requirePermission(ctx.caller, 'diagrams.view');
  await command(ctx, async ({ sql, emit }) => {
    const [deleted] = await deleteRows(sql, DiagramFavorite, (query) =>
      query.where({ user_id: ctx.caller.userId, diagram_id: id }),
    );
    if (!deleted) throw notFound('favorite', id);
    emit(favoriteEvent(deleted, null));
  });
}

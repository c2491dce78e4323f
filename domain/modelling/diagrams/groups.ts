import type { Knex } from 'knex';
import { type Sql, sqlState } from '../../../platform/database.ts';
import { EstateError, invalidField, invalidFields, notFound } from '../../../platform/errors.ts';
import { itemText } from '../../collaboration/items.ts';
import { checkLine } from '../../inventory/cards/rules/text.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { checkIfMatch } from '../../kernel/etag.ts';
import { differing, type StoredRow } from '../../kernel/events/row-changes.ts';
import { insertRow, lockRow, updateRow } from '../../kernel/events/stored-rows.ts';
import { runList } from '../../kernel/lists/lists.run.ts';
import type { JsonText, ListParams, ListSpec } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { diagramEvent, groupEvent } from './diagrams.events.ts';
import { diagramText } from './diagrams.list.ts';
import { lockDiagram } from './diagrams.load.ts';
import type { DiagramRow } from './diagrams.types.ts';
import { visibleDiagrams } from './diagrams.visible.ts';

const MAX_NAME = 200;

export interface GroupInput {
  name?: string;
  color?: string | null;
  sort_order?: number | null;
}

function groupList(ctx: Ctx): ListSpec {
  const visible = visibleDiagrams(ctx);
  return {
    name: 'diagram-groups',
    from: 'diagram_groups g',
    id: 'g.id',
    idType: 'uuid',
    sorts: {
      sort_order: { sql: 'g.sort_order', type: 'bigint', filled: true },
      name: { sql: 'lower(g.name)', type: 'text', filled: true },
      created_at: { sql: 'g.created_at', type: 'timestamptz', immutable: true },
    },
    defaultSort: 'sort_order',
    defaultDir: 'asc',
    search: 'fold(g.name)',
    members: {
      id: 'g.id',
      name: 'g.name',
      color: 'g.color',
      sort_order: 'g.sort_order',
      diagram_count: {
        sql: `(select count(*)::int from diagrams d where d.group_ids @> array[g.id] and ${visible.sql})`,
        bindings: visible.bindings,
      },
      created_at: 'utc(g.created_at)',
      updated_at: 'utc(g.updated_at)',
    },
  };
}

const groupText = async (sql: Sql, ctx: Ctx, id: string): Promise<JsonText> => {
  const text = await itemText(sql, groupList(ctx), id);
  if (text === undefined) throw notFound('diagram group', id);
  return text;
};

/** All groups; each counts the diagrams that the caller sees. @throws EstateError `forbidden`. */
export async function listGroups(ctx: Ctx, params: ListParams): Promise<JsonText> {
  requirePermission(ctx.caller, 'diagrams.view');
  return await runList(ctx.db, groupList(ctx), [], params, { owner: ctx.caller.userId });
}

/** @throws EstateError `forbidden`, `validation_failed`, `name_taken`. */
export async function createGroup(ctx: Ctx, input: GroupInput): Promise<JsonText> {
  requirePermission(ctx.caller, 'diagrams.manage');
  return await command(ctx, async (work) => {
    const row = await named(input, () => insertRow(work.sql, 'diagram_groups', checked(input)));
    work.emit(groupEvent(null, row));
    return await groupText(work.sql, ctx, row.id as string);
  });
}

/** @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `validation_failed`, `name_taken`. */
export async function patchGroup(ctx: Ctx, id: string, input: GroupInput): Promise<JsonText> {
  requirePermission(ctx.caller, 'diagrams.manage');
  return await command(ctx, async (work) => {
    const before = await lockGroup(work, ctx, id);
    const changed = differing(before, checked(input));
    if (Object.keys(changed).length > 0) {
      const key = { column: 'id', value: before.id as string };
      const after = await named(input, () => updateRow(work.sql, 'diagram_groups', key, changed));
      work.emit(groupEvent(before, after));
    }
    return await groupText(work.sql, ctx, id);
  });
}

/** Deletes a group; its diagrams stay. @throws EstateError `forbidden`, `not_found`, `precondition_failed`. */
export async function deleteGroup(ctx: Ctx, id: string): Promise<void> {
  requirePermission(ctx.caller, 'diagrams.manage');
  await command(ctx, async (work) => {
    const group = await lockGroup(work, ctx, id);
    const { rows } = await work.sql.raw(
      `with old as (
         select d.* from diagrams d where d.group_ids @> array[?::uuid] order by d.id for no key update
       ), written as (
         update diagrams d set group_ids = array_remove(old.group_ids, ?::uuid), updated_at = clock_timestamp()
         from old where d.id = old.id returning to_jsonb(old) as before, to_jsonb(d) as after, d.id
       ) select before, after from written order by id`,
      [group.id, group.id] as never,
    );
    for (const { before, after } of rows as Record<'before' | 'after', DiagramRow>[]) {
      work.emit(diagramEvent(before, after));
    }
    await work
      .sql('diagram_groups')
      .where({ id: group.id as string })
      .delete();
    work.emit(groupEvent(group, null));
  });
}

/** Sets all groups of a diagram. @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `validation_failed`. */
export async function setDiagramGroups(ctx: Ctx, id: string, given: string[]): Promise<JsonText> {
  requirePermission(ctx.caller, 'diagrams.manage');
  return await command(ctx, async (work) => {
    const group_ids = await holdGroups(work.sql, given);
    const before = await lockDiagram(work.sql, ctx, id);
    if (ctx.ifMatch) checkIfMatch(ctx, await diagramText(work.sql, ctx, id));
    if (JSON.stringify(before.group_ids) !== JSON.stringify(group_ids)) {
      const key = { column: 'id', value: before.id };
      const after = (await updateRow(work.sql, 'diagrams', key, { group_ids })) as DiagramRow;
      work.emit(diagramEvent(before, after));
    }
    return await diagramText(work.sql, ctx, id);
  });
}

/** Groups that exist, held so that none is deleted before the transaction ends. @throws EstateError `validation_failed`. */
async function holdGroups(sql: Knex.Transaction, given: string[]): Promise<string[]> {
  const ids = [...new Set(given.map((id) => id.toLowerCase()))].sort();
  const { rows } = await sql.raw(
    'select id from diagram_groups where id = any(?::uuid[]) order by id for key share',
    [ids],
  );
  const found = new Set(rows.map((row: { id: string }) => row.id));
  const faults = given.flatMap((id, at) =>
    found.has(id.toLowerCase())
      ? []
      : [{ field: `group_ids.${at}`, code: 'unknown_group', message: 'is no group of diagrams' }],
  );
  if (faults.length > 0) throw invalidFields(faults);
  return ids;
}

async function lockGroup(work: Work, ctx: Ctx, id: string): Promise<StoredRow> {
  const row = await lockRow(work.sql, 'diagram_groups', { id: id.toLowerCase() });
  if (!row) throw notFound('diagram group', id);
  if (ctx.ifMatch) checkIfMatch(ctx, await groupText(work.sql, ctx, id));
  return row;
}

function checked(input: GroupInput): StoredRow {
  const values: StoredRow = { ...input };
  if (input.sort_order === null) values.sort_order = 0;
  if (input.name === undefined) return values;
  values.name = input.name.trim();
  if (values.name === '') throw invalidField('name', 'required', 'must not be blank');
  const fault = checkLine('name', values.name as string, MAX_NAME);
  if (fault) throw invalidField(fault.field, fault.code, fault.message);
  return values;
}

/** @throws EstateError `name_taken` where the write meets a group of the name. */
async function named(input: GroupInput, write: () => Promise<StoredRow>): Promise<StoredRow> {
  try {
    return await write();
  } catch (error) {
    if (sqlState(error) !== '23505') throw error;
    throw new EstateError('name_taken', `There is a group named ${input.name?.trim()} already.`);
  }
}

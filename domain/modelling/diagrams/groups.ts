import type { Knex } from 'knex';
import { queryRows, type Sql, sqlState } from '../../../platform/database.ts';
import { EstateError, invalidField, invalidFields, notFound } from '../../../platform/errors.ts';
import { itemText } from '../../collaboration/items.ts';
import { checkLine } from '../../inventory/cards/rules/text.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { checkIfMatch } from '../../kernel/etag.ts';
import { differing } from '../../kernel/events/row-changes.ts';
import { columnMembers } from '../../kernel/lists/lists.members.ts';
import { runList } from '../../kernel/lists/lists.run.ts';
import type { JsonText, ListParams, ListSpec, SortField } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { insertRow, lockRow, updateRow } from '../../kernel/resources/rows.ts';
import { diagramEvent, groupEvent } from './diagrams.events.ts';
import { diagramText } from './diagrams.list.ts';
import { lockDiagram } from './diagrams.load.ts';
import { Diagram, DiagramGroup, type DiagramGroupRow, type DiagramRow, MAX_NAME } from './diagrams.model.ts';
import { visibleDiagrams } from './diagrams.visible.ts';

export interface GroupInput {
  name?: string;
  color?: string | null;
  sort_order?: number | null;
}

export const groupSorts: Record<string, SortField> = {
  sort_order: { sql: 'g.sort_order', type: 'bigint', filled: true },
  name: { sql: 'lower(g.name)', type: 'text', filled: true },
  created_at: { sql: 'g.created_at', type: 'timestamptz', immutable: true },
};

function groupList(ctx: Ctx): ListSpec {
  const visible = visibleDiagrams(ctx);
  return {
    name: 'diagram-groups',
    from: 'diagram_groups g',
    id: 'g.id',
    idType: 'uuid',
    sorts: groupSorts,
    defaultSort: 'sort_order',
    defaultDir: 'asc',
    search: 'fold(g.name)',
    members: {
      ...columnMembers('g', DiagramGroup),
      diagram_count: {
        sql: `(select count(*)::int from diagrams d where d.group_ids @> array[g.id] and ${visible.sql})`,
        bindings: visible.bindings,
      },
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
    const row = await named(input, () => insertRow(work.sql, DiagramGroup, checked(input)));
    work.emit(groupEvent(null, row));
    return await groupText(work.sql, ctx, row.id);
  });
}

/** @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `validation_failed`, `name_taken`. */
export async function patchGroup(ctx: Ctx, id: string, input: GroupInput): Promise<JsonText> {
  requirePermission(ctx.caller, 'diagrams.manage');
  return await command(ctx, async (work) => {
    const before = await lockGroup(work, ctx, id);
    const changed = differing(before, checked(input));
    if (Object.keys(changed).length > 0) {
      const after = await named(input, () => updateRow(work.sql, DiagramGroup, { id: before.id }, changed));
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
    const diagrams = await queryRows<Record<'before' | 'after', DiagramRow>>(
      work.sql,
      `with old as (
         select d.* from diagrams d where d.group_ids @> array[?::uuid] order by d.id for no key update
       ), written as (
         update diagrams d set group_ids = array_remove(old.group_ids, ?::uuid), updated_at = clock_timestamp()
         from old where d.id = old.id returning to_jsonb(old) as before, to_jsonb(d) as after, d.id
       ) select before, after from written order by id`,
      [group.id, group.id],
    );
    for (const { before, after } of diagrams) work.emit(diagramEvent(before, after));
    await work.sql('diagram_groups').where({ id: group.id }).delete();
    work.emit(groupEvent(group, null));
  });
}

/** Sets all groups of a diagram. @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `validation_failed`. */
export async function setDiagramGroups(ctx: Ctx, id: string, given: string[]): Promise<JsonText> {
  requirePermission(ctx.caller, 'diagrams.manage');
  return await command(ctx, async (work) => {
    const group_ids = await lockGroups(work.sql, given);
    const before = await lockDiagram(work.sql, ctx, id);
    if (ctx.ifMatch) checkIfMatch(ctx, await diagramText(work.sql, ctx, id));
    if (JSON.stringify(before.group_ids) !== JSON.stringify(group_ids)) {
      const after = await updateRow(work.sql, Diagram, { id: before.id }, { group_ids });
      work.emit(diagramEvent(before, after));
    }
    return await diagramText(work.sql, ctx, id);
  });
}

/** Existing groups, locked so that none is deleted before the transaction ends. @throws EstateError `validation_failed`. */
async function lockGroups(sql: Knex.Transaction, given: string[]): Promise<string[]> {
  const ids = [...new Set(given.map((id) => id.toLowerCase()))].sort();
  const groups = await queryRows<{ id: string }>(
    sql,
    'select id from diagram_groups where id = any(?::uuid[]) order by id for key share',
    [ids],
  );
  const found = new Set(groups.map((group) => group.id));
  const faults = given.flatMap((id, n) =>
    found.has(id.toLowerCase())
      ? []
      : [{ field: `group_ids.${n}`, code: 'unknown_group', message: 'is no group of diagrams' }],
  );
  if (faults.length > 0) throw invalidFields(faults);
  return ids;
}

async function lockGroup(work: Work, ctx: Ctx, id: string): Promise<DiagramGroupRow> {
  const row = await lockRow(work.sql, DiagramGroup, { id: id.toLowerCase() });
  if (!row) throw notFound('diagram group', id);
  if (ctx.ifMatch) checkIfMatch(ctx, await groupText(work.sql, ctx, id));
  return row;
}

function checked({ sort_order, name, ...input }: GroupInput): Partial<DiagramGroupRow> {
  const values = sort_order === undefined ? input : { ...input, sort_order: sort_order ?? 0 };
  if (name === undefined) return values;
  const trimmed = name.trim();
  if (trimmed === '') throw invalidField('name', 'required', 'must not be blank');
  const fault = checkLine('name', trimmed, MAX_NAME);
  if (fault) throw invalidField(fault.field, fault.code, fault.message);
  return { ...values, name: trimmed };
}

/** @throws EstateError `name_taken` when the write violates the unique index on names. */
async function named<T>(input: GroupInput, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (sqlState(error) !== '23505') throw error;
    throw new EstateError('name_taken', `There is a group named ${input.name?.trim()} already.`);
  }
}

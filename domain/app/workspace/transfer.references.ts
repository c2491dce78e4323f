import { embed, query } from '../../../platform/database.ts';
import { UNTYPED } from '../../collaboration/documents/documents.ts';
import { type Checking, knownRows, skipInvalid } from './transfer.rows.ts';
import type { Staging } from './transfer.stage.ts';
import { PEOPLE } from './workspace.tables.ts';

/** A column with a key of another table that no foreign key checks. */
interface KeyColumn {
  column: string;
  keys(checking: Checking): Promise<Iterable<string>> | Iterable<string>;
  code: string;
  message: string;
}

const cardType = (column: string): KeyColumn => ({
  column,
  keys: ({ metamodel }) => metamodel!.cardTypes.keys(),
  code: 'unknown_type',
  message: 'is no card type',
});

const resourceType = (column: string, kind: string, message: string, ...more: string[]): KeyColumn => ({
  column,
  async keys(checking) {
    const rows = await knownRows<{ kind: string; key: string }>(checking, 'resource_types');
    return [...more, ...rows.filter((row) => row.kind === kind).map(({ key }) => key)];
  },
  code: 'unknown_value',
  message,
});

const keyColumns: Readonly<Record<string, KeyColumn>> = {
  bookmarks: cardType('card_type'),
  surveys: cardType('target_type_key'),
  web_portals: cardType('card_type'),
  documents: resourceType('type', 'link_type', 'is no link type', UNTYPED),
  file_attachments: resourceType('category', 'file_category', 'is no file category'),
};

/** Skips rows with a key that is neither here nor in the archive. */
export async function checkKeys(checking: Checking, kind: string): Promise<void> {
  const declared = keyColumns[kind];
  if (!declared) return;
  const { column, code, message } = declared;
  const keys = new Set(await declared.keys(checking));
  await skipInvalid(checking, kind, (row) => {
    const key = row[column] ?? null;
    return key === null || keys.has(String(key)) ? [] : [{ field: column, code, message }];
  });
}

/** The columns with lists of users: of ids, or of objects with `user_id`. */
const userLists: Readonly<Record<string, readonly string[]>> = {
  comments: ['mentions'],
  bookmarks: ['shared_with'],
  saved_reports: ['shared_with', 'editors'],
  diagrams: ['shared_with'],
};

/** Removes users who exist neither here nor in the archive from lists, where deleted users leave such ids. */
export async function removeUnknownUsers({ db, transferId }: Staging, kind: string): Promise<void> {
  const user = embed(`case jsonb_typeof(e) when 'object' then e ->> 'user_id' else e #>> '{}' end`);
  for (const column of userLists[kind] ?? [])
    await query(db).run`with lists as materialized (
       select s.line, s.content -> ${column} as list from workspace_transfer_rows s
       where s.transfer_id = ${transferId}::uuid and s.kind = ${kind} and jsonb_typeof(s.content -> ${column}) = 'array'
     ), known as (
       select l.line, coalesce(jsonb_agg(e order by n) filter (where not is_unknown), '[]') as list
       from lists l cross join lateral jsonb_array_elements(l.list) with ordinality x (e, n)
       cross join lateral (
         -- what is no id is reported by the check of the column
         select pg_input_is_valid(${user}, 'uuid')
           and not exists (select from users u where u.id::text = lower(${user}))
           and not exists (
             select from workspace_transfer_rows p where p.transfer_id = ${transferId}::uuid
               and p.kind = '${embed(PEOPLE)}' and p.ref = lower(${user})) as is_unknown) y
       group by l.line having bool_or(is_unknown)
     )
     update workspace_transfer_rows r set content = r.content || jsonb_build_object(${column}::text, k.list)
     from known k where r.transfer_id = ${transferId}::uuid and r.kind = ${kind} and r.line = k.line`;
}

import { embed, fragment, query } from '../../../platform/database.ts';
import type { StoredRow } from '../../kernel/events/row-changes.ts';
import { modelLimits } from '../../modelling/bpm/bpmn.model.ts';
import {
  type GivenContent,
  type PreparedContent,
  type PreparedModel,
  recheckContent,
} from '../../modelling/bpm/bpmn.read.ts';
import { skipMatching, skipRows } from './transfer.diff.ts';
import { type Checking, errorsOf, retryWhileBusy, skipInvalid, skipLong } from './transfer.rows.ts';
import type { Staging } from './transfer.stage.ts';

const CONTENTS = 'process_contents';
const ELEMENTS = 'process_content_elements';
/** The kind of staged rows with the elements that the models contain. Never written. */
const READ_ELEMENTS = 'elements_read';

/**
 * Validates models and pictures of processes like those sent to the API: well-formed, bounded, without document types and entities.
 * Elements are extracted from the models again, and compared with those of the archive.
 */
export async function checkContents(checking: Checking): Promise<void> {
  await skipLong(checking, CONTENTS, 'text', modelLimits.bytes);
  // hexadecimal, behind \x
  await skipLong(checking, CONTENTS, 'original', 2 * modelLimits.bytes + 2);
  let line = 0;
  await skipInvalid(checking, CONTENTS, async (row, { line: own }) => {
    let read: PreparedContent | PreparedModel | undefined;
    const errors = await errorsOf(async () => {
      read = await retryWhileBusy(checking.signal, () => recheckContent(givenOf(row)));
    });
    if (errors.length > 0 || !read) return errors;
    const model = 'elements' in read ? read : undefined;
    await query(checking.db).run`update workspace_transfer_rows
       set content = content || jsonb_build_object('warnings',
       ${JSON.stringify(model?.warnings ?? [])}::jsonb, 'picture', ${model?.picture ?? null}::text)
       where transfer_id = ${checking.transferId}::uuid and kind = ${CONTENTS} and line = ${own}`;
    for (const elements of model?.elements ?? []) {
      line += await storeElements(checking, read.id, elements, line);
    }
    return [];
  });
}

const givenOf = ({ id, kind, encoding, text, original, size }: StoredRow): GivenContent => ({
  id: String(id),
  kind: String(kind),
  encoding: String(encoding),
  text: String(text),
  original: typeof original === 'string' ? Buffer.from(original.replace(/^\\x/, ''), 'hex') : null,
  size: Number(size),
});

/** @returns how many there were. */
async function storeElements(
  { db, transferId }: Staging,
  contentId: string,
  elements: string,
  behind: number,
): Promise<number> {
  const stored = await query(db)
    .rows`insert into workspace_transfer_rows (transfer_id, kind, line, content, ref)
     select ${transferId}::uuid, ${READ_ELEMENTS}, ${behind}::integer + n, e,
       ${contentId}::text || '/' || (e ->> 'bpmn_element_id')
     from jsonb_array_elements(${elements}::jsonb) with ordinality x (e, n) returning line`;
  return stored.length;
}

/**
 * Skips elements that differ from their model, and models whose elements are incomplete in the archive.
 */
export async function checkElements(checking: Checking): Promise<void> {
  const { db, transferId } = checking;
  const key = embed(`concat_ws('/', s.content ->> 'content_id', s.content ->> 'bpmn_element_id')`);
  await skipMatching(
    checking,
    ELEMENTS,
    otherElement,
    fragment`where not exists (
         select from workspace_transfer_rows e where e.transfer_id = s.transfer_id and e.kind = ${READ_ELEMENTS}
           and e.ref = ${key} and e.content = to_jsonb(s.n) - 'id' - 'content_id')
       and not exists (
         select from workspace_transfer_rows c where c.transfer_id = s.transfer_id and c.kind = ${CONTENTS}
           and c.ref = s.content ->> 'content_id' and c.action = 'conflict')`,
  );
  const rows = await query(db).rows`select c.line, min(split_part(e.ref, '/', 2)) as element
     from workspace_transfer_rows e
     join workspace_transfer_rows c on c.transfer_id = e.transfer_id and c.kind = '${embed(CONTENTS)}'
       and c.ref = split_part(e.ref, '/', 1) and c.action = 'create'
     where e.transfer_id = ${transferId}::uuid and e.kind = '${embed(READ_ELEMENTS)}' and not exists (
       select from workspace_transfer_rows s
       where s.transfer_id = e.transfer_id and s.kind = '${embed(ELEMENTS)}'
         and s.action = 'create' and ${key} = e.ref)
     group by c.line`;
  await skipRows(
    checking,
    CONTENTS,
    rows.map(({ line, element }: { line: number; element: string }) => ({
      line,
      code: 'elements_differ',
      field: 'text',
      message: `text holds the element ${element.slice(0, 100)}, which is missing or different in the archive`,
    })),
  );
  await db('workspace_transfer_rows').where({ transfer_id: transferId, kind: READ_ELEMENTS }).delete();
}

/** Skips diagrams and flows whose content is no model, or whose picture is none. */
export async function checkShown(checking: Checking, table: string): Promise<void> {
  const kindOf = (column: string) =>
    embed(`coalesce((select p.kind from process_contents p where p.id = (s.n).${column}),
       (select c.content ->> 'kind' from workspace_transfer_rows c
        where c.transfer_id = s.transfer_id and c.kind = '${CONTENTS}' and c.ref = (s.n).${column} limit 1))`);
  await skipMatching(
    checking,
    table,
    otherKind,
    fragment`where ${kindOf('content_id')} <> 'bpmn' or ${kindOf('thumbnail_id')} <> 'svg'`,
  );
}

const otherKind = {
  code: 'unknown_value',
  field: 'content_id',
  message: 'content_id names no model, or thumbnail_id no picture',
};

const otherElement = {
  code: 'elements_differ',
  field: 'bpmn_element_id',
  message: 'bpmn_element_id is no element of the model, or the model says something else of it',
};

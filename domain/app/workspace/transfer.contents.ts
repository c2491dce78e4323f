import { buffer } from 'node:stream/consumers';
import { embed, query } from '../../../platform/database.ts';
import { EstateError, invalidField } from '../../../platform/errors.ts';
import { checkFile } from '../../collaboration/files/files.check.ts';
import { fileKinds, MAX_ATTACHMENT } from '../../collaboration/files/files.types.ts';
import type { StoredRow } from '../../kernel/events/row-changes.ts';
import { retryWhileBusy } from '../../kernel/jobs/jobs.running.ts';
import type { RowOf } from '../../kernel/resources/rows.ts';
import { modelLimits } from '../../modelling/bpm/bpmn.model.ts';
import {
  type GivenContent,
  type PreparedContent,
  type PreparedModel,
  recheckContent,
} from '../../modelling/bpm/bpmn.read.ts';
import type { Drawing } from '../../modelling/diagrams/diagrams.load.ts';
import { MAX_DRAWING, type ReadDrawing } from '../../modelling/diagrams/drawing.work.ts';
import {
  checkDrawing,
  checkThumbnail,
  drawingId,
  MAX_THUMBNAIL,
  updateDrawing,
} from '../../modelling/diagrams/drawings.store.ts';
import { identifyImage, MAX_IMAGE } from '../settings/settings.change.ts';
import { skipMatching, skipRows } from './transfer.diff.ts';
import { type Checking, errorsOf, skipInvalid, skipLong } from './transfer.rows.ts';
import type { Staging } from './transfer.stage.ts';
import { blobName } from './workspace.archive.ts';
import { exchangeIds } from './workspace.people.ts';

/** Validates the contents of files like uploads: their type follows from their bytes, and nothing in them is executable. */
export async function checkFiles(checking: Checking): Promise<void> {
  const { archive, read } = checking;
  await skipInvalid(checking, 'files', async (row) => {
    const part = archive.part(blobName(String(row.id)));
    if (!part || part.sha256 !== row.sha256 || part.bytes !== row.size) {
      return [{ field: '', code: 'content_missing', message: 'The archive has no content of the file.' }];
    }
    if (part.bytes > MAX_ATTACHMENT) {
      return [{ field: 'size', code: 'too_long', message: `is more than ${MAX_ATTACHMENT} bytes` }];
    }
    const content = await buffer(archive.read(part));
    read.add(part.name);
    return await errorsOf(async () => {
      const type = await mediaTypeOf(String(row.name), content);
      if (type !== row.media_type) {
        throw invalidField('media_type', 'content_mismatch', `is not ${type}, which the content is`);
      }
    });
  });
}

const attachable: ReadonlySet<string> = new Set(Object.values(fileKinds).map(({ mimeType }) => mimeType));

/** The type of an attached file, or of a picture of the workspace, which may have other types. */
async function mediaTypeOf(name: string, content: Buffer): Promise<string> {
  try {
    const checked = await checkFile(name, content);
    if (checked.name === name) return checked.kind.mimeType;
  } catch (error) {
    const picture = content.length > MAX_IMAGE ? undefined : await pictureType(content);
    if (picture !== undefined && !attachable.has(picture)) return picture;
    throw error;
  }
  throw invalidField('name', 'format', 'is no name that a file of this kind has');
}

async function pictureType(content: Buffer): Promise<string | undefined> {
  try {
    return await identifyImage(content);
  } catch (error) {
    if (error instanceof EstateError) return undefined;
    throw error;
  }
}

/** Skips attachments whose name, type or size differ from their file, or whose file belongs to a user. */
export async function checkAttachments(checking: Checking): Promise<void> {
  await skipMatching(checking, 'file_attachments', otherFile)`cross join lateral (
         select f.name, f.media_type, f.size, f.owner_id from files f where f.id = (s.n).file_id
         union all
         select x.content ->> 'name', x.content ->> 'media_type', (x.content ->> 'size')::bigint, null
         from workspace_transfer_rows x where x.transfer_id = s.transfer_id and x.kind = 'files'
           and x.ref = (s.n).file_id::text and x.action = 'create'
       ) f
       where f.owner_id is not null
         or (f.name, f.media_type, f.size) is distinct from ((s.n).name, (s.n).mime_type, (s.n).size)`;
}

const otherFile = {
  code: 'content_mismatch',
  field: 'file_id',
  message: 'file_id names a file of another name, type or size, or a file of a user',
};

const DRAWINGS = 'diagram_drawings';

/** A drawing as the archive has it. */
type GivenDrawing = Omit<RowOf<typeof Drawing>, 'left_at'>;

/**
 * Validates drawings like those sent to the API: well-formed, bounded, also compressed pages, and without entities. They must
 * contain exactly the cards that the archive lists. Ids in compressed pages are replaced like all others.
 */
export async function checkDrawings(checking: Checking): Promise<void> {
  await skipLong(checking, DRAWINGS, 'xml', MAX_DRAWING);
  const back = new Map([...checking.ids].map(([from, to]) => [to, from]));
  await skipInvalid(checking, DRAWINGS, (row, { line }) =>
    errorsOf(async () => {
      const given = drawingOf(row);
      const sent =
        back.size === 0 ? given : (JSON.parse(exchangeIds(JSON.stringify(given), back)) as GivenDrawing);
      if (drawingId(sent) !== given.id) {
        throw invalidField('id', 'checksum', 'is not the fingerprint of the drawing');
      }
      const { xml, ids, marked } = await readHere(checking, given.xml);
      const named = [...given.card_ids].sort().join();
      if (named !== [...ids].sort().join() || named !== Object.keys(given.card_names).sort().join()) {
        throw invalidField('card_ids', 'cards_differ', 'are not the cards that the drawing names');
      }
      if (xml === given.xml) {
        if (marked === given.marked) return;
        throw invalidField('marked', 'does_not_fit', 'is not what the drawing says');
      }
      await query(checking.db).run`update workspace_transfer_rows
         set content = content || jsonb_build_object('xml', ${xml}::text, 'marked', ${marked}::boolean)
         where transfer_id = ${checking.transferId}::uuid and kind = ${DRAWINGS} and line = ${line}`;
    }),
  );
}

const drawingOf = ({ id, xml, card_ids, card_names, marked }: StoredRow): GivenDrawing => ({
  id: String(id),
  xml: String(xml),
  card_ids: (card_ids ?? []) as string[],
  card_names: (card_names ?? {}) as GivenDrawing['card_names'],
  marked: marked === true,
});

/** A drawing with the ids of its cards in this workspace, also in compressed pages. */
async function readHere({ ids, signal }: Checking, xml: string): Promise<ReadDrawing> {
  const read = (text: string) => retryWhileBusy(signal, () => checkDrawing(text, 'xml'));
  const drawing = await read(xml);
  const facts = drawing.ids
    .filter((id) => ids.has(id))
    .map((id) => ({ id, now: ids.get(id)!, was: null, name: '', state: 'active' as const }));
  if (facts.length === 0) return drawing;
  return await read(await retryWhileBusy(signal, () => updateDrawing(xml, facts)));
}

/** Validates thumbnails like those sent to the API. */
export async function checkThumbnails(checking: Checking): Promise<void> {
  await skipLong(checking, 'diagrams', 'thumbnail', MAX_THUMBNAIL);
  await skipInvalid(checking, 'diagrams', ({ thumbnail }) =>
    typeof thumbnail === 'string'
      ? errorsOf(() => retryWhileBusy(checking.signal, () => checkThumbnail(thumbnail, 'thumbnail')))
      : [],
  );
}

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
      read = await retryWhileBusy(checking.signal, () => recheckContent(contentOf(row)));
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

const contentOf = ({ id, kind, encoding, text, original, size }: StoredRow): GivenContent => ({
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
  await skipMatching(checking, ELEMENTS, otherElement)`where not exists (
         select from workspace_transfer_rows e where e.transfer_id = s.transfer_id and e.kind = ${READ_ELEMENTS}
           and e.ref = ${key} and e.content = to_jsonb(s.n) - 'id' - 'content_id')
       and not exists (
         select from workspace_transfer_rows c where c.transfer_id = s.transfer_id and c.kind = ${CONTENTS}
           and c.ref = s.content ->> 'content_id' and c.action = 'conflict')`;
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
  await skipMatching(checking, table, otherKind)`
     where ${kindOf('content_id')} <> 'bpmn' or ${kindOf('thumbnail_id')} <> 'svg'`;
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

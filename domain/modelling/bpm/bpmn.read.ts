import { sha256 } from '../../../platform/crypto.ts';
import { query, type Sql } from '../../../platform/database.ts';
import { EstateError, invalidField } from '../../../platform/errors.ts';
import { boundedThreadPool } from '../../../platform/worker-threads.ts';
import { checkSvgInThread } from '../../collaboration/files/svg.check.ts';
import { decodeXml, type ModelContent, modelLimits, oneLine, readContent } from './bpmn.model.ts';

/** Characters up to which a model is read in the main thread. */
const SMALL = 64 * 1024;
/** Tags likewise: each that BPMN does not know takes 40 microseconds. */
const SMALL_TAGS = 4_000;

type Content = Awaited<ReturnType<typeof readContent>>;

const ask = boundedThreadPool<string, Content>({
  module: new URL('./bpmn.worker.ts', import.meta.url),
  what: 'large models',
});

/**
 * Reads a model; a large one in a worker thread, so that it does not block other requests.
 * @throws EstateError `unavailable` where too many wait, `query_too_heavy` where it takes too long.
 */
const readInThread = async (text: string): Promise<Content> =>
  text.length <= SMALL && text.split('<', SMALL_TAGS + 1).length <= SMALL_TAGS
    ? await readContent(text)
    : await ask(text);

/** A content that is ready to be stored. */
export interface PreparedContent {
  /** SHA-256 of encoding and bytes. */
  id: string;
  kind: 'bpmn' | 'svg';
  text: string;
  /** Where the bytes are not the text in UTF-8. */
  original: Buffer | null;
  encoding: string;
  /** In bytes. */
  size: number;
}

/** A model with all that is taken from it. */
export interface PreparedModel extends PreparedContent, ModelContent {}

export const MAX_THUMBNAIL = 1024 * 1024;

/** A model that was sent as text, which is stored in UTF-8 whatever it declares. @throws EstateError 422, `unavailable`. */
export async function readModelText(text: string, field: string): Promise<PreparedModel> {
  const bytes = Buffer.from(text, 'utf8');
  requireSize(bytes.length, field);
  if (!text.isWellFormed()) throw invalidField(field, 'format', 'is no text: it holds half a character');
  return await readModel(prepared('bpmn', text, 'utf-8', null, bytes), field);
}

/** A model that was sent as a file, in the encoding that it declares. @throws EstateError 422, `unavailable`. */
export async function readModelFile(bytes: Buffer, field: string): Promise<PreparedModel> {
  requireSize(bytes.length, field);
  const { text, encoding } = refusing(field, () => decodeXml(bytes));
  const original = bytes.equals(Buffer.from(text, 'utf8')) ? null : bytes;
  return await readModel(prepared('bpmn', text, encoding, original, bytes), field);
}

function requireSize(size: number, field: string): void {
  if (size === 0) throw invalidField(field, 'required', 'is empty');
  if (size <= modelLimits.bytes) return;
  throw invalidField(field, 'too_long', `has more than ${modelLimits.bytes} bytes`);
}

/** A picture that was sent with a model. @throws EstateError 422, `unavailable`. */
export async function readThumbnail(text: string, field: string): Promise<PreparedContent> {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length > MAX_THUMBNAIL) {
    throw invalidField(field, 'too_long', `has more than ${MAX_THUMBNAIL} bytes`);
  }
  if (!text.isWellFormed()) throw invalidField(field, 'format', 'is no text: it holds half a character');
  try {
    await checkSvgInThread(text);
  } catch (error) {
    throw error instanceof EstateError ? error : unreadable(field, error);
  }
  return prepared('svg', text, 'utf-8', null, bytes);
}

/** The id of a content: its hash, so that equal contents are stored once. */
export const contentId = (kind: string, encoding: string, bytes: Buffer): string =>
  sha256(Buffer.concat([Buffer.from(`${kind} ${encoding}\n`), bytes]));

function prepared(
  kind: 'bpmn' | 'svg',
  text: string,
  encoding: string,
  original: Buffer | null,
  bytes: Buffer,
): PreparedContent {
  return { id: contentId(kind, encoding, bytes), kind, text, original, encoding, size: bytes.length };
}

async function readModel(content: PreparedContent, field: string): Promise<PreparedModel> {
  const read = await readInThread(content.text);
  if ('error' in read) throw invalidField(field, read.error.code, read.error.message);
  return { ...content, ...read.content };
}

function refusing<T>(field: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw unreadable(field, error);
  }
}

const unreadable = (field: string, error: unknown) =>
  invalidField(field, 'format', `cannot be taken: ${oneLine((error as Error).message)}`);

/** A content as another service has stored it. */
export type GivenContent = Omit<PreparedContent, 'kind'> & { kind: string };

/**
 * Reads a content of another service like one of a request, and checks what that service has stored of it: the id is its
 * hash, which equal contents share, and the text is its decoded bytes.
 * @throws EstateError 422 naming the column, `unavailable`.
 */
export async function recheckContent(given: GivenContent): Promise<PreparedModel | PreparedContent> {
  const { id, kind, encoding, text, original, size } = given;
  const bytes = original ?? Buffer.from(text, 'utf8');
  if (contentId(kind, encoding, bytes) !== id) {
    throw invalidField('id', 'checksum', 'is not the hash of the content');
  }
  // models that were sent as text are stored in UTF-8, whatever encoding they declare
  const asText = encoding === 'utf-8' && original === null;
  const read =
    kind === 'svg'
      ? await readThumbnail(text, 'text')
      : await (asText ? readModelText(text, 'text') : readModelFile(bytes, 'text'));
  const isSame = read.text === text && read.encoding === encoding && read.id === id;
  if (!isSame || (read.original === null) !== (original === null)) {
    throw invalidField('text', 'encoding', `does not equal its bytes in ${encoding.slice(0, 40)}`);
  }
  if (read.size !== size)
    throw invalidField('size', 'out_of_range', `must be ${read.size}, the size of the content in bytes`);
  return read;
}

/** Stores a model or picture; an existing one is only marked as used. @returns its id. */
export async function storeContent(sql: Sql, content: PreparedContent | PreparedModel): Promise<string> {
  const { id, kind, text, original, encoding, size } = content;
  const model = 'elements' in content ? content : undefined;
  const [stored] = await query(sql).rows<{ is_new: boolean }>`insert into process_contents as p (id, kind,
    text, original, encoding, size, warnings, picture)
     values (${id}, ${kind}, ${text}, ${original}, ${encoding}, ${size},
     ${JSON.stringify(model?.warnings ?? [])}::jsonb, ${model?.picture ?? null})
     on conflict (id) do update set used_at = now() returning xmax = 0 as is_new`;
  if (!stored!.is_new || !model) return id;
  for (const elements of model.elements) {
    await query(sql).run`insert into process_content_elements (content_id, bpmn_element_id, sequence_order,
      element_type, name,
         documentation, lane_name, pool_name, parent_element_id, is_automated, next_element_ids)
       select ${id}, e.bpmn_element_id, e.sequence_order, e.element_type, e.name, e.documentation,
       e.lane_name, e.pool_name,
         e.parent_element_id, e.is_automated, e.next_element_ids
       from jsonb_to_recordset(${elements}::jsonb) as e(bpmn_element_id text, sequence_order int,
       element_type text, name text,
         documentation text, lane_name text, pool_name text, parent_element_id text, is_automated boolean,
         next_element_ids text[])`;
  }
  return id;
}

/** Those of the elements that a stored model contains. */
export async function elementsAmong(sql: Sql, contentId: string, ids: string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  return new Set(
    await sql('process_content_elements')
      .where({ content_id: contentId })
      .whereIn('bpmn_element_id', ids)
      .pluck('bpmn_element_id'),
  );
}

/** Deletes contents that nothing has used for this number of days. @returns how many. */
export async function deleteUnusedContents(sql: Sql, days: number, limit: number): Promise<number> {
  return await query(sql).count`delete from process_contents where id in (
       select p.id from process_contents p where p.used_at < now() - make_interval(days => ${days})
         and not exists (select from process_diagrams d where p.id in (d.content_id, d.thumbnail_id))
         and not exists (select from process_flow_versions f where p.id in (f.content_id, f.thumbnail_id))
       limit ${limit} for update of p skip locked)`;
}

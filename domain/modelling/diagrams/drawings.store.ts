import { sha256 } from '../../../platform/crypto.ts';
import { embed, query, type Sql, type Transaction } from '../../../platform/database.ts';
import { EstateError, invalidField } from '../../../platform/errors.ts';
import { boundedThreadPool } from '../../../platform/worker-threads.ts';
import { checkSvgInThread } from '../../collaboration/files/svg.check.ts';
import type { RowOf } from '../../kernel/resources/rows.ts';
import type { Drawing } from './diagrams.load.ts';
import {
  type CardFact,
  type DrawingRequest,
  type DrawingResult,
  processDrawing,
  type ReadDrawing,
} from './drawing.work.ts';

/** Characters up to which a drawing is read in the main thread. */
const SMALL = 32 * 1024;
/** The same for a drawing that may contain packed pages, which unpack to several hundred times their length. */
const SMALL_PACKED = 2 * 1024;

const mayBePacked = (xml: string): boolean => />\s*[^<\s]/.test(xml) || xml.includes('<![CDATA[');
const isSmall = (xml: string): boolean =>
  xml.length <= SMALL_PACKED || (xml.length <= SMALL && !mayBePacked(xml));

const inThread = boundedThreadPool<DrawingRequest, DrawingResult>({
  module: new URL('./drawing.worker.ts', import.meta.url),
  what: 'large drawings',
});
const run = async (request: DrawingRequest): Promise<DrawingResult> =>
  isSmall(request.xml) ? processDrawing(request) : await inThread(request);

/**
 * Reads a drawing, a large one in a worker thread.
 * @throws EstateError `validation_failed` for an invalid or too large drawing; `unavailable`, `query_too_heavy`.
 */
export async function checkDrawing(xml: string, field = 'data.xml'): Promise<ReadDrawing> {
  const result = await run({ xml });
  if ('read' in result) return result.read;
  const reason = 'error' in result ? result.error : '';
  throw invalidField(field, 'bad_drawing', `is invalid: ${reason}`);
}

/** Updates a drawing to its cards in the same way. @throws EstateError `unavailable`, `query_too_heavy`. */
export async function updateDrawing(xml: string, facts: readonly CardFact[]): Promise<string> {
  const result = await run({ xml, facts });
  return 'xml' in result ? result.xml : xml;
}

/** The id of a drawing: a hash of its content, so that equal drawings are stored once. */
export function drawingId(drawing: Pick<RowOf<typeof Drawing>, 'xml' | 'card_ids' | 'card_names'>): string {
  const { xml, card_ids, card_names } = drawing;
  const names = Object.fromEntries(card_ids.map((id) => [id, card_names[id] ?? null]));
  return sha256(`${JSON.stringify(names)}\n${xml}`);
}

/**
 * Stores a drawing with the current names of its cards; a deleted card keeps the name that it has in the drawing before.
 * @returns the id of the drawing.
 */
export async function storeDrawing(
  sql: Transaction,
  { xml, ids, marked }: ReadDrawing,
  before: string | null,
): Promise<string> {
  const names: Record<string, string | null> = Object.fromEntries(ids.map((id) => [id, null]));
  if (ids.length > 0) {
    const cards = await query(sql).rows<{ id: string; name: string | null }>`select r.id,
      coalesce(c.name, (select w.card_names ->> r.id::text from diagram_drawings w
      where w.id = ${before})) as name
       from unnest(${ids}::uuid[]) r(id) left join cards c on c.id = r.id`;
    for (const { id, name } of cards) names[id] = name;
  }
  const id = drawingId({ xml, card_ids: ids, card_names: names });
  const data = { id, xml, card_ids: ids, card_names: JSON.stringify(names), marked };
  await sql('diagram_drawings').insert(data).onConflict('id').merge({ left_at: null });
  return id;
}

/** Deletes drawings that no diagram has used for this number of days; until then a rollback may restore such a diagram. */
export async function deleteUnusedDrawings(sql: Sql, days: number, batch: number): Promise<number> {
  const used = 'exists (select from diagrams d where d.drawing = w.id)';
  await query(sql).run`update diagram_drawings w set left_at = null
    where left_at is not null and ${embed(used)}`;
  await query(sql).run`update diagram_drawings w set left_at = now()
    where left_at is null and not ${embed(used)}`;
  return await query(sql).count`delete from diagram_drawings where id in (
       select id from diagram_drawings w where left_at < now() - make_interval(days => ${days}) and not ${embed(used)}
       order by left_at limit ${batch} for update skip locked)`;
}

/** The largest thumbnail, in characters of its `data:` URL. */
export const MAX_THUMBNAIL = 300_000;

const MAX_HEAD = 100;
const HEAD = /^data:image\/(png|jpeg|webp|svg\+xml)(;[^,]*)?$/i;
const magic: Record<string, (bytes: Buffer) => boolean> = {
  png: (bytes) => bytes.subarray(0, 8).toString('latin1') === '\x89PNG\r\n\x1a\n',
  jpeg: (bytes) => bytes.subarray(0, 3).toString('latin1') === '\xff\xd8\xff',
  webp: (bytes) =>
    bytes.subarray(0, 4).toString('latin1') === 'RIFF' && bytes.subarray(8, 12).toString('latin1') === 'WEBP',
};

/**
 * Checks a picture as a `data:` URL: its bytes match its type, and an SVG contains no scripts. Thumbnails are only sent
 * within JSON, and a browser that shows such a URL as an image loads no other resources.
 * @throws EstateError `validation_failed`; `unavailable`, `query_too_heavy` for a large SVG.
 */
export async function checkThumbnail(text: string, field = 'data.thumbnail'): Promise<string> {
  const refuse = (reason: string) => invalidField(field, 'bad_thumbnail', reason);
  if (text.length > MAX_THUMBNAIL) throw refuse(`is longer than ${MAX_THUMBNAIL} characters`);
  const head = text.slice(0, MAX_HEAD).split(',', 1)[0]!;
  const content = text.slice(head.length + 1);
  const [, kind, parameters = ''] = HEAD.exec(head) ?? [];
  if (kind === undefined) throw refuse('is no data: URL of a PNG, JPEG, WebP or SVG picture');
  const isBase64 = /;base64$/i.test(parameters);
  if (isBase64 && !/^[A-Za-z0-9+/]+={0,2}$/.test(content)) throw refuse('is not base64');
  const type = kind.toLowerCase();
  if (type !== 'svg+xml') {
    if (isBase64 && magic[type]!(Buffer.from(content, 'base64'))) return text;
    throw refuse(`contains no ${type.toUpperCase()} picture`);
  }
  try {
    await checkSvgInThread(
      isBase64 ? Buffer.from(content, 'base64').toString('utf8') : decodeURIComponent(content),
    );
  } catch (error) {
    if (error instanceof EstateError) throw error;
    throw refuse(`contains no safe SVG picture: ${(error as Error).message.slice(0, 200)}`);
  }
  return text;
}

import { query } from '../../../platform/database.ts';
import { invalidField } from '../../../platform/errors.ts';
import type { StoredRow } from '../../kernel/events/row-changes.ts';
import { MAX_DRAWING, type ReadDrawing } from '../../modelling/diagrams/drawing.work.ts';
import {
  checkDrawing,
  checkThumbnail,
  drawingId,
  MAX_THUMBNAIL,
  updateDrawing,
} from '../../modelling/diagrams/drawings.store.ts';
import { type Checking, errorsOf, retryWhileBusy, skipInvalid, skipLong } from './transfer.rows.ts';
import { exchangeIds } from './workspace.people.ts';

const DRAWINGS = 'diagram_drawings';

/** A drawing as the archive has it. */
interface Given {
  id: string;
  xml: string;
  card_ids: string[];
  card_names: Record<string, string | null>;
  marked: boolean;
}

/**
 * Validates drawings like those sent to the API: well-formed, bounded, also compressed pages, and without entities. They must
 * contain exactly the cards that the archive lists. Ids in compressed pages are replaced like all others.
 */
export async function checkDrawings(checking: Checking): Promise<void> {
  await skipLong(checking, DRAWINGS, 'xml', MAX_DRAWING);
  const back = new Map([...checking.ids].map(([from, to]) => [to, from]));
  await skipInvalid(checking, DRAWINGS, (row, { line }) =>
    errorsOf(async () => {
      const given = givenOf(row);
      const sent = back.size === 0 ? given : (JSON.parse(exchangeIds(JSON.stringify(given), back)) as Given);
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

const givenOf = ({ id, xml, card_ids, card_names, marked }: StoredRow): Given => ({
  id: String(id),
  xml: String(xml),
  card_ids: (card_ids ?? []) as string[],
  card_names: (card_names ?? {}) as Given['card_names'],
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

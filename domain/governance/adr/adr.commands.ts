import Type, { type Static } from 'typebox';
import { query, type Transaction } from '../../../platform/database.ts';
import {
  EstateError,
  type FieldError,
  invalidField,
  invalidFields,
  notFound,
} from '../../../platform/errors.ts';
import { deleteLinks, type LinkedCard } from '../../collaboration/cards.access.ts';
import { loadCards, lockCards, requireCard } from '../../inventory/cards/cards.load.ts';
import { isStorable } from '../../inventory/cards/rules/values.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import type { StoredRow } from '../../kernel/events/row-changes.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import {
  type CardRight,
  forbidden,
  may,
  requireOnCard,
  requirePermission,
} from '../../kernel/permissions/policy.ts';
import { deleteRows, findRows } from '../../kernel/resources/rows.ts';
import { Count, component, object, Uuid } from '../../kernel/shapes.ts';
import { insertRecord, lockRecord, recordText } from '../signatures/signatures.records.ts';
import {
  Adr,
  AdrCard,
  type AdrCardRow,
  type AdrContent,
  type AdrInput,
  type AdrRow,
  adrCardEvent,
  adrKind,
  checkedContent,
  copiedContent,
  copyLinks,
  insertLinks,
  MAX_LINKS,
  readContent,
  referenceNumber,
} from './adr.kind.ts';
import { InvalidFrontMatter, readMadr } from './madr.ts';

/**
 * The number after the highest. A lock until the end of the transaction excludes gaps and duplicates under concurrent
 * writes.
 */
async function nextNumber(sql: Transaction): Promise<number> {
  await query(sql).run`select pg_advisory_xact_lock(hashtextextended('adr/number', 0))`;
  return await query(sql).value`select coalesce(max(number), 0) + 1 as number from adrs`;
}

/** Creates a decision as a draft with the next number. @throws EstateError `forbidden`, `validation_failed`. */
export async function createAdr(ctx: Ctx, input: AdrInput): Promise<JsonText> {
  requirePermission(ctx.caller, adrKind.rights.manage);
  const values = checkedContent(input);
  return await command(ctx, async (work) => {
    const { id } = await createAdrWithin(work, ctx, values);
    return await recordText(work.sql, ctx, adrKind, id);
  });
}

/** The same within a command; the content is checked already. */
export async function createAdrWithin(work: Work, ctx: Ctx, content: StoredRow): Promise<AdrRow> {
  return await insertRecord(work, ctx, adrKind, { ...content, number: await nextNumber(work.sql) });
}

/**
 * Deletes a draft: the caller's own one, or with `adr.delete` any.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `wrong_state` for one that is not a draft.
 */
export async function deleteAdr(ctx: Ctx, id: string): Promise<void> {
  if (!may(ctx.caller, 'adr.delete')) requirePermission(ctx.caller, adrKind.rights.manage);
  await command(ctx, async (work) => {
    const row = await lockRecord(work, ctx, adrKind, id);
    const own = row.created_by !== null && row.created_by === ctx.caller.userId;
    if (!may(ctx.caller, 'adr.delete') && !own) throw forbidden('adr.delete');
    if (row.status !== 'draft') {
      throw new EstateError('wrong_state', 'Only drafts can be deleted.', { extra: { state: row.status } });
    }
    await deleteLinks<AdrCardRow>(work, AdrCard, { adr_id: row.id }, (card, link) =>
      adrCardEvent(card, row, link, null),
    );
    await deleteRows(work.sql, Adr, (query) => query.where({ id: row.id }));
    work.emit(await adrKind.event(row, null));
  });
}

/** Copies a decision, in any state, to a draft with its own number. @throws EstateError `forbidden`, `not_found`. */
export async function duplicateAdr(ctx: Ctx, id: string): Promise<JsonText> {
  requirePermission(ctx.caller, adrKind.rights.manage);
  return await command(ctx, async (work) => {
    const [from] = await findRows(work.sql, Adr, (query) => query.where({ id }).forShare());
    if (!from) throw notFound(adrKind.entity, id);
    const made = await createAdrWithin(work, ctx, copiedContent(from));
    await copyLinks(work, ctx, from, made);
    return await recordText(work.sql, ctx, adrKind, made.id);
  });
}

const LINK: CardRight = { app: 'adr.manage', card: 'card.manage_adr_links' };

/** Locks a decision and a card on which the caller may manage links. @throws EstateError `forbidden`, `not_found`. */
async function lockForLink(work: Work, ctx: Ctx, id: string, cardId: string) {
  // cards are locked before the rows that refer to them, to avoid deadlocks
  await lockCards(work, [cardId], 'share');
  const adr = await lockRecord(work, ctx, adrKind, id);
  const card = requireCard(await loadCards(work, ctx, [cardId]), cardId);
  requireOnCard(ctx, LINK, card);
  return { adr, card };
}

/**
 * Links a decision, in any state, to a card: links are not signed.
 * @throws EstateError `forbidden`, `not_found`, `duplicate_link`, `conflict` for too many.
 */
export async function linkAdrCard(ctx: Ctx, id: string, cardId: string): Promise<JsonText> {
  requirePermission(ctx.caller, adrKind.rights.view);
  return await command(ctx, async (work) => {
    const { adr, card } = await lockForLink(work, ctx, id, cardId);
    const linked: string[] = await work.sql('adr_cards').where({ adr_id: adr.id }).pluck('card_id');
    if (linked.includes(card.id)) {
      const detail = `${referenceNumber(adr.number)} is already linked to this card.`;
      throw new EstateError('duplicate_link', detail);
    }
    if (linked.length >= MAX_LINKS) {
      throw new EstateError('conflict', `A decision can be linked to at most ${MAX_LINKS} cards.`);
    }
    await insertLinks(work, ctx, adr, [card]);
    return await recordText(work.sql, ctx, adrKind, adr.id);
  });
}

/** Removes a link. @throws EstateError `forbidden`, `not_found`. */
export async function unlinkAdrCard(ctx: Ctx, id: string, cardId: string): Promise<void> {
  requirePermission(ctx.caller, adrKind.rights.view);
  await command(ctx, async (work) => {
    const { adr, card } = await lockForLink(work, ctx, id, cardId);
    const key = { adr_id: adr.id, card_id: card.id };
    const event = (of: LinkedCard, link: AdrCardRow) => adrCardEvent(of, adr, link, null);
    const deleted = await deleteLinks<AdrCardRow>(work, AdrCard, key, event);
    if (deleted === 0) throw notFound('link to the card', cardId);
  });
}

/** Files that are read at once, and bytes of one. */
export const MAX_FILES = 100;
export const MAX_FILE = 1024 * 1024;

/** A Markdown file as it was sent. */
export interface RecordFile {
  name: string;
  content: Buffer;
}

export const ImportedAdrsSchema = component('ImportedAdrs', {
  created: Count,
  items: Type.Array(
    object({
      file: Type.String(),
      id: Uuid,
      reference_number: Type.String(),
      title: Type.String(),
      notes: Type.Array(Type.String(), { description: 'What could not be imported' }),
    }),
  ),
});
type ImportedAdr = Static<typeof ImportedAdrsSchema>['items'][number];

/**
 * Writes the decisions of Markdown records, as drafts with the next numbers in the order of the files: all of them or
 * none.
 * @throws EstateError `forbidden`, `validation_failed` naming files and their errors.
 */
export async function importAdrs(ctx: Ctx, files: readonly RecordFile[]): Promise<ImportedAdr[]> {
  requirePermission(ctx.caller, adrKind.rights.manage);
  const errors: FieldError[] = [];
  const read = files.map((file) => readRecord(file, errors));
  if (errors.length > 0) throw invalidFields(errors);
  return await command(ctx, async (work) => {
    const made: ImportedAdr[] = [];
    for (const { file, content, notes } of read) {
      const { id, number, title } = await createAdrWithin(work, ctx, content);
      made.push({ file, id, reference_number: referenceNumber(number), title, notes });
    }
    return made;
  });
}

function readRecord({ name, content }: RecordFile, errors: FieldError[]) {
  const at = name === '' ? 'file' : name;
  const refuse = (code: string, message: string) => void errors.push({ field: at, code, message });
  let text = '';
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(content);
    if (!isStorable(text)) refuse('bad_text', 'contains a NUL or an incomplete character');
  } catch {
    refuse('bad_text', 'is not UTF-8');
  }
  try {
    const { input, notes } = readMadr(text);
    const checked = readContent({ ...input, title: input.title ?? '' }, `${at}: `);
    errors.push(...checked.errors);
    return { file: name, content: checked.content as AdrContent, notes };
  } catch (error) {
    if (!(error instanceof InvalidFrontMatter)) throw error;
    refuse('bad_head', `has a head that ${error.message}`);
    return { file: name, content: {}, notes: [] };
  }
}

/** @throws EstateError `validation_failed` for a request without a file. */
export function requireFiles(files: readonly RecordFile[]): void {
  if (files.length === 0) throw invalidField('file', 'required', 'the form contains no file');
}

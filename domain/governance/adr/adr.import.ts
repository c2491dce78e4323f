import { type FieldError, invalidField, invalidFields } from '../../../platform/errors.ts';
import { isStorable } from '../../inventory/cards/rules/text.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { createAdrWithin } from './adr.commands.ts';
import { readContent } from './adr.content.ts';
import { adrKind } from './adr.kind.ts';
import { type AdrContent, referenceNumber } from './adr.types.ts';
import { BadHead, readMadr } from './madr.format.ts';

/** Files that are read at once, and bytes of one. */
export const MAX_FILES = 100;
export const MAX_FILE = 1024 * 1024;

/** A Markdown file as it was sent. */
export interface RecordFile {
  name: string;
  content: Buffer;
}

/** What a file has become. */
export interface ImportedAdr {
  file: string;
  id: string;
  reference_number: string;
  title: string;
  /** What could not be taken over, in sentences. */
  notes: string[];
}

/**
 * Writes the decisions of Markdown records, as drafts with the next numbers in the order of the files: all of them or
 * none.
 * @throws EstateError `forbidden`, `validation_failed` naming files and what in them does not fit.
 */
export async function importAdrs(ctx: Ctx, files: readonly RecordFile[]): Promise<ImportedAdr[]> {
  requirePermission(ctx.caller, adrKind.rights.manage);
  const faults: FieldError[] = [];
  const read = files.map((file) => readRecord(file, faults));
  if (faults.length > 0) throw invalidFields(faults);
  return await command(ctx, async (work) => {
    const made: ImportedAdr[] = [];
    for (const { file, content, notes } of read) {
      const { id, number, title } = await createAdrWithin(work, ctx, content);
      made.push({ file, id, reference_number: referenceNumber(number), title, notes });
    }
    return made;
  });
}

function readRecord({ name, content }: RecordFile, faults: FieldError[]) {
  const at = name === '' ? 'file' : name;
  const fault = (code: string, message: string) => void faults.push({ field: at, code, message });
  let text = '';
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(content);
    if (!isStorable(text)) fault('bad_text', 'holds a NUL or an incomplete character');
  } catch {
    fault('bad_text', 'is not UTF-8');
  }
  try {
    const { input, notes } = readMadr(text);
    const checked = readContent({ ...input, title: input.title ?? '' }, `${at}: `);
    faults.push(...checked.faults);
    return { file: name, content: checked.content as AdrContent, notes };
  } catch (error) {
    if (!(error instanceof BadHead)) throw error;
    fault('bad_head', `has a head that ${error.message}`);
    return { file: name, content: {}, notes: [] };
  }
}

/** @throws EstateError `validation_failed` for a request without a file. */
export function requireFiles(files: readonly RecordFile[]): void {
  if (files.length === 0) throw invalidField('file', 'required', 'the form holds no file');
}

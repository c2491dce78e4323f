import { CsvError, parse } from 'csv-parse/sync';
import { type FieldError, fieldError } from '../../../platform/errors.ts';
import { ROW } from './imports.row.ts';

export type Separator = ',' | ';' | '\t';

/** One record of a CSV file that is not empty. */
export interface CsvRecord {
  /** The line on which it begins, from 1. */
  line: number;
  /** Its size in the file. */
  bytes: number;
  cells: string[];
  /** Why it could not be parsed. */
  error?: FieldError;
  /** The beginning of what could not be parsed. */
  text?: string;
}

/** The number of bytes of a malformed record that are kept as its text. */
const MAX_TEXT = 8 * 1024;

/** Larger records are refused, so that an unclosed quote does not include the rest of the file. */
export const MAX_RECORD = 1024 * 1024;
const BLOCK = 64 * 1024;
const LF = 10;
const CR = 13;
const QUOTE = 34;

const separators: Separator[] = [',', ';', '\t'];

/** The separator that occurs most often in the first record, outside quotes; a comma if there is none. */
function detectSeparator(head: Buffer): Separator {
  const counts = new Map<number, number>(separators.map((separator) => [separator.charCodeAt(0), 0]));
  let quoted = false;
  let filled = false;
  for (const byte of head) {
    if (byte === QUOTE) quoted = !quoted;
    if (quoted) continue;
    if (byte === LF || byte === CR) {
      if (filled) break;
    } else {
      filled = true;
      const count = counts.get(byte);
      if (count !== undefined) counts.set(byte, count + 1);
    }
  }
  return separators.reduce((best, separator) =>
    counts.get(separator.charCodeAt(0))! > counts.get(best.charCodeAt(0))! ? separator : best,
  );
}

/**
 * Parses a CSV file (RFC 4180; lines end with LF, CRLF or CR) into records; the header is the first one. A malformed
 * record is returned with its error, and parsing continues after it. Empty lines and lines of empty cells are skipped.
 * Buffers a few blocks of 64 KiB, or twice the largest record.
 * @param separator detected from the first record if not given.
 */
export async function* csvRecords(
  chunks: AsyncIterable<Buffer>,
  separator?: Separator,
): AsyncGenerator<CsvRecord[]> {
  const splitter = new Splitter(separator);
  let held: Buffer[] = [];
  let size = 0;
  let wanted = BLOCK;
  for await (const chunk of chunks) {
    held.push(chunk);
    size += chunk.length;
    if (size < wanted) continue;
    const { records, rest } = splitter.split(Buffer.concat(held), false);
    held = rest.length > 0 ? [rest] : [];
    size = rest.length;
    // An incomplete record is parsed again only when considerably more of it was read.
    wanted = Math.max(BLOCK, 2 * size);
    if (records.length > 0) yield records;
  }
  const { records } = splitter.split(Buffer.concat(held), true);
  if (records.length > 0) yield records;
}

interface Split {
  records: CsvRecord[];
  /** The rest of a block: the beginning of a record that continues in the next block. */
  rest: Buffer;
}

/** Adds a block of the file; it is parsed together with the rest of the previous one. */
class Splitter {
  #separator: Separator | undefined;
  #line = 1;
  #records: CsvRecord[] = [];
  /** Set inside a record that is too large and is discarded. */
  #skipping: { quoted: boolean } | undefined;

  constructor(separator: Separator | undefined) {
    this.#separator = separator;
  }

  /** The records that end in the block; `last` if it is the last block. */
  split(block: Buffer, last: boolean): Split {
    this.#records = [];
    this.#separator ??= detectSeparator(block);
    let at = this.#skipping ? this.#skip(block, 0, last) : 0;
    let again = !this.#skipping;
    while (again) ({ at, again } = this.#take(block, at, last));
    if (!last && !this.#skipping && block.length - at > MAX_RECORD) {
      const text = textOf(block, at, block.length);
      this.#records.push({ line: this.#line, bytes: MAX_RECORD, cells: [], error: tooLong, text });
      this.#skipping = { quoted: false };
      at = this.#skip(block, at, last);
    }
    return { records: this.#records, rest: block.subarray(at) };
  }

  /** Parses records from `start` up to the first malformed one; `again` if more records may follow it. */
  #take(block: Buffer, start: number, last: boolean): { at: number; again: boolean } {
    const { found, failure } = parseRecords(block.subarray(start), this.#separator!);
    let at = start;
    for (const { cells, end } of found) {
      const to = start + end;
      // At the end of a block the record, and even its line break, may be incomplete.
      if (!last && to === block.length && block[to - 1] !== LF) return { at, again: false };
      if (to - at > MAX_RECORD) this.#add(block, at, to, [], tooLong);
      else if (cells.some((cell) => cell !== '')) this.#add(block, at, to, cells);
      else this.#line += lineBreaks(block, at, to);
      at = to;
    }
    if (!failure) return { at, again: false };
    if (failure.code === 'CSV_QUOTE_NOT_CLOSED') {
      if (!last) return { at, again: false };
      this.#add(block, at, block.length, [], unclosedQuote);
      return { at: block.length, again: false };
    }
    const field = Number(failure.index) > 0 ? start + Number(failure.bytes) + 1 : at;
    const end = endOfLine(block, strayQuote(block, field), last);
    if (end < 0) return { at, again: false };
    this.#add(block, at, end, [], badQuote);
    return { at: end, again: end < block.length };
  }

  #add(block: Buffer, from: number, to: number, cells: string[], error?: FieldError): void {
    const malformed = error && { error, text: textOf(block, from, to) };
    this.#records.push({ line: this.#line, bytes: to - from, cells, ...malformed });
    this.#line += lineBreaks(block, from, to);
  }

  /** Skips to the end of a record. @returns the offset up to which the block was consumed. */
  #skip(block: Buffer, from: number, last: boolean): number {
    const state = this.#skipping!;
    let at = from;
    for (; at < block.length; at += 1) {
      const byte = block[at];
      if (byte === QUOTE) state.quoted = !state.quoted;
      if (byte !== LF && byte !== CR) continue;
      if (byte === CR && at + 1 === block.length && !last) break;
      if (state.quoted) continue;
      at += byte === CR && block[at + 1] === LF ? 2 : 1;
      this.#skipping = undefined;
      break;
    }
    this.#line += lineBreaks(block, from, at);
    return at;
  }
}

const tooLong: FieldError = fieldError(ROW, 'too_long', 'is larger than 1 MiB; perhaps a quote is left open');
const badQuote: FieldError = fieldError(
  ROW,
  'bad_quote',
  'has a quote inside a cell; a quoted cell begins and ends with one, and doubles those inside',
);
const unclosedQuote: FieldError = fieldError(
  ROW,
  'unclosed_quote',
  'opens a quote that is not closed before the end of the file',
);

interface Found {
  cells: string[];
  /** The offset of the end of the record, its line break included. */
  end: number;
}

/** All records of a CSV text up to its end or up to the first malformed one. */
function parseRecords(bytes: Buffer, separator: Separator): { found: Found[]; failure?: CsvError } {
  const found: Found[] = [];
  try {
    parse(bytes, {
      delimiter: separator,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      on_record: (cells: string[], { bytes: end }) => {
        found.push({ cells, end });
        return null;
      },
    });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return { found, failure: error };
  }
  return { found };
}

/** Where the quoting of a field is invalid: at a quote inside it, or after its closing quote. */
function strayQuote(block: Buffer, field: number): number {
  if (block[field] !== QUOTE) return field;
  for (let at = block.indexOf(QUOTE, field + 1); at >= 0; at = block.indexOf(QUOTE, at + 2)) {
    if (block[at + 1] !== QUOTE) return at + 1;
  }
  return block.length;
}

const textOf = (block: Buffer, from: number, to: number): string =>
  block.toString('utf8', from, Math.min(to, from + MAX_TEXT)).replace(/[\r\n]+$/, '');

/** The offset after the end of the line of `from`; -1 if it continues in the next block. */
function endOfLine(block: Buffer, from: number, last: boolean): number {
  for (let at = from; at < block.length; at += 1) {
    if (block[at] === LF) return at + 1;
    if (block[at] !== CR) continue;
    if (at + 1 === block.length && !last) return -1;
    return block[at + 1] === LF ? at + 2 : at + 1;
  }
  return last ? block.length : -1;
}

function lineBreaks(block: Buffer, from: number, to: number): number {
  let count = 0;
  for (let at = from; at < to; at += 1) {
    const byte = block[at];
    if (byte === LF || (byte === CR && block[at + 1] !== LF)) count += 1;
  }
  return count;
}

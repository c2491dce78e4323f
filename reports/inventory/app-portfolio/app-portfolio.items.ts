import type { CopiedLines } from '../../../platform/copy-out.ts';
import { ID } from '../../kernel/report.ids.ts';
import {
  copyBytes,
  ID_TEXT,
  int32At,
  maxJsonLength,
  writeId,
  writeJsonText,
} from '../../kernel/report.json-rows.ts';
import { ID_FROM, type NumberedLines } from '../../kernel/report.numbered.ts';
import type { RelationKind } from './app-portfolio.sql.ts';

const ORGANIZATION = 'Organization';
const CHUNK = 64 * 1024;
const COMMA = 0x2c;
const QUOTE = 0x22;

const text = {
  begin: Buffer.from('{"id":"'),
  next: Buffer.from('\n,{"id":"'),
  name: Buffer.from('","name":'),
  subtype: Buffer.from(',"subtype":'),
  attributes: Buffer.from(',"attributes":'),
  lifecycle: Buffer.from(',"lifecycle":'),
  relations: Buffer.from(',"relations":['),
  organizations: Buffer.from('],"org_ids":['),
  tags: Buffer.from('],"tag_ids":['),
  end: Buffer.from(']}'),
  relatedName: Buffer.from('","related_name":'),
  none: Buffer.from('null'),
  closing: Buffer.from('}'),
  lineEnd: Buffer.from('\n'),
};

/** Where the name stands in the line of a card that is related to. */
const NAME_FROM = ID_FROM + ID_TEXT + text.name.length;

/** What is common to all relations of a kind. */
interface Entry {
  head: Buffer;
  tail: Buffer;
  /** Bytes behind the name in the line of the other card. */
  behind: number;
  isOrganization: boolean;
}

const entryOf = ({ relationType, other }: RelationKind): Entry => ({
  head: Buffer.from(`{"relation_type":${JSON.stringify(relationType)},"related_id":"`),
  tail: Buffer.from(`,"related_type":${JSON.stringify(other)},"attributes":`),
  behind: Buffer.byteLength(`,"type":${JSON.stringify(other)}}`),
  isOrganization: other === ORGANIZATION,
});

/** The values of a row, in the order of `itemRows`. */
const [CARD, KIND, OTHER, NAME, SUBTYPE, ATTRIBUTES, LIFECYCLE] = [0, 1, 2, 3, 4, 5, 6];
const VALUES = 7;

/**
 * Writes the rows of `itemRows` as the items of an array, on a line each with a comma before it: a relation's text is put together where
 * it is sent from, of that of the card that it leads to, which is there once.
 */
export class ItemWriter {
  readonly #related: NumberedLines;
  /** Which of the cards are related to. */
  readonly isRelated: Uint8Array;
  readonly #entries: Entry[];
  /** Where the values of a row stand; `to` is below `from` for NULL. */
  readonly #places = { from: new Int32Array(VALUES), to: new Int32Array(VALUES) };
  #ready: Buffer[] = [];
  #bytes = Buffer.allocUnsafeSlow(CHUNK);
  #used = 0;
  /** The id of the card that is being written. */
  readonly #card = Buffer.alloc(ID.bytes);
  #state: 'none' | 'relations' | 'tags' = 'none';
  #begun = 0;
  #listed = 0;
  #organizations: number[] = [];

  /** @param related the cards that may be related to, of which the lines are as `cardsOfTypes` has them. */
  constructor(related: NumberedLines, kinds: readonly RelationKind[]) {
    this.#related = related;
    this.isRelated = new Uint8Array(related.numbers.count);
    this.#entries = kinds.map(entryOf);
  }

  /** All items, piece by piece. */
  async *items(lines: AsyncIterable<CopiedLines>): AsyncGenerator<Buffer> {
    for await (const { bytes } of lines) {
      for (let at = 0; at < bytes.length; ) at = this.#row(bytes, at);
      yield* this.#take();
    }
    this.#finish();
    if (this.#begun > 0) this.#copy(text.lineEnd);
    this.#pass(0);
    yield* this.#take();
  }

  #take(): Buffer[] {
    const taken = this.#ready;
    this.#ready = [];
    return taken;
  }

  /** Writes what a row says, and tells where it ends. */
  #row(row: Buffer, start: number): number {
    const { from, to } = this.#places;
    // how many values there are is known
    let at = start + 2;
    for (let n = 0; n < VALUES; n += 1) {
      const length = int32At(row, at);
      at += 4;
      from[n] = at;
      to[n] = at + length;
      if (length > 0) at += length;
    }
    const kind = int32At(row, from[KIND]!);
    if (kind === 0) {
      this.#finish();
      this.#begin(row);
      this.#value(text.name, row, NAME, true);
      this.#value(text.subtype, row, SUBTYPE, true);
      this.#value(text.attributes, row, ATTRIBUTES, false);
      this.#value(text.lifecycle, row, LIFECYCLE, false);
      this.#copy(text.relations);
    } else if (this.#state !== 'none' && this.#isOf(row)) {
      const entry = this.#entries[kind - 1];
      if (entry) this.#relation(entry, row);
      else this.#tag(row);
    }
    return at;
  }

  /** Whether the row belongs to the card that is being written. */
  #isOf(row: Buffer): boolean {
    const from = this.#places.from[CARD]!;
    const card = this.#card;
    for (let n = ID.bytes - 1; n >= 0; n -= 1) if (row[from + n] !== card[n]) return false;
    return true;
  }

  #begin(row: Buffer): void {
    const from = this.#places.from[CARD]!;
    row.copy(this.#card, 0, from, from + ID.bytes);
    this.#copy(this.#begun === 0 ? text.begin : text.next);
    this.#room(ID_TEXT);
    this.#used = writeId(row, from, this.#bytes, this.#used);
    this.#begun += 1;
    this.#listed = 0;
    this.#state = 'relations';
  }

  /** Writes a member whose value is a text, or JSON as the database keeps it. */
  #value(head: Buffer, row: Buffer, n: number, isText: boolean): void {
    const [from, to] = [this.#places.from[n]!, this.#places.to[n]!];
    this.#copy(head);
    if (to < from) {
      this.#copy(text.none);
    } else if (isText) {
      this.#room(maxJsonLength(to - from));
      this.#used = writeJsonText(row, from, to, this.#bytes, this.#used);
    } else {
      // the version of the form goes first
      this.#copy(row, from + 1, to);
    }
  }

  #relation(entry: Entry, row: Buffer): void {
    const { bytes, from, to, numbers } = this.#related;
    const number = numbers.find(row, this.#places.from[OTHER]!);
    // a card that the caller does not see
    if (number < 0) return;
    this.isRelated[number] = 1;
    if (entry.isOrganization) this.#organizations.push(number);
    this.#separate();
    this.#copy(entry.head);
    const line = from[number]!;
    this.#copy(bytes, line + ID_FROM, line + ID_FROM + ID_TEXT);
    this.#copy(text.relatedName);
    this.#copy(bytes, line + NAME_FROM, to[number]! - entry.behind);
    this.#value(entry.tail, row, ATTRIBUTES, false);
    this.#copy(text.closing);
  }

  #tag(row: Buffer): void {
    this.#closeRelations();
    this.#separate();
    this.#room(ID_TEXT + 2);
    this.#bytes[this.#used] = QUOTE;
    this.#used = writeId(row, this.#places.from[OTHER]!, this.#bytes, this.#used + 1);
    this.#bytes[this.#used] = QUOTE;
    this.#used += 1;
  }

  /** Writes a comma before what is not the first of its list. */
  #separate(): void {
    if (this.#listed > 0) {
      this.#room(1);
      this.#bytes[this.#used] = COMMA;
      this.#used += 1;
    }
    this.#listed += 1;
  }

  /** Ends the relations, and names the organizations among them, in order and each once. */
  #closeRelations(): void {
    if (this.#state !== 'relations') return;
    this.#state = 'tags';
    this.#copy(text.organizations);
    const { bytes, from, numbers } = this.#related;
    this.#listed = 0;
    const all = [...new Set(this.#organizations)].sort((a, b) => numbers.compare(a, b));
    for (const number of all) {
      this.#separate();
      // with its quotes
      const start = from[number]! + ID_FROM - 1;
      this.#copy(bytes, start, start + ID_TEXT + 2);
    }
    this.#organizations = [];
    this.#copy(text.tags);
    this.#listed = 0;
  }

  #finish(): void {
    if (this.#state === 'none') return;
    this.#closeRelations();
    this.#copy(text.end);
    this.#state = 'none';
  }

  #copy(source: Buffer, from = 0, to = source.length): void {
    this.#room(to - from);
    this.#used = copyBytes(source, from, to, this.#bytes, this.#used);
  }

  #room(bytes: number): void {
    if (this.#used + bytes > this.#bytes.length) this.#pass(bytes);
  }

  /** Hands on what was written, and makes room for so many bytes. */
  #pass(room: number): void {
    if (this.#used > 0) this.#ready.push(this.#bytes.subarray(0, this.#used));
    this.#bytes = Buffer.allocUnsafeSlow(Math.max(room, CHUNK));
    this.#used = 0;
  }
}

import type { CopiedLines } from '../../../platform/copy-out.ts';
import { ReportBody } from '../../kernel/report.body.ts';
import { ID } from '../../kernel/report.ids.ts';
import { ID_TEXT, int32At } from '../../kernel/report.json-rows.ts';
import { ID_FROM, type NumberedLines } from '../../kernel/report.numbered.ts';
import { ORGANIZATION } from '../../kernel/report.related.ts';
import type { RelationKind } from './app-portfolio.sql.ts';

const CHUNK = 64 * 1024;

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
  comma: Buffer.from(','),
  quote: Buffer.from('"'),
};

/** Offset of the name in the line of a related card. */
const NAME_FROM = ID_FROM + ID_TEXT + text.name.length;

/** The common text of all relations of a kind. */
interface Entry {
  head: Buffer;
  tail: Buffer;
  /** Number of bytes after the name in the line of the related card. */
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
 * Writes the rows of `itemRows` as array items, one per line and preceded by a comma. The text of a relation is built from
 * the line of its related card, directly in the output buffer.
 */
export class ItemWriter {
  readonly #related: NumberedLines;
  /** Flags of the related cards. */
  readonly isRelated: Uint8Array;
  readonly #entries: Entry[];
  /** Start and end of a row's values; `to` is less than `from` for NULL. */
  readonly #places = { from: new Int32Array(VALUES), to: new Int32Array(VALUES) };
  readonly #body = new ReportBody(CHUNK);
  /** The id of the current card. */
  readonly #card = Buffer.alloc(ID.bytes);
  #state: 'none' | 'relations' | 'tags' = 'none';
  #begun = 0;
  #listed = 0;
  #organizations: number[] = [];

  /** @param related lines of all possible related cards, as in `cardsOfTypes`. */
  constructor(related: NumberedLines, kinds: readonly RelationKind[]) {
    this.#related = related;
    this.isRelated = new Uint8Array(related.numbers.count);
    this.#entries = kinds.map(entryOf);
  }

  /** Yields all items in chunks. */
  async *items(lines: AsyncIterable<CopiedLines>): AsyncGenerator<Buffer> {
    for await (const { bytes } of lines) {
      for (let at = 0; at < bytes.length; ) at = this.#row(bytes, at);
      if (this.#body.length > 0) yield this.#body.take();
    }
    this.#finish();
    if (this.#begun > 0) this.#body.copy(text.lineEnd);
    yield this.#body.take();
  }

  /** Writes a row. @returns where it ends. */
  #row(row: Buffer, start: number): number {
    const { from, to } = this.#places;
    // skip the number of values
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
      this.#body.copy(text.relations);
    } else if (this.#state !== 'none' && this.#isOf(row)) {
      const entry = this.#entries[kind - 1];
      if (entry) this.#relation(entry, row);
      else this.#tag(row);
    }
    return at;
  }

  /** Whether the row belongs to the current card. */
  #isOf(row: Buffer): boolean {
    const from = this.#places.from[CARD]!;
    const card = this.#card;
    for (let n = ID.bytes - 1; n >= 0; n -= 1) if (row[from + n] !== card[n]) return false;
    return true;
  }

  #begin(row: Buffer): void {
    const from = this.#places.from[CARD]!;
    row.copy(this.#card, 0, from, from + ID.bytes);
    this.#body.copy(this.#begun === 0 ? text.begin : text.next);
    this.#body.id(row, from);
    this.#begun += 1;
    this.#listed = 0;
    this.#state = 'relations';
  }

  /** Writes a member with a text or jsonb value. */
  #value(head: Buffer, row: Buffer, n: number, isText: boolean): void {
    const [from, to] = [this.#places.from[n]!, this.#places.to[n]!];
    this.#body.copy(head);
    if (to < from) {
      this.#body.copy(text.none);
    } else if (isText) {
      this.#body.jsonText(row, from, to);
    } else {
      // skip the version byte of jsonb
      this.#body.copy(row, from + 1, to);
    }
  }

  #relation(entry: Entry, row: Buffer): void {
    const { bytes, from, to, numbers } = this.#related;
    const number = numbers.find(row, this.#places.from[OTHER]!);
    // the caller does not see the related card
    if (number < 0) return;
    this.isRelated[number] = 1;
    if (entry.isOrganization) this.#organizations.push(number);
    this.#separate();
    this.#body.copy(entry.head);
    const line = from[number]!;
    this.#body.copy(bytes, line + ID_FROM, line + ID_FROM + ID_TEXT);
    this.#body.copy(text.relatedName);
    this.#body.copy(bytes, line + NAME_FROM, to[number]! - entry.behind);
    this.#value(entry.tail, row, ATTRIBUTES, false);
    this.#body.copy(text.closing);
  }

  #tag(row: Buffer): void {
    this.#closeRelations();
    this.#separate();
    this.#body.copy(text.quote);
    this.#body.id(row, this.#places.from[OTHER]!);
    this.#body.copy(text.quote);
  }

  /** Writes a comma, except before the first item of a list. */
  #separate(): void {
    if (this.#listed > 0) this.#body.copy(text.comma);
    this.#listed += 1;
  }

  /** Ends the relations, and lists the distinct organizations among them in order. */
  #closeRelations(): void {
    if (this.#state !== 'relations') return;
    this.#state = 'tags';
    this.#body.copy(text.organizations);
    const { bytes, from, numbers } = this.#related;
    this.#listed = 0;
    const all = [...new Set(this.#organizations)].sort((a, b) => numbers.compare(a, b));
    for (const number of all) {
      this.#separate();
      // including the quotes
      const start = from[number]! + ID_FROM - 1;
      this.#body.copy(bytes, start, start + ID_TEXT + 2);
    }
    this.#organizations = [];
    this.#body.copy(text.tags);
    this.#listed = 0;
  }

  #finish(): void {
    if (this.#state === 'none') return;
    this.#closeRelations();
    this.#body.copy(text.end);
    this.#state = 'none';
  }
}

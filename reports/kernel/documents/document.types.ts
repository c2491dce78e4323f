/** The binary formats of documents. */
export type DocumentFormat = 'docx' | 'pdf';

/** A piece of text in a line. */
export interface Inline {
  text: string;
  bold?: boolean;
  italics?: boolean;
  code?: boolean;
  strike?: boolean;
  underline?: boolean;
  subscript?: boolean;
  superscript?: boolean;
  /** A URL with http, https or mailto. */
  link?: string;
}

/** A cell of a table. */
export type Cell = Inline[];

/** Alignment of a column; null: default of the language. */
type Align = 'left' | 'center' | 'right' | null;

/** A table; with given `widths`, which are shares of the page, the first column contains row headings. */
export interface Table {
  kind: 'table';
  header: Cell[] | null;
  rows: Cell[][];
  align?: Align[];
  widths?: number[];
}

/** The blocks of a document, independent of its source format. */
export type Block =
  | { kind: 'heading'; level: number; inlines: Inline[] }
  | { kind: 'paragraph'; inlines: Inline[] }
  | { kind: 'list'; ordered: boolean; start: number; items: Block[][] }
  | { kind: 'quote'; blocks: Block[] }
  | { kind: 'code'; text: string }
  | Table
  | { kind: 'rule' };

/** A part of a document: a block, or a text that is parsed into blocks when the document is rendered. */
export type Part =
  | Block
  | { kind: 'markdown'; text: string | null /** Of its highest headings. */; level: number }
  | { kind: 'html'; text: string }
  /** A whole document under its title; its headings are one level lower. */
  | { kind: 'document'; paper: PrintDocument };

/** A signatory as shown in a document. */
interface DocumentSignature {
  name: string;
  /** The time of the signature as text, or that it is pending. */
  when: string;
  /** SHA-256 of the signed content. */
  hash: string | null;
}

/** A document to be exported. */
export interface PrintDocument {
  /** The kind of document, above the title. */
  kind: string;
  title: string;
  /** The lines of the title block: label and value. */
  facts: [string, string][];
  parts: Part[];
  signatures: DocumentSignature[];
  /** A note about its state, such as that it is a draft. */
  notice: string | null;
  /** Footer of each page. */
  footer: string;
  /** RFC 3339: last change of the content. */
  written: string;
}

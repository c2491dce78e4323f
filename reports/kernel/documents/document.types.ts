/** The forms in which documents are handed on, besides those of text. */
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
  /** An address with http, https or mailto. */
  link?: string;
}

/** A cell of a table. */
export type Cell = Inline[];

/** Where the texts of a column begin; null: where the language has it. */
export type Align = 'left' | 'center' | 'right' | null;

/** What a document is made of, whatever it was written in. */
export type Block =
  | { kind: 'heading'; level: number; inlines: Inline[] }
  | { kind: 'paragraph'; inlines: Inline[] }
  | { kind: 'list'; ordered: boolean; start: number; items: Block[][] }
  | { kind: 'quote'; blocks: Block[] }
  | { kind: 'code'; text: string }
  | { kind: 'table'; header: Cell[] | null; rows: Cell[][]; align?: Align[] }
  | { kind: 'rule' };

/** A part of a document: a block, or a text that is made into blocks where the document is made. */
export type Part =
  | Block
  | { kind: 'markdown'; text: string | null /** Of its highest headings. */; level: number }
  | { kind: 'html'; text: string };

/** One who was asked to sign, as a document shows it. */
interface DocumentSignature {
  name: string;
  /** A moment in words, or that there is none yet. */
  when: string;
  /** SHA-256 of what was signed. */
  hash: string | null;
}

/** A document that is printed or handed on. */
export interface PrintDocument {
  /** What it is, over the title. */
  kind: string;
  title: string;
  /** The lines of the title block: label and value. */
  facts: [string, string][];
  parts: Part[];
  signatures: DocumentSignature[];
  /** What is to be said of its state, such as that it is a draft. */
  notice: string | null;
  /** Stands at the foot of each page. */
  footer: string;
  /** RFC 3339: when what it says was last written. */
  written: string;
}

/** The parameters of every list, as checked by the API's schema. */
export interface ListParams {
  page: number;
  page_size: number;
  sort_by?: string;
  sort_dir?: 'asc' | 'desc';
  search?: string;
  /** Given (also empty): cursor traversal instead of pages. */
  cursor?: string;
  /** Comma-separated members. */
  fields?: string;
}

export interface SortField {
  /** The SQL expression to order by. */
  sql: string;
  /** SQL type of the expression, for reading a cursor's value back. */
  type: 'text' | 'numeric' | 'timestamptz' | 'uuid' | 'boolean' | 'bigint';
  /** Whether the value of a row never changes, so that a cursor may walk along it. */
  immutable?: boolean;
}

/** A part of a WHERE clause with its bindings. */
export interface Condition {
  sql: string;
  bindings: unknown[];
}

/** What one list is made of. */
export interface ListSpec {
  /** Names the list inside its cursors. */
  name: string;
  /** The FROM clause, with joins. */
  from: string;
  /** The row's unique id, such as `c.id`. */
  id: string;
  idType: 'uuid' | 'text' | 'bigint';
  sorts: Record<string, SortField>;
  defaultSort: string;
  defaultDir: 'asc' | 'desc';
  /** The members of an item: name to SQL expression. */
  members: Record<string, string>;
  /** Folded text expression that `search` looks into; absent: `search` is refused. */
  search?: string;
}

/** An answer ready to be sent: JSON text that is not parsed again. */
export type JsonText = string & { readonly __json?: never };

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
  /** Whether the expression is never NULL. */
  filled?: boolean;
  /** Whether the value of a row is never NULL and never changes, so that a cursor may walk along it. */
  immutable?: boolean;
}

/** A piece of SQL with its bindings. */
export interface Fragment {
  sql: string;
  bindings: unknown[];
}

/** A part of a WHERE clause. */
export interface Condition extends Fragment {
  /** Follows from the caller's rights, not from the request: a cursor outlives its change. */
  visibility?: true;
}

/** Where an item of a list is read from. */
export type ItemSpec = Pick<ListSpec, 'from' | 'id' | 'idType' | 'members'>;

/** What one list is made of. */
export interface ListSpec {
  /** Names the list inside its cursors. */
  name: string;
  /** The FROM clause, with joins. */
  from: string;
  /** The row's unique id, such as `c.id`. */
  id: string;
  /** `uuid` unless given. */
  idType?: 'uuid' | 'text' | 'bigint' | 'timestamptz';
  sorts: Record<string, SortField>;
  defaultSort: string;
  /** `asc` unless given. */
  defaultDir?: 'asc' | 'desc';
  /** The members of an item in order: name to SQL expression. */
  members: Record<string, string | Fragment>;
  /**
   * Conditions by request parameter, each `?` of which is bound to the parameter's value. A parameter that is absent,
   * false or an empty list has no condition.
   */
  filters?: Readonly<Record<string, string>>;
  /** Folded text expression that `search` looks into; absent: `search` is refused. */
  search?: string;
}

/** What a caller of a list may know better than the list itself. */
export interface ListOptions {
  /** The user whose cursor it is: others cannot continue with it, and each keeps a bounded number. */
  owner?: string | null;
  /** Names the filter inside cursors; absent: the conditions that do not follow from rights do. */
  asked?: unknown;
  /** Yields all rows' ids as text (`id`) with their number (`n`, from 1), in an order of its own. */
  ids?: Fragment;
  /** Counts the rows that the conditions match, where the list's owner keeps totals. */
  total?: () => Promise<number>;
}

/** The order of a list's rows; ties are broken by id. */
export interface Order {
  key: string;
  field: SortField;
  dir: 'asc' | 'desc';
}

/** An answer ready to be sent: JSON text that is not parsed again. */
export type JsonText = string & { readonly __json?: never };

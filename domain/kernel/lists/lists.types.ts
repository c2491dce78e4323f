/** The parameters of every list, as checked by the API's schema. */
export interface ListParams {
  page: number;
  page_size: number;
  sort_by?: string;
  sort_dir?: 'asc' | 'desc';
  search?: string;
  /** If given (also empty): cursor traversal instead of pages. */
  cursor?: string;
  /** Comma-separated members. */
  fields?: string;
}

export interface SortField {
  /** The SQL expression to order by. */
  sql: string;
  /** SQL type of the expression, to cast the value in a cursor. */
  type: 'text' | 'numeric' | 'timestamptz' | 'uuid' | 'boolean' | 'bigint';
  /** Whether the expression is never NULL. */
  filled?: boolean;
  /** Whether the value of a row is never NULL and immutable, so that a cursor can use it. */
  immutable?: boolean;
}

/** A piece of SQL with its bindings. */
export interface Fragment {
  sql: string;
  bindings: unknown[];
}

/** A part of a WHERE clause. */
export interface Condition extends Fragment {
  /** Depends on the caller's rights, not on the request: cursors stay valid when it changes. */
  visibility?: true;
}

/** The source of a list's items. */
export type ItemSpec = Pick<ListSpec, 'from' | 'id' | 'idType' | 'members'>;

/** The definition of a list. */
export interface ListSpec {
  /** Identifies the list inside its cursors. */
  name: string;
  /** The FROM clause, with joins. */
  from: string;
  /** The row's unique id, such as `c.id`. */
  id: string;
  /** `uuid` by default. */
  idType?: 'uuid' | 'text' | 'bigint' | 'timestamptz';
  sorts: Record<string, SortField>;
  defaultSort: string;
  /** `asc` by default. */
  defaultDir?: 'asc' | 'desc';
  /** The members of an item in order: name to SQL expression. */
  members: Record<string, string | Fragment>;
  /**
   * Conditions by request parameter, each `?` of which is bound to the parameter's value. A parameter that is absent,
   * false or an empty list has no condition.
   */
  filters?: Readonly<Record<string, string>>;
  /** The folded text expression that `search` applies to; absent: `search` is refused. */
  search?: string;
}

/** Options with which a caller replaces parts of a list. */
export interface ListOptions {
  /** Identifies the filter inside cursors; by default it follows from the conditions that do not depend on rights. */
  asked?: unknown;
  /** A query of all rows' ids as text (`id`) with their number (`n`, from 1), in a custom order. */
  ids?: Fragment;
  /** Counts the rows that match the conditions, if the caller caches totals. */
  total?: () => Promise<number>;
}

/** The order of a list's rows; ties are broken by id. */
export interface Order {
  key: string;
  field: SortField;
  dir: 'asc' | 'desc';
}

/** A response ready to be sent: JSON text that is not parsed again. */
export type JsonText = string & { readonly __json?: never };

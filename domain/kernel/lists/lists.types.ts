import type { TOptional, TSchema } from 'typebox';
import type { Sql } from '../../../platform/database.ts';
import type { Ctx } from '../context.ts';
import type { AppPermission } from '../permissions/permissions.data.ts';
import type { StaticOf } from '../shapes.ts';

/** The parameters of every list, as checked by the API's schema. */
export interface ListParams {
  page: number;
  page_size: number;
  sort_by?: string;
  sort_dir?: 'asc' | 'desc';
  search?: string;
  /** If given (also empty): cursor traversal instead of pages. */
  cursor?: string;
  /** The rows that the first page of a cursor skips. */
  offset?: number;
  /** Comma-separated members. */
  fields?: string;
}

/**
 * The schema of a parameter that filters a list; or of one that can be omitted, with its condition. Each `?` of the condition is bound to the value; a condition without `?` applies if
 * the value is true. An empty list has no condition.
 */
type Filter = (TSchema & object) | readonly [schema: TSchema, sql: string];
export type Filters = Record<string, Filter>;

/** The schemas of filters. */
export type FilterSchemas<F extends Filters> = {
  [K in keyof F]: F[K] extends readonly [infer S extends TSchema, string]
    ? TOptional<S>
    : F[K] extends TSchema
      ? F[K]
      : never;
};

/** The parameters of a list with filters. */
export type ListParamsOf<F extends Filters> = ListParams & StaticOf<FilterSchemas<F>>;

export interface SortField {
  /** The SQL expression to order by. */
  sql: string;
  /** A join that the expression needs; only for orders whose ids are all read at once. */
  join?: string;
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
  filters?: Filters;
  /** The folded text expression that `search` applies to; absent: `search` is refused. */
  search?: string | Fragment;
}

type Member = string | Fragment;

/** A member of a list's items, or how it follows from the caller. */
export type MemberFor = Member | ((ctx: Ctx) => Member);

/** A list that requests read; what it reads may depend on the caller and on `path`, the parameters of the path in order. */
export interface RequestList<
  F extends Filters = Filters,
  M = Record<string, MemberFor> | ((ctx: Ctx) => ListSpec['members']),
  R = string | ((ctx: Ctx, ...path: string[]) => string),
> extends Omit<ListSpec, 'from' | 'members' | 'filters' | 'search'> {
  /** The permission to read the list, and by default that of its route. */
  permission?: AppPermission;
  filters?: F;
  from: R;
  members: M;
  search?: MemberFor;
  /** The conditions of every read of an item, after checks of other rights. */
  visible?(ctx: Ctx): Condition[];
  /** The conditions besides these and the filters, after checks of other rights. */
  where?(ctx: Ctx, params: ListParamsOf<F>, ...path: string[]): Condition[] | Promise<Condition[]>;
  /** Completes the items with what SQL cannot compute. */
  complete?(ctx: Ctx, items: object[]): object[];
}

/** A list of a route. */
export interface RouteList<F extends Filters> extends RequestList<F> {
  /** The list as it differs by its reader or the language. */
  variant?(ctx: Ctx, language: string): RequestList<F>;
}

/** A row in an order, by the text of its sort value and its id. */
export interface RowPlace {
  value: string;
  id: string;
}

/** Options with which a caller replaces parts of a list. */
export interface ListOptions {
  /** Identifies the filter inside cursors; by default it follows from the conditions that do not depend on rights. */
  asked?: unknown;
  /** A query of all rows' ids as text (`id`) with their number (`n`, from 1), in a custom order. */
  ids?: Fragment;
  /** Counts the rows that match the conditions, if the caller caches totals. */
  total?: (sql: Sql) => Promise<number>;
  /** Caches anchors of the order, from which deep pages are read. */
  anchors?: (read: () => Promise<RowPlace[]>, sql: Sql) => Promise<RowPlace[]>;
}

/** The order of a list's rows; ties are broken by id. */
export interface Order {
  key: string;
  field: SortField;
  dir: 'asc' | 'desc';
}

/** A response ready to be sent: JSON text that is not parsed again. */
export type JsonText = string & { readonly __json?: never };

/** A literal; numbers are stored as text to preserve their precision. */
export type Literal =
  | { kind: 'literal'; type: 'null'; value: null; at: number }
  | { kind: 'literal'; type: 'boolean'; value: boolean; at: number }
  | {
      kind: 'literal';
      type: 'integer' | 'decimal' | 'string' | 'guid' | 'date' | 'moment';
      value: string;
      at: number;
    };

export type BinaryOperator =
  | 'or'
  | 'and'
  | 'eq'
  | 'ne'
  | 'gt'
  | 'ge'
  | 'lt'
  | 'le'
  | 'add'
  | 'sub'
  | 'mul'
  | 'div'
  | 'divby'
  | 'mod';

/** One part of a path; names are properties, navigation properties or a lambda's variable. */
export interface PathStep {
  name: string;
  at: number;
}

/** An expression of `$filter` or `$orderby`; `at` is its first character in the option's text. */
export type Expr =
  | Literal
  | { kind: 'path'; steps: PathStep[]; at: number }
  | { kind: 'not' | 'negative'; operand: Expr; at: number }
  | { kind: 'binary'; operator: BinaryOperator; left: Expr; right: Expr; at: number }
  | { kind: 'in'; left: Expr; items: Expr[]; at: number }
  | { kind: 'call'; name: string; args: Expr[]; at: number }
  | { kind: 'cast'; operand: Expr; type: string; at: number }
  | {
      kind: 'lambda';
      quantifier: 'any' | 'all';
      steps: PathStep[];
      variable: string | undefined;
      predicate: Expr | undefined;
      at: number;
    }
  | { kind: 'count'; steps: PathStep[]; filter: Expr | undefined; at: number };

/** An expression and all expressions in it. */
export function* partsOf(expr: Expr): Generator<Expr> {
  yield expr;
  for (const part of childrenOf(expr)) yield* partsOf(part);
}

/** The expressions in an expression, one level deep. */
export function childrenOf(expr: Expr): Expr[] {
  switch (expr.kind) {
    case 'not':
    case 'negative':
    case 'cast':
      return [expr.operand];
    case 'binary':
      return [expr.left, expr.right];
    case 'in':
      return [expr.left, ...expr.items];
    case 'call':
      return expr.args;
    case 'lambda':
      return expr.predicate ? [expr.predicate] : [];
    case 'count':
      return expr.filter ? [expr.filter] : [];
    default:
      return [];
  }
}

/** A `$search` expression. */
export type Search =
  | { kind: 'words'; words: string[]; phrase: boolean }
  | { kind: 'not'; operand: Search }
  | { kind: 'and' | 'or'; left: Search; right: Search };

export interface OrderItem {
  expr: Expr;
  descending: boolean;
}

export interface ExpandItem {
  name: string;
  /** Only the references of the related entities. */
  references: boolean;
  options: NestedOptions;
}

/** Query options of related entities or of a set. */
export interface NestedOptions {
  /** Names; undefined for all properties. */
  select: string[] | undefined;
  expand: ExpandItem[];
  filter: Expr | undefined;
  orderby: OrderItem[];
  top: number | undefined;
  skip: number;
  count: boolean;
  search: Search | undefined;
  /** The sent options that filter and order, for next links. */
  sent: Record<string, string>;
}

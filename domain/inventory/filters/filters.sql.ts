/** A part of an SQL text with `?` for each of its bindings, in order. */
export interface Fragment {
  sql: string;
  bindings: unknown[];
  /** Whether it is never NULL. */
  total: boolean;
}

/** SQL text from the code only: the name of a table or column, an operator. */
export const raw = (text: string): Fragment => ({ sql: text, bindings: [], total: false });

/** Builds SQL: fragments are inserted, every other value becomes a binding. */
export function sql(strings: TemplateStringsArray, ...parts: unknown[]): Fragment {
  let text = strings[0]!;
  const bindings: unknown[] = [];
  parts.forEach((part, index) => {
    if (isFragment(part)) {
      text += part.sql;
      bindings.push(...part.bindings);
    } else {
      text += '?';
      bindings.push(part);
    }
    text += strings[index + 1];
  });
  return { sql: text, bindings, total: false };
}

const isFragment = (part: unknown): part is Fragment =>
  typeof part === 'object' && part !== null && 'sql' in part && 'bindings' in part;

/** Marks the fragment as never NULL. */
export const total = (fragment: Fragment): Fragment => ({ ...fragment, total: true });

/** True if the fragment is false or NULL. */
export const negate = (fragment: Fragment): Fragment =>
  total(fragment.total ? sql`not (${fragment})` : sql`(${fragment}) is not true`);

/** The fragments joined by `and` or `or`; an empty `and` is true, an empty `or` is false. */
export function combine(word: 'and' | 'or', fragments: Fragment[]): Fragment {
  const [first, ...rest] = fragments;
  if (!first) return total(raw(word === 'and' ? 'true' : 'false'));
  if (rest.length === 0) return first;
  return {
    sql: `(${fragments.map((fragment) => fragment.sql).join(` ${word} `)})`,
    bindings: fragments.flatMap((fragment) => fragment.bindings),
    total: fragments.every((fragment) => fragment.total),
  };
}

import type { FilterNode, FilterWord } from '../../../../domain/inventory/filters/filters.types.ts';

/** The filter's text, with no more parentheses than it needs. */
export function printFilter(node: FilterNode): string {
  switch (node.kind) {
    case 'or':
      return node.items.map(printFilter).join(' or ');
    case 'and':
      return node.items
        .map((item) => (item.kind === 'or' ? `(${printFilter(item)})` : printFilter(item)))
        .join(' and ');
    case 'not':
      return node.item.kind === 'and' || node.item.kind === 'or'
        ? `not (${printFilter(node.item)})`
        : `not ${printFilter(node.item)}`;
    case 'condition': {
      const head = `${node.path.map(printWord).join('.')} ${node.operator}`;
      const values = node.values.map(printWord);
      if (node.operator === 'in' || node.operator === 'not in') return `${head} (${values.join(', ')})`;
      if (node.operator === 'between') return `${head} ${values.join(' and ')}`;
      return [head, ...values].join(' ');
    }
  }
}

const printWord = ({ text, quoted }: FilterWord) => (quoted ? `"${text.replace(/["\\]/g, '\\$&')}"` : text);

/** The filter without its positions, which differ between two ways to write the same. */
export function withoutPositions(node: FilterNode | null): unknown {
  return JSON.parse(JSON.stringify(node, (key, value) => (key === 'position' ? undefined : value)));
}

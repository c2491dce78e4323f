import { FormulaError } from './formula.error.ts';
import { formulaFunctions } from './formula.functions.ts';
import type { FormulaLine, FormulaNode } from './formula.parse.ts';

/** What a formula reads, known without running it. Nothing else is put before it. */
export interface FormulaReads {
  /** The card's own fields. */
  data: ReadonlySet<string>;
  /** Relation types whose related cards are read. */
  relations: ReadonlySet<string>;
  /** Relation types that are counted. */
  counts: ReadonlySet<string>;
  children: boolean;
  childrenCount: boolean;
  /** Every member that is named of anything but `data`: keys of related cards, their attributes and relations. */
  members: ReadonlySet<string>;
}

/** Functions whose second value is a path, written out. */
const byPath = new Set(['PLUCK', 'FILTER']);
const keyed = { data: 'field', relations: 'relation type', relation_count: 'relation type' } as const;
const reserved = new Set([...Object.keys(keyed), 'children', 'children_count']);

/**
 * Finds out what a formula reads, and that it names nothing unknown.
 * @throws FormulaError.
 */
export function readsOf(lines: FormulaLine[]): FormulaReads {
  const reader = new Reader();
  for (const { name, expression } of lines) {
    reader.walk(expression);
    if (name === null) continue;
    if (reserved.has(name)) throw new FormulaError(`The name '${name}' cannot be given another value.`);
    reader.known.add(name);
  }
  return reader;
}

class Reader implements FormulaReads {
  readonly known = new Set<string>();
  readonly data = new Set<string>();
  readonly relations = new Set<string>();
  readonly counts = new Set<string>();
  readonly members = new Set<string>();
  children = false;
  childrenCount = false;

  /** Without recursion: a row of operators may be as long as the formula. */
  walk(top: FormulaNode): void {
    const left = [top];
    for (let node = left.pop(); node; node = left.pop()) left.push(...this.enter(node));
  }

  /** @returns the parts that are still to be looked at. */
  private enter(node: FormulaNode): FormulaNode[] {
    switch (node.type as string) {
      case 'Literal':
        return [];
      case 'Identifier':
        this.named(node.name);
        return [];
      case 'MemberExpression':
        return this.member(node);
      case 'ArrayExpression':
        return node.elements;
      case 'ObjectExpression':
        return node.properties.map((property) => memberValue(property));
      case 'ConditionalExpression':
        return [node.test, node.consequent, node.alternate];
      case 'UnaryExpression':
        return [node.argument];
      case 'BinaryExpression':
      case 'LogicalExpression':
        return [node.left, node.right];
      case 'CallExpression':
        return this.call(node);
      default:
        throw new FormulaError('The formula holds something that the language does not have.');
    }
  }

  private named(name: string): void {
    if (name === 'children') this.children = true;
    else if (name === 'children_count') this.childrenCount = true;
    else if (Object.hasOwn(keyed, name)) throw keyNeeded(name as keyof typeof keyed);
    else if (!this.known.has(name)) throw new FormulaError(`The name '${name}' is not known.`);
  }

  private member(node: FormulaNode): FormulaNode[] {
    const object = node.object;
    const property = node.property;
    const literal = property.type === 'Literal' ? (property.value as unknown) : undefined;
    const key = node.computed ? literal : (property.name as string);
    if (object.type === 'Identifier' && Object.hasOwn(keyed, object.name)) {
      const root = object.name as keyof typeof keyed;
      if (typeof key !== 'string') throw keyNeeded(root);
      ({ data: this.data, relations: this.relations, relation_count: this.counts })[root].add(key);
      return [];
    }
    if (typeof key !== 'string' && typeof key !== 'number') {
      throw new FormulaError('What stands in square brackets is a number or a text, written out.');
    }
    if (typeof key === 'string') this.members.add(key);
    return [object];
  }

  private call(node: FormulaNode): FormulaNode[] {
    const callee = node.callee;
    const args = node.arguments;
    const name = callee.type === 'Identifier' ? (callee.name as string) : '';
    if (name !== 'IF' && !formulaFunctions.has(name)) {
      throw new FormulaError(name ? `There is no function '${name}'.` : 'Only functions can be called.');
    }
    const path = args[1];
    if (!byPath.has(name) || !path) return args;
    if (path.type !== 'Literal' || typeof (path.value as unknown) !== 'string') {
      throw new FormulaError(`${name} takes the name of a member, written out as a text.`);
    }
    for (const key of (path.value as string).split('.')) this.members.add(key);
    return args.filter((arg) => arg !== path);
  }
}

function memberValue(property: FormulaNode): FormulaNode {
  if (property.type !== 'Property' || property.computed || !property.value) {
    throw new FormulaError('A mapping is written {"key": value}.');
  }
  return property.value as FormulaNode;
}

function keyNeeded(root: keyof typeof keyed): FormulaError {
  return new FormulaError(`'${root}' is followed by a ${keyed[root]}: ${root}.<${keyed[root]}>.`);
}

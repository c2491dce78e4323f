import type { CalculationFormula } from './calculations.model.ts';
import { type FormulaLine, type FormulaReads, parseFormula, readsOf } from './formula.parse.ts';
import { FormulaError } from './formula.values.ts';

/** The parts of the metamodel that formulas refer to. */
interface PlanTypes {
  cardTypes: ReadonlyMap<string, { fields: ReadonlyMap<string, { type: string }> }>;
  relationTypes: ReadonlyMap<
    string,
    { source_type_key: string; target_type_key: string; fields: ReadonlyMap<string, { type: string }> }
  >;
}

/** A parsed formula that is valid in the metamodel. */
export interface ReadFormula {
  lines: FormulaLine[];
  reads: FormulaReads;
}

/** One active formula. */
export interface Formula extends ReadFormula {
  id: string;
  type: string;
  field: string;
  order: number;
  /** Whether it reads only its own card. */
  local: boolean;
}

/** All active formulas, compiled. */
export interface CalculationPlan {
  /** In dependency order; children of the same type are evaluated again. */
  formulas: readonly Formula[];
  byType: ReadonlyMap<string, readonly Formula[]>;
  /** Card types that occur in formulas which read other cards. */
  crossingTypes: readonly string[];
  /** Active formulas that are no longer valid in the metamodel and are not run, with the reason. */
  broken: ReadonlyMap<string, string>;
}

/** Members of a card that `data` contains besides its fields. */
export const dataMembers: readonly string[] = [
  'name',
  'alias',
  'description',
  'subtype',
  'external_id',
  'status',
  'lifecycle',
];

/**
 * Parses a formula for cards of a type and checks it against the metamodel.
 * @throws FormulaError naming the error or the unknown name.
 */
export function readFormula(formula: string, type: string, types: PlanTypes): ReadFormula {
  const lines = parseFormula(formula);
  const reads = readsOf(lines);
  const fields = types.cardTypes.get(type)?.fields;
  if (!fields) throw new FormulaError(`There is no card type '${type}'.`);
  for (const key of reads.data) {
    if (!fields.has(key) && !dataMembers.includes(key)) {
      throw new FormulaError(`The type '${type}' has no field '${key}'.`);
    }
  }
  for (const key of [...reads.relations, ...reads.counts]) {
    if (peerTypes(types, key, type).length === 0) {
      throw new FormulaError(`The type '${type}' has no relation type '${key}'.`);
    }
  }
  return { lines, reads };
}

/** The types at the other end of a relation type. */
export function peerTypes(types: PlanTypes, relationType: string, type: string): string[] {
  const ends = types.relationTypes.get(relationType);
  if (!ends) return [];
  return [
    ...(ends.source_type_key === type ? [ends.target_type_key] : []),
    ...(ends.target_type_key === type ? [ends.source_type_key] : []),
  ];
}

/**
 * Compiles active formulas in the order in which they are run. Of several for one field, only the first is run: each
 * would overwrite the value of the others, and its change would run them again without end.
 */
export function compileCalculations(rows: CalculationFormula[], types: PlanTypes): CalculationPlan {
  const broken = new Map<string, string>();
  const computed = new Set<string>();
  const inOrder = (a: CalculationFormula, b: CalculationFormula) =>
    a.execution_order - b.execution_order || (a.id < b.id ? -1 : 1);
  const read = rows.toSorted(inOrder).flatMap((row): Formula[] => {
    const target = `${row.target_type_key}.${row.target_field_key}`;
    try {
      const formula = compileFormula(row, types);
      if (computed.has(target)) throw new FormulaError(`Another active formula computes ${target}.`);
      computed.add(target);
      return [formula];
    } catch (error) {
      if (!(error instanceof FormulaError)) throw error;
      broken.set(row.id, error.message);
      return [];
    }
  });
  const { ordered, cycles } = sortByDependency(read, types);
  for (const cycle of cycles) {
    for (const formula of cycle.formulas) broken.set(formula.id, cycleMessage(cycle));
  }
  const byType = new Map<string, Formula[]>();
  const crossing = new Set<string>();
  for (const formula of ordered) {
    byType.set(formula.type, [...(byType.get(formula.type) ?? []), formula]);
    if (formula.local) continue;
    crossing.add(formula.type);
    for (const key of [...formula.reads.relations, ...formula.reads.counts]) {
      for (const type of peerTypes(types, key, formula.type)) crossing.add(type);
    }
  }
  return { formulas: ordered, byType, crossingTypes: [...crossing], broken };
}

/** Compiles a formula that is valid in the metamodel. @throws FormulaError */
export function compileFormula(row: CalculationFormula, types: PlanTypes): Formula {
  const { lines, reads } = readFormula(row.formula, row.target_type_key, types);
  if (!types.cardTypes.get(row.target_type_key)!.fields.has(row.target_field_key)) {
    throw new FormulaError(`The type '${row.target_type_key}' has no field '${row.target_field_key}'.`);
  }
  const local = reads.relations.size + reads.counts.size === 0 && !reads.children && !reads.childrenCount;
  const { id, target_type_key: type, target_field_key: field, execution_order: order } = row;
  return { id, type, field, order, lines, reads, local };
}

/** Formulas that depend on each other. */
interface Cycle {
  formulas: Formula[];
  /** `Type.field` of each; the first is repeated at the end. */
  path: string[];
}

/** The cycle as a sentence. */
export function cycleMessage({ path }: Cycle): string {
  return `The formulas wait for each other: ${path.join(' -> ')}.`;
}

type Edge = 'own' | 'relation' | 'children';

/** How a formula reads a value that another computes; if there are several ways, the most important one. */
function edgeBetween(reader: Formula, made: Formula, types: PlanTypes): Edge | undefined {
  const named = reader.reads.members.has(made.field);
  const related = [...reader.reads.relations].some((key) =>
    peerTypes(types, key, reader.type).includes(made.type),
  );
  if (named && related) return 'relation';
  if (made.type !== reader.type) return undefined;
  if (reader.reads.data.has(made.field)) return 'own';
  return named && reader.reads.children ? 'children' : undefined;
}

/**
 * Sorts formulas by dependency. A formula may read the values that the same formula computes for child cards, since no
 * card is its own descendant; every other cycle is an error.
 */
export function sortByDependency(
  formulas: Formula[],
  types: PlanTypes,
): { ordered: Formula[]; cycles: Cycle[] } {
  const inOrder = (a: Formula, b: Formula) => a.order - b.order || (a.id < b.id ? -1 : 1);
  const sorted = formulas.toSorted(inOrder);
  const byField = Map.groupBy(sorted, ({ field }) => field);
  const waits = new Map(
    sorted.map((reader) => {
      const fields = new Set([...reader.reads.data, ...reader.reads.members]);
      const makers = [...fields].flatMap((field) => byField.get(field) ?? []).sort(inOrder);
      const edges = makers.flatMap((made) => {
        const edge = edgeBetween(reader, made, types);
        return edge ? [[made, edge] as const] : [];
      });
      return [reader, new Map(edges)];
    }),
  );
  const groups = components(sorted, (formula) => [...waits.get(formula)!.keys()]);
  const ordered: Formula[] = [];
  const cycles: Cycle[] = [];
  for (const group of groups) {
    const within = (formula: Formula, edges: readonly Edge[]) =>
      [...waits.get(formula)!].flatMap(([made, edge]) =>
        group.includes(made) && edges.includes(edge) ? [made] : [],
      );
    const looping = group.some((formula) => within(formula, ['relation']).length > 0);
    const inner = components(group, (formula) => within(formula, ['own']));
    const own = inner.find((part) => part.length > 1 || within(part[0]!, ['own']).includes(part[0]!));
    if (looping || own) {
      const waiting = looping ? group : own!;
      cycles.push({
        formulas: group,
        path: pathRound(waiting, (formula) =>
          within(formula, looping ? ['own', 'relation', 'children'] : ['own']),
        ),
      });
    } else ordered.push(...inner.flat());
  }
  return { ordered, cycles };
}

/** Strongly connected components in dependency order (Tarjan); iterative, since a chain may include all formulas. */
function components(nodes: Formula[], next: (node: Formula) => Formula[]): Formula[][] {
  const found: Formula[][] = [];
  const numbers = new Map<Formula, number>();
  const lows = new Map<Formula, number>();
  const open: Formula[] = [];
  const isOpen = new Set<Formula>();
  const path: { node: Formula; others: Formula[] }[] = [];
  const enter = (node: Formula): void => {
    lows.set(node, numbers.size);
    numbers.set(node, numbers.size);
    open.push(node);
    isOpen.add(node);
    path.push({ node, others: next(node).toReversed() });
  };
  const lower = (node: Formula, low: number) => lows.set(node, Math.min(lows.get(node)!, low));
  for (const start of nodes) {
    if (!numbers.has(start)) enter(start);
    for (let step = path.at(-1); step; step = path.at(-1)) {
      const { node, others } = step;
      const other = others.pop();
      if (other) {
        if (!numbers.has(other)) enter(other);
        else if (isOpen.has(other)) lower(node, numbers.get(other)!);
        continue;
      }
      path.pop();
      if (lows.get(node) === numbers.get(node)) {
        const part = open.splice(open.lastIndexOf(node));
        for (const member of part) isOpen.delete(member);
        found.push(part);
      }
      const from = path.at(-1);
      if (from) lower(from.node, lows.get(node)!);
    }
  }
  return found;
}

/** A path from a formula of the component back to itself. */
function pathRound(group: Formula[], next: (node: Formula) => Formula[]): string[] {
  const name = ({ type, field }: Formula) => `${type}.${field}`;
  const steps: Formula[] = [];
  let at = group[0]!;
  while (!steps.includes(at)) {
    steps.push(at);
    // Within a strongly connected component every formula has a successor.
    at = next(at)[0]!;
  }
  return [...steps.slice(steps.indexOf(at)), at].map(name);
}

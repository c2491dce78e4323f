import {
  type FormulaLine,
  type FormulaNode,
  parseFormula,
  readsOf,
} from '../../kernel/formulas/formula.parse.ts';
import { FormulaError } from '../../kernel/formulas/formula.values.ts';
import type { LocalField } from './mappings.paths.ts';
import type { FieldRow, MappingRow, SyncValue, TransformType } from './mappings.types.ts';

/** Something wrong with a transform, at a place in its configuration; an empty place is the transform itself. */
export interface TransformFault {
  at: string;
  code: string;
  message: string;
}

const fits: Record<LocalField['kind'], readonly TransformType[]> = {
  text: ['direct', 'value_map', 'expression'],
  number: ['direct', 'value_map', 'expression'],
  boolean: ['boolean', 'value_map', 'expression'],
  date: ['date_format', 'direct', 'value_map', 'expression'],
  option: ['value_map', 'direct', 'expression'],
  options: ['value_map', 'expression'],
  card: ['reference'],
};

/** What is wrong with how a field's value is told on the other side. */
export function transformFaults(
  row: FieldRow,
  local: LocalField,
  direction: MappingRow['sync_direction'],
): TransformFault[] {
  const wanted = fits[local.kind];
  if (!wanted.includes(row.transform_type)) {
    const message = `does not fit the card's field; ${wanted.join(' or ')} does`;
    return [{ at: '', code: 'transform_misfit', message }];
  }
  switch (row.transform_type) {
    case 'direct': {
      const as = local.kind === 'number' ? 'number' : undefined;
      if (row.transform_config.as === as) return [];
      return [{ at: 'as', code: 'transform_misfit', message: "does not fit the card's field" }];
    }
    case 'value_map':
      return row.transform_config.pairs.flatMap(({ local: value }, index) =>
        valueFault(local, value, `pairs.${index}.local`),
      );
    case 'expression': {
      const { to_local, to_remote } = row.transform_config;
      const missing = direction !== 'pull' && to_remote === null;
      return [
        ...formulaFault(to_local, 'to_local'),
        ...(to_remote === null ? [] : formulaFault(to_remote, 'to_remote')),
        ...(missing
          ? [
              {
                at: 'to_remote',
                code: 'required',
                message: 'is needed where the mapping writes at the remote',
              },
            ]
          : []),
      ];
    }
    default:
      return [];
  }
}

function valueFault(local: LocalField, value: SyncValue, at: string): TransformFault[] {
  const message = value === null ? undefined : local.fault(value);
  return message === undefined ? [] : [{ at, code: 'bad_value', message }];
}

const given: FormulaLine = { name: 'value', expression: { type: 'Literal', value: null } as FormulaNode };

/** A formula of a transform knows `value` and nothing of the card. */
function formulaFault(formula: string, at: string): TransformFault[] {
  try {
    const reads = readsOf([given, ...parseFormula(formula)]);
    const beyond =
      reads.data.size + reads.relations.size + reads.counts.size > 0 || reads.children || reads.childrenCount;
    if (beyond) throw new FormulaError("Nothing but 'value' can be named.");
    return [];
  } catch (error) {
    if (!(error instanceof FormulaError)) throw error;
    return [{ at, code: 'bad_formula', message: error.message }];
  }
}

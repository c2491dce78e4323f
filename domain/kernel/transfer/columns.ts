import { type FieldError, invalidFields } from '../../../platform/errors.ts';
import { lifecyclePhases } from '../metamodel/metamodel.types.ts';

/** A column of a file of cards or relations. */
export interface FileColumn {
  /** As in the header, such as `attributes.timeModel`. */
  name: string;
  part: 'field' | 'lifecycle' | 'attributes';
  /** The field, phase or attribute. */
  key: string;
}

/** Which columns a kind of file may have. */
export interface Vocabulary {
  fields: ReadonlySet<string>;
  /** Whether there are `lifecycle.<phase>` columns. */
  lifecycle: boolean;
  attributeKeys: ReadonlySet<string>;
}

const phases: ReadonlySet<string> = new Set(lifecyclePhases);

/** The column of that name, if the vocabulary has it. */
function findColumn(name: string, vocabulary: Vocabulary): FileColumn | undefined {
  if (vocabulary.fields.has(name)) return { name, part: 'field', key: name };
  const dot = name.indexOf('.');
  const part = name.slice(0, Math.max(dot, 0));
  const key = name.slice(dot + 1);
  if (part === 'attributes' && vocabulary.attributeKeys.has(key)) return { name, part, key };
  if (part === 'lifecycle' && vocabulary.lifecycle && phases.has(key)) return { name, part, key };
  return undefined;
}

/** Says that none of some columns is there, of which one is needed. */
export function missingColumn(...choices: string[]): FieldError {
  return {
    field: choices[0]!,
    code: 'missing_column',
    message: `a column ${choices.join(' or ')} is needed`,
  };
}

/**
 * The columns of a header, in its order; blanks around names don't count.
 * @param missing which needed columns are not among those there.
 * @throws EstateError `validation_failed` that names each column that is unknown, repeated or missing.
 */
export function readHeader(
  cells: readonly string[],
  vocabulary: Vocabulary,
  missing: (names: ReadonlySet<string>) => FieldError[],
): FileColumn[] {
  const names = new Set<string>();
  const repeated = new Set<string>();
  const faults: FieldError[] = [];
  const columns: FileColumn[] = [];
  for (const [n, cell] of cells.entries()) {
    const name = cell.trim();
    if (names.has(name)) {
      repeated.add(name);
      continue;
    }
    names.add(name);
    const column = findColumn(name, vocabulary);
    if (column) columns.push(column);
    else if (name === '') {
      faults.push({ field: `column ${n + 1}`, code: 'unknown_column', message: 'has no name in the header' });
    } else faults.push({ field: name, code: 'unknown_column', message: 'is no column of this kind of file' });
  }
  for (const name of repeated) {
    faults.push({ field: name, code: 'repeated_column', message: 'stands in the header more than once' });
  }
  faults.push(...missing(names));
  if (faults.length > 0) throw invalidFields(faults);
  return columns;
}

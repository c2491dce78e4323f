import type { FieldError } from '../../platform/errors.ts';
import type { CardType, Metamodel } from '../metamodel/metamodel.compile.ts';
import { guessColumns, guessType } from './mapping.guess.ts';
import { LEFT_OUT, TYPE_COLUMN, takesMany, targetsOf } from './mapping.targets.ts';
import type { SourceBlock, SourceColumn, SourceType } from './source.types.ts';

/** A mapping as it is saved: targets by column, by native type. */
export type FieldMappings = Record<string, Record<string, string>>;

/** A block with what it is mapped to. */
export interface MappedBlock {
  block: SourceBlock;
  /** Undefined: the block is left out, since nobody has said what it is. */
  type: CardType | undefined;
  /** Somebody has said that it shall be left out. */
  leftOut: boolean;
  /** Targets by column; what is to be left out is {@link LEFT_OUT}. */
  columns: ReadonlyMap<string, string>;
  /** Columns whose target was found by their name. */
  guessed: ReadonlySet<string>;
}

/** What all blocks are mapped to: as saved, and by the names of columns where nothing was. */
export function mapBlocks(
  metamodel: Metamodel,
  source: SourceType,
  blocks: readonly SourceBlock[],
  saved: FieldMappings | null,
): MappedBlock[] {
  const types = new Map<string, string>();
  for (const { native_type } of blocks) {
    const chosen = saved?.[native_type]?.[TYPE_COLUMN];
    const key = chosen ?? guessType(metamodel, native_type);
    if (key && metamodel.visibleTypes.includes(key)) types.set(native_type, key);
  }
  return blocks.map((block) => {
    const type = metamodel.cardTypes.get(types.get(block.native_type) ?? '');
    const columns = new Map<string, string>();
    const guessed = new Set<string>();
    const leftOut = saved?.[block.native_type]?.[TYPE_COLUMN] === LEFT_OUT;
    if (!type) return { block, type, leftOut, columns, guessed };
    const known = new Set(targetsOf(metamodel, type).map(({ key }) => key));
    for (const [column, target] of Object.entries(saved?.[block.native_type] ?? {})) {
      if (column !== TYPE_COLUMN && (target === LEFT_OUT || known.has(target))) columns.set(column, target);
    }
    const taken = new Set(columns.values());
    for (const [column, target] of guessColumns(metamodel, source, block, types)) {
      if (columns.has(column) || (taken.has(target) && !takesMany(target))) continue;
      columns.set(column, target);
      guessed.add(column);
    }
    return { block, type, leftOut, columns, guessed };
  });
}

/** Columns that carry values and that nobody has said anything about; the type of a row has told its block already. */
export function unmapped({ block, columns }: MappedBlock, source: SourceType): SourceColumn[] {
  return block.columns.filter(
    ({ key, values }) => values > 0 && !columns.has(key) && !(source === 'leanix' && key === 'type'),
  );
}

/** A mapping as it is to be saved, and what is wrong with it. Fields may be named without `attributes.`. */
export function checkMappings(
  metamodel: Metamodel,
  blocks: readonly SourceBlock[],
  given: FieldMappings,
  typeOf: (native: string) => CardType | undefined,
): { mappings: FieldMappings; faults: FieldError[] } {
  const faults: FieldError[] = [];
  const mappings: FieldMappings = {};
  const fault = (path: string[], code: string, message: string) =>
    faults.push({ field: ['field_mappings', ...path].join('.'), code, message });
  for (const [name, columns] of Object.entries(given)) {
    const block = blockNamed(blocks, name, typeOf);
    if (!block) {
      fault([name], 'unknown_type', 'is no kind of thing in the file');
      continue;
    }
    const checked: [string, string][] = [];
    const chosen = columns[TYPE_COLUMN];
    const leavesOut = chosen === LEFT_OUT;
    const type = chosen === undefined ? typeOf(block.native_type) : metamodel.cardTypes.get(chosen);
    if (chosen !== undefined && !leavesOut && !metamodel.visibleTypes.includes(chosen)) {
      fault([name, TYPE_COLUMN], 'unknown_type', 'is no card type');
    }
    const known = new Set(targetsOf(metamodel, type).map(({ key }) => key));
    const used = new Map<string, string>();
    for (const [column, target] of Object.entries(columns)) {
      if (column === TYPE_COLUMN) {
        checked.push([column, target]);
        continue;
      }
      const full = known.has(`attributes.${target}`) && !known.has(target) ? `attributes.${target}` : target;
      if (!block.columns.some(({ key }) => key === column)) {
        fault([name, column], 'unknown_column', 'is no column of it');
      } else if (full !== LEFT_OUT && (!known.has(full) || metamodel.cardTypes.has(full))) {
        fault(
          [name, column],
          'unknown_target',
          type ? `${type.key} has no such field` : 'name its card type first',
        );
      } else if (full !== LEFT_OUT && !takesMany(full) && used.has(full)) {
        fault([name, column], 'duplicate_target', `the column ${used.get(full)} is mapped to it as well`);
      } else {
        used.set(full, column);
        checked.push([column, full]);
      }
    }
    mappings[block.native_type] = Object.fromEntries([
      ...Object.entries(mappings[block.native_type] ?? {}),
      ...checked,
    ]);
  }
  return { mappings, faults };
}

/** The block of the name, or the only one that becomes cards of the type of that name. */
function blockNamed(
  blocks: readonly SourceBlock[],
  name: string,
  typeOf: (native: string) => CardType | undefined,
): SourceBlock | undefined {
  const named = blocks.find(({ native_type }) => native_type === name);
  if (named) return named;
  const targeted = blocks.filter(({ native_type }) => typeOf(native_type)?.key === name);
  return targeted.length === 1 ? targeted[0] : undefined;
}
